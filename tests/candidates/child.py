"""A child that speaks the process protocol, or breaks it in the way that its argument names. Standard library only."""

import json
import math
import mmap
import os
import struct
import sys
import time

MODE = sys.argv[1]
VARIANT = os.environ.get("WGRAD_VARIANT", "")


def read_exactly(count):
    data = b""
    while len(data) < count:
        piece = os.read(3, count - len(data))
        if not piece:
            sys.exit(0)
        data += piece
    return data


def write(data):
    while data:
        data = data[os.write(4, data):]


def frame(header, payload=b""):
    text = json.dumps(header).encode()
    return struct.pack("<I", len(text)) + text + payload


def read_request():
    request = json.loads(read_exactly(struct.unpack("<I", read_exactly(4))[0]))
    for tensor in request["tensors"]:
        if "shared_at" not in tensor:
            tensor["data"] = read_exactly(tensor["bytes"])
    return request


def result_entry(request, dtype="f32"):
    shape = request["arguments"]["filter_sizes"]
    count = 1
    for extent in shape:
        count *= extent
    return {"name": "filter_backprop", "dtype": dtype, "shape": shape, "bytes": 4 * count}


def result(request, value, **changes):
    """A result of which every element is `value`."""
    entry = result_entry(request)
    header = {"kind": "result", "id": request["id"], "tensors": [entry], **changes}
    return frame(header, struct.pack("<f", value) * (entry["bytes"] // 4))


def serve_lines():
    requests = os.fdopen(3)
    os.write(4, json.dumps({"kind": "greeting", "protocol": 1, "name": "lines"}).encode() + b"\n")
    for line in requests:
        request = json.loads(line)
        x, dy = (list(map(float, tensor["data"])) for tensor in request["tensors"])
        total = sum(a * b for a, b in zip(x, dy))
        element = total if math.isfinite(total) else str(total)
        if MODE == "lines_large":  # as JavaScript prints 2^60 and 1.5e20
            element = 1152921504606847000 if total == 0 else 150000000000000000000
        if MODE == "lines_text":
            element = "-0"
        if MODE == "lines_bits":
            element = "0x%08x" % struct.unpack("<I", struct.pack("<f", total))
        if MODE == "lines_null":
            element = None
        entry = {"name": "filter_backprop", "dtype": "f32", "shape": [1, 1, 1, 1], "data": [element]}
        write(json.dumps({"kind": "result", "id": request["id"], "tensors": [entry]}).encode() + b"\n")


def serve_shared():
    """Sums of a 1x1x1x1 filter through the shared file; the result goes back through it too."""
    write(frame({"kind": "greeting", "protocol": 1, "name": "shared", "shared_memory": True}))
    while True:
        request = read_request()
        x, dy = request["tensors"]
        assert x["shared_at"] % 64 == 0 and dy["shared_at"] % 64 == 0 and request["result_at"] % 64 == 0
        shared = mmap.mmap(5, 0)
        floats = [memoryview(shared)[t["shared_at"]:t["shared_at"] + t["bytes"]].cast("f") for t in (x, dy)]
        at = request["result_at"]
        if MODE != "shared_forgets":
            struct.pack_into("<f", shared, at, sum(a * b for a, b in zip(*floats)))
        entry = {**result_entry(request), "shared_at": 1 << 40 if MODE == "shared_beyond" else at}
        write(frame({"kind": "result", "id": request["id"], "tensors": [entry]}))


def serve():
    greeting = {"kind": "greeting", "protocol": 1, "name": "child"}
    if MODE == "variants":
        greeting.update({"variants": ["one", "two"], "version": VARIANT})
    if MODE in ("validates", "accepts"):
        greeting["validates"] = True
    if MODE == "restart":
        greeting["restart_after_error"] = True
    write(frame(greeting))
    calls = 0
    while True:
        request = read_request()
        calls += 1
        if MODE == "half_frame":
            write(result(request, 1)[:-2])
            os.close(4)
            time.sleep(60)
        if MODE == "half_frame_and_silence":
            write(result(request, 1)[:10])
            time.sleep(60)
        if MODE == "flood_answers":
            while True:
                write(b"spam" * 4096)
        if MODE == "flood_output":
            while True:
                print("spam" * 4096)
        if MODE == "wrong_id":
            write(result(request, 1, id=request["id"] + 7))
        elif MODE == "wrong_dtype":
            entry = result_entry(request, "f64")
            entry["bytes"] *= 2
            write(frame({"kind": "result", "id": request["id"], "tensors": [entry]}, bytes(entry["bytes"])))
        elif MODE == "restart":
            write(frame({"kind": "error", "id": request["id"], "error_kind": "ValueError",
                         "message": f"call {calls}", "detail": "line 1\nline 2"}))
        elif MODE == "validates":
            write(frame({"kind": "rejected", "id": request["id"], "error_kind": "InvalidArgument",
                         "message": json.dumps([request["arguments"], [t["dtype"] for t in request["tensors"]],
                                                "problem" in request])}))
        elif MODE == "accepts":
            entry = {"name": "filter_backprop", "dtype": "i32", "shape": [2], "bytes": 8}
            write(frame({"kind": "result", "id": request["id"], "tensors": [entry]}, bytes(8)))
        elif MODE == "dies":
            os.kill(os.getpid(), 11)
        elif MODE == "counts_calls":
            write(result(request, calls))
        elif MODE == "process_number":
            write(result(request, os.getpid()))
        elif MODE == "malloc_perturb":
            write(result(request, float(os.environ.get("MALLOC_PERTURB_", 0))))
        else:
            write(result(request, 1))


if MODE.startswith("lines"):
    serve_lines()
elif MODE.startswith("shared"):
    serve_shared()
else:
    serve()
