"""The TensorFlow adapter against what TensorFlow answered elsewhere (tests/data/tensorflow): does it ask the same?

Every call is sent as it was recorded, by the process protocol, to each variant. On exact data the results must have the
recorded bits; refused calls must be refused. What a route answers to calls that break the operator's rules may depend on
what the memory held, so there only refusals that every route agreed on are compared.

Run by: wgrad python --of tensorflow tests/adapters/tensorflow_goldens.py
"""

import base64
import json
import os
import pathlib
import struct
import subprocess
import sys

import ml_dtypes
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data" / "tensorflow"
ADAPTER = HERE.parent.parent / "candidates" / "tensorflow" / "adapter.py"
DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
ONEDNN = {"cpu": "0", "onednn": "1", "xla": "0"}
MOST_FAULTS = 10  # then something is wrong with the whole set-up
XLA_SHARE = 10  # of the exact calls XLA, which compiles each one, is asked one in so many


def small_integers(seed, shape, dtype):
    """The recorded data {"small": seed}: -2 to 2, by SplitMix64 over the element's index."""
    index = np.arange(1, int(np.prod(shape, dtype=object)) + 1, dtype=np.uint64)
    z = np.uint64(seed) + index * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return ((z >> np.uint64(33)) % np.uint64(5)).astype(np.int64).__sub__(2).astype(dtype).reshape(shape)


class Adapter:
    """The adapter as one variant, asked by frames; started again after each death."""

    def __init__(self, variant):
        self.variant = variant
        self.process = None

    def start(self):
        answers, child_answers = os.pipe()
        child_requests, requests = os.pipe()
        shared = os.memfd_create("shared", 0)  # never used, since every call here is small
        environment = dict(os.environ, WGRAD_VARIANT=self.variant, TF_ENABLE_ONEDNN_OPTS=ONEDNN[self.variant])

        def descriptors():
            os.dup2(child_requests, 33)
            os.dup2(child_answers, 34)
            os.dup2(shared, 35)
            for number in (3, 4, 5):
                os.dup2(30 + number, number)

        self.process = subprocess.Popen([sys.executable, str(ADAPTER)], env=environment, preexec_fn=descriptors,
                                        close_fds=False, stdout=subprocess.DEVNULL)
        for descriptor in (child_answers, child_requests, shared):
            os.close(descriptor)
        self.answers, self.requests = os.fdopen(answers, "rb"), os.fdopen(requests, "wb")
        self.greeting = self.receive()[0]

    def receive(self):
        head = self.answers.read(4)
        if len(head) < 4:
            raise EOFError
        header = json.loads(self.answers.read(struct.unpack("<I", head)[0]))
        return header, [self.answers.read(tensor["bytes"]) for tensor in header.get("tensors", [])]

    def ask(self, call):
        """(kind, bytes of the result or None) for a recorded call."""
        if self.process is None:
            self.start()
        dtype = call["dtype"]
        tensors, payload = [], b""
        for name, tag in (("input", dtype), ("out_backprop", call.get("out_backprop_dtype", dtype))):
            data = small_integers(call[name]["small"], call[name + "_shape"], DTYPES[tag]).tobytes()
            tensors.append({"name": name, "dtype": tag, "shape": call[name + "_shape"], "bytes": len(data)})
            payload += data
        arguments = {"explicit_paddings": [], "use_cudnn_on_gpu": True, "data_format": "NHWC", "dilations": [1] * 4}
        arguments.update({key: call[key] for key in ("filter_sizes", "strides", "padding", *arguments) if key in call})
        text = json.dumps({"kind": "request", "operation": "filter_gradient", "id": 1, "arguments": arguments,
                           "tensors": tensors}).encode()
        try:
            self.requests.write(struct.pack("<I", len(text)) + text + payload)
            self.requests.flush()
            header, results = self.receive()
        except (EOFError, BrokenPipeError):
            self.process.wait()
            self.process = None
            return "died", None
        return header["kind"], results[0] if results else None


def read(name):
    with open(DATA / name, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def has_small_data(call):
    return all(isinstance(call[name], dict) and "small" in call[name] for name in ("input", "out_backprop"))


def compare_exact(adapter, calls):
    """Faults, and how many results were compared."""
    faults, compared = [], 0
    for call in calls:
        # Which dtypes oneDNN takes depends on the processor.
        if adapter.variant not in call["agree"] or call["dtype"] not in adapter.greeting["dtypes"]:
            continue
        kind, result = adapter.ask(call)
        compared += 1
        if kind != "result" or result != base64.b64decode(call["result"]):
            faults.append(f"{adapter.variant} {call['id']}: {kind}, with other bits than recorded")
        if len(faults) >= MOST_FAULTS:
            break
    return faults, compared


def compare_refusals(adapter, calls):
    faults, compared = [], 0
    for call in calls:
        if not all("error" in answer for answer in call["results"].values()) or not has_small_data(call):
            continue
        if call.get("entry", "raw") != "raw" or "filter_sizes_dtype" in call:
            continue
        kind, _ = adapter.ask(call)
        compared += 1
        if kind != "rejected":
            faults.append(f"{adapter.variant} {call['id']}: {kind}, recorded was an error")
    return faults, compared


def main():
    exact, arguments = read("exact.jsonl"), read("arguments.jsonl")
    all_faults, total = [], 0
    for variant in ONEDNN:
        adapter = Adapter(variant)
        adapter.start()
        step = XLA_SHARE if variant == "xla" else 1
        faults, compared = compare_exact(adapter, exact[::step])
        more_faults, refused = compare_refusals(adapter, arguments)
        print(f"tensorflow:{variant}: {compared} results and {refused} refusals as recorded elsewhere, "
              f"{len(faults) + len(more_faults)} differ", flush=True)
        all_faults += faults + more_faults
        total += compared
    for fault in all_faults[:20]:
        print("  " + fault)
    return 1 if all_faults or total < 600 else 0


if __name__ == "__main__":
    sys.exit(main())
