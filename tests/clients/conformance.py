"""Holds a program to docs/protocol.md from the other side: starts it as wgrad does, and looks at what it answers.

Usage: conformance.py [--behaviours WORDS | --start-error TEXT] COMMAND..

Without options, COMMAND is a candidate that computes: its results are compared with the plain formula, within what its
greeting says it can do. With --behaviours it is one that does as BEHAVIOURS says, WORDS being those it knows, with
commas between. With --start-error it is one that must fail to start, with TEXT in its reason.

Written against that page alone, with the standard library alone: it shares nothing with wgrad nor with the clients.
Exit status 0 where all checks passed and something was compared, else 1.
"""

import argparse
import array
import dataclasses
import fcntl
import json
import math
import os
import random
import signal
import struct
import sys
import threading
import time

SHARED_ELEMENTS = 1_000_000  # a request with a tensor of this many comes through shared memory
MOST_HEADER = 1 << 20
TIME_LIMIT = 120  # seconds for the whole conversation
EXIT_LIMIT = 10
ELEMENT_BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i32": 4}
TYPE_CODES = {"f32": "f", "f64": "d", "i32": "i"}

# What a program of behaviours does with a batch of as many images as the word's place in this list, counted from 1:
# the kind that must come of it, and further fields that must be there.
BEHAVIOURS = {
    "raise": ("error", ["error_kind", "detail"]),
    "unsupported": ("unsupported", []),
    "rejected": ("rejected", []),
    "wrong_dtype": ("error", []),
    "wrong_shape": ("error", []),
    "fail": ("error", []),
    "strange": ("error", []),
    "refuse": ("rejected", ["error_kind", "detail"]),  # raises on a call with wrong arguments
}


class ConformanceError(Exception):
    """The program did what the protocol does not allow."""


# ---------------------------------------------------------------------------------------------------------------------
# Numbers


def rounded(value, dtype):
    """The value of `dtype` nearest to the float64 `value`, ties to even."""
    if dtype == "f64" or math.isnan(value) or math.isinf(value) or value == 0:
        return value
    digits, least, largest = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "f32": (24, -126, 127)}[dtype]
    exponent = max(math.frexp(value)[1] - 1, least)
    unit = math.ldexp(1, exponent - digits + 1)
    nearest = round(value / unit) * unit
    return math.copysign(math.inf, value) if abs(nearest) >= math.ldexp(1, largest + 1) else nearest


def to_bytes(values, dtype):
    """`values` must be values of `dtype`."""
    if dtype == "f16":
        return struct.pack(f"<{len(values)}e", *values)
    if dtype == "bf16":
        return b"".join(struct.pack("<f", value)[2:] for value in values)
    return array.array(TYPE_CODES[dtype], values).tobytes()


def from_bytes(data, dtype):
    if dtype == "f16":
        return list(struct.unpack(f"<{len(data) // 2}e", data))
    if dtype == "bf16":
        return [struct.unpack("<f", b"\0\0" + data[at:at + 2])[0] for at in range(0, len(data), 2)]
    return array.array(TYPE_CODES[dtype], data).tolist()


def is_same(actual, expected):
    return actual == expected or (math.isnan(actual) and math.isnan(expected))


# ---------------------------------------------------------------------------------------------------------------------
# Problems


@dataclasses.dataclass
class Problem:
    batch: int = 1
    image: tuple = (4, 4)
    depth: int = 2
    filter: tuple = (3, 3)
    outputs: int = 2
    strides: tuple = (1, 1)
    dilations: tuple = (1, 1)
    groups: int = 1
    padding: str = "SAME"
    explicit: tuple = (0, 0, 0, 0)  # top, bottom, left, right
    data_format: str = "NHWC"
    dtype: str = "f32"
    result_dtype: str = ""

    def __post_init__(self):
        self.result_dtype = self.result_dtype or self.dtype

    def axis(self, i):
        """(output size, padding before, padding after) of the rows (0) or the columns (1)."""
        size, stride = self.image[i], self.strides[i]
        effective = (self.filter[i] - 1) * self.dilations[i] + 1
        if self.padding == "SAME":
            output = (size + stride - 1) // stride
            total = max(0, (output - 1) * stride + effective - size)
            return output, total // 2, total - total // 2
        before, after = self.explicit[2 * i:2 * i + 2] if self.padding == "EXPLICIT" else (0, 0)
        return int((size + before + after - effective + stride) / stride), before, after

    @property
    def dtype_name(self):
        return self.dtype if self.dtype == self.result_dtype else f"{self.dtype}_{self.result_dtype}"

    @property
    def text(self):
        (height, width), (kh, kw), (sh, sw), (dh, dw) = self.image, self.filter, self.strides, self.dilations
        padding = "pt{}b{}l{}r{}".format(*self.explicit) if self.padding == "EXPLICIT" else self.padding.lower()
        words = [f"n{self.batch}", f"i{height}x{width}", f"c{self.depth}", f"k{kh}x{kw}", f"o{self.outputs}"]
        words += [f"s{sh}x{sw}"] * (self.strides != (1, 1)) + [f"d{dh}x{dw}"] * (self.dilations != (1, 1))
        words += [f"g{self.groups}"] * (self.groups > 1) + [padding] + ["nchw"] * (self.data_format == "NCHW")
        return "_".join(words + [self.dtype_name])

    def shape(self, height, width, depth):
        sizes = {"N": self.batch, "H": height, "W": width, "C": depth}
        return [sizes[axis] for axis in self.data_format]

    @property
    def input_shape(self):
        return self.shape(*self.image, self.depth)

    @property
    def output_shape(self):
        return self.shape(self.axis(0)[0], self.axis(1)[0], self.outputs)

    @property
    def filter_sizes(self):
        return [*self.filter, self.depth // self.groups, self.outputs]

    def arguments(self):
        def spatial(rows, columns, other):
            return [{"H": rows, "W": columns}.get(axis, other) for axis in self.data_format]

        top, bottom, left, right = self.explicit
        pairs = spatial((top, bottom), (left, right), (0, 0)) if self.padding == "EXPLICIT" else []
        return {"filter_sizes": self.filter_sizes, "strides": spatial(*self.strides, 1), "padding": self.padding,
                "explicit_paddings": [number for pair in pairs for number in pair], "use_cudnn_on_gpu": True,
                "data_format": self.data_format, "dilations": spatial(*self.dilations, 1)}

    def header(self):
        (_, top, bottom), (_, left, right) = self.axis(0), self.axis(1)
        return {"problem": self.text, "dtype": self.dtype, "result_dtype": self.result_dtype,
                "arguments": self.arguments(),
                "derived": {"groups": self.groups, "pad_top": top, "pad_bottom": bottom, "pad_left": left,
                            "pad_right": right}}

    def is_within(self, greeting):
        """Whether the program says that it can do this."""
        def can(flag):
            return greeting.get(flag, True)

        def in_list(field, word):
            return field not in greeting or word in greeting[field]

        (_, top, bottom), (_, left, right) = self.axis(0), self.axis(1)
        tensors = [math.prod(shape) for shape in (self.input_shape, self.output_shape, self.filter_sizes)]
        work = math.prod(self.filter_sizes) * math.prod(self.output_shape) // max(1, self.outputs)
        strided, dilated = max(self.strides) > 1, max(self.dilations) > 1
        return (in_list("dtypes", self.dtype_name) and in_list("data_formats", self.data_format)
                and in_list("paddings", self.padding)
                and (can("asymmetric_padding") or (top == bottom and left == right))
                and (can("per_axis_strides") or self.strides[0] == self.strides[1])
                and (can("non_square") or (self.image[0] == self.image[1] and self.filter[0] == self.filter[1]))
                and (can("dilation") or not dilated) and (can("stride_with_dilation") or not (strided and dilated))
                and (can("groups") or self.groups == 1) and (can("zero_sizes") or min(tensors) > 0)
                and max(tensors) <= greeting.get("max_elements", math.inf)
                and work <= greeting.get("max_work", math.inf))


def index_steps(shape, data_format):
    """How far apart neighbours along n, h, w and c lie in a tensor."""
    steps = dict(zip(data_format, (math.prod(shape[axis + 1:]) for axis in range(4))))
    return [steps[axis] for axis in "NHWC"]


def filter_gradient(problem, x, dy):
    """The formula, in float64, as a flat list in the order kh, kw, ic, oc."""
    kh_count, kw_count, ic_count, oc_count = problem.filter_sizes
    (oh_count, top, _), (ow_count, left, _) = problem.axis(0), problem.axis(1)
    xn, xh, xw, xc = index_steps(problem.input_shape, problem.data_format)
    yn, yh, yw, yc = index_steps(problem.output_shape, problem.data_format)
    result = []
    for kh in range(kh_count):
        for kw in range(kw_count):
            for ic in range(ic_count):
                for oc in range(oc_count):
                    total = 0.0
                    c = oc // (oc_count // problem.groups) * ic_count + ic
                    for n in range(problem.batch):
                        for oh in range(oh_count):
                            ih = oh * problem.strides[0] + kh * problem.dilations[0] - top
                            if not 0 <= ih < problem.image[0]:
                                continue
                            for ow in range(ow_count):
                                iw = ow * problem.strides[1] + kw * problem.dilations[1] - left
                                if 0 <= iw < problem.image[1]:
                                    total += (x[n * xn + ih * xh + iw * xw + c * xc]
                                              * dy[n * yn + oh * yh + ow * yw + oc * yc])
                    result.append(total)
    return result


def in_layout(values, filter_sizes, layout):
    """A flat filter in the order hwio, and its sizes, in another order of axes."""
    steps = dict(zip("hwio", (math.prod(filter_sizes[axis + 1:]) for axis in range(4))))
    sizes = dict(zip("hwio", filter_sizes))
    offsets = [0]
    for axis in layout:
        offsets = [offset + i * steps[axis] for offset in offsets for i in range(sizes[axis])]
    return [values[offset] for offset in offsets] if values else [], [sizes[axis] for axis in layout]


# ---------------------------------------------------------------------------------------------------------------------
# The program


class Program:
    """The program under test, in a process group of its own, and the three descriptors between it and us."""

    def __init__(self, command):
        requests, answers = os.pipe(), os.pipe()
        self._memory = os.memfd_create("wgrad")
        # Above 9, so that none of them is overwritten before it has been copied to where it belongs.
        theirs = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
                  for descriptor in (requests[0], answers[1], self._memory)]
        actions = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, 2, 1)]
        actions += [(os.POSIX_SPAWN_DUP2, source, number) for number, source in enumerate(theirs, start=3)]
        environment = {name: value for name, value in os.environ.items() if name != "WGRAD_VARIANT"}
        self._pid = os.posix_spawnp(command[0], command, environment, file_actions=actions, setpgroup=0,
                                    setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])  # those that Python ignores
        for descriptor in (*theirs, requests[0], answers[1]):  # or the end of the answers would not be seen
            os.close(descriptor)
        self._requests, self._answers = requests[1], answers[0]
        self._size = 0
        self._watchdog = threading.Timer(TIME_LIMIT, self.kill)
        self._watchdog.daemon = True
        self._watchdog.start()

    def kill(self):
        try:
            os.killpg(self._pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def send(self, header, payload=b""):
        text = json.dumps(header).encode()
        pending = memoryview(struct.pack("<I", len(text)) + text + payload)
        while pending:
            pending = pending[os.write(self._requests, pending):]

    def receive(self):
        """The next frame: its header, and the bytes of its tensors one after another."""
        length = struct.unpack("<I", self._read(4))[0]
        if not 1 <= length <= MOST_HEADER:
            raise ConformanceError(f"a header of {length} bytes")
        header = json.loads(self._read(length))
        tensors = header.get("tensors", [])
        return header, b"".join(self._read(t["bytes"]) for t in tensors if "shared_at" not in t)

    def _read(self, count):
        pieces = []
        while count:
            piece = os.read(self._answers, min(count, 1 << 20))
            if not piece:
                raise ConformanceError("it closed its answers")
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    def share(self, tensors, room):
        """Puts `tensors` (lists of bytes) into the shared file, with `room` bytes behind them: where each begins."""
        offsets, end = [], 0
        for data in [*tensors, b""]:
            offsets.append(end)
            end += (len(data) + 63) // 64 * 64
        self._size = max(self._size, end + room)
        os.ftruncate(self._memory, self._size)
        for offset, data in zip(offsets, tensors):
            while data:
                written = os.pwrite(self._memory, data, offset)
                data, offset = data[written:], offset + written
        return offsets

    def read_shared(self, offset, count):
        return os.pread(self._memory, count, offset)

    def finish(self):
        """Ends the requests: the exit status; None where the program does not exit by itself."""
        os.close(self._requests)
        try:
            for _ in range(EXIT_LIMIT * 100):
                pid, status = os.waitpid(self._pid, os.WNOHANG)
                if pid:
                    return os.waitstatus_to_exitcode(status)
                time.sleep(0.01)
            self.kill()
            os.waitpid(self._pid, 0)
            return None
        finally:
            self._watchdog.cancel()


# ---------------------------------------------------------------------------------------------------------------------
# The checks


class Report:
    """Counts checks, and prints those that failed."""

    def __init__(self):
        self.passed = self.failed = self.compared = 0

    def check(self, what, holds, found=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {what}" + (f": {found}" if found else ""))


class Conversation:
    """Sends requests, and checks what is the same for every answer."""

    def __init__(self, program, report):
        self._program, self._report = program, report
        self._id = 0
        header, _ = program.receive()
        report.check("greeting", header.get("kind") == "greeting" and header.get("protocol") == 1, header)
        self.greeting = header

    def ask(self, fields, tensors, result_room=0, operation="filter_gradient"):
        """`tensors` are triples (dtype, shape, values) of input and out_backprop. The answer and its bytes."""
        self._id += 3
        header = {"kind": "request", "operation": operation, "id": self._id, **fields}
        data = [to_bytes(values, dtype) for dtype, _, values in tensors]
        header["tensors"] = [{"name": name, "dtype": dtype, "shape": shape, "bytes": len(data_of_it)}
                             for name, (dtype, shape, _), data_of_it in zip(("input", "out_backprop"), tensors, data)]
        elements = [len(values) for _, _, values in tensors]
        if self.greeting.get("shared_memory", False) and max(elements) >= SHARED_ELEMENTS:
            *offsets, header["result_at"] = self._program.share(data, result_room)
            for entry, offset in zip(header["tensors"], offsets):
                entry["shared_at"] = offset
            data = []
        self._program.send(header, b"".join(data))
        answer, payload = self._program.receive()
        self._report.check("id", answer.get("id") == self._id, answer)
        entry = answer.get("tensors", [{}])[0]
        if "shared_at" in entry:
            self._report.check("result_at", entry["shared_at"] == header.get("result_at"), answer)
            payload = self._program.read_shared(entry["shared_at"], entry["bytes"])
        return answer, payload

    def compare(self, problem, x, dy):
        """Compares the result for inputs of which the formula's sum is exact in float64."""
        dtype, what = problem.result_dtype, problem.text
        tensors = [(problem.dtype, problem.input_shape, x), (problem.dtype, problem.output_shape, dy)]
        room = math.prod(problem.filter_sizes) * ELEMENT_BYTES[dtype]
        answer, payload = self.ask(problem.header(), tensors, room)
        if answer["kind"] != "result":
            self._report.check(what, False, answer)
            return
        values = [rounded(value, dtype) for value in filter_gradient(problem, x, dy)]
        expected, shape = in_layout(values, problem.filter_sizes, self.greeting.get("result_layout", "hwio"))
        entry = {"name": "filter_backprop", "dtype": dtype, "shape": shape, "bytes": room}
        found = [{key: value for key, value in t.items() if key != "shared_at"} for t in answer["tensors"]]
        self._report.check(f"{what}, the result's entry", found == [entry], answer)
        if found != [entry]:
            return
        actual = from_bytes(payload, dtype)
        wrong = [at for at in range(len(expected)) if not is_same(actual[at], expected[at])]
        self._report.compared += len(expected)
        self._report.check(what, not wrong, f"{len(wrong)} elements, the first {wrong[:1]}: "
                           f"{[actual[at] for at in wrong[:1]]} instead of {[expected[at] for at in wrong[:1]]}")


def small_problems():
    """One for every part of the formula."""
    yield Problem()
    yield Problem(batch=2, image=(5, 7), depth=6, filter=(3, 2), outputs=4, strides=(2, 1), groups=2)
    yield Problem(image=(4, 5), depth=4, filter=(3, 3), outputs=8, groups=4, padding="VALID")
    yield Problem(image=(7, 6), filter=(2, 3), dilations=(2, 1), padding="VALID")
    yield Problem(image=(7, 7), filter=(3, 3), strides=(2, 2), dilations=(2, 2), padding="SAME")
    yield Problem(image=(4, 3), filter=(2, 2), padding="EXPLICIT", explicit=(1, 2, 3, 0))
    yield Problem(image=(3, 3), filter=(2, 2), strides=(1, 2), padding="EXPLICIT", explicit=(4, 0, 0, 5))
    yield Problem(image=(5, 5), filter=(1, 1), strides=(3, 3), padding="VALID")
    yield Problem(batch=0)
    yield Problem(image=(2, 2), filter=(3, 3), padding="VALID")  # no output
    yield Problem(filter=(0, 3))
    yield Problem(outputs=0)


def large_problems():
    """Each needs more shared memory than the one before."""
    yield Problem(image=(1000, 1), depth=1000, filter=(1, 1), outputs=50, strides=(1000, 1000), padding="VALID")
    yield Problem(image=(1250, 1000), depth=1, filter=(2, 2), outputs=3, strides=(100, 100), padding="VALID")
    yield Problem(image=(1000, 1000), depth=2, filter=(1, 1), outputs=1, strides=(500, 500), padding="VALID",
                  dtype="f64")


def dtype_pairs():
    return [("f16", "f16"), ("bf16", "bf16"), ("f32", "f32"), ("f64", "f64"), ("f16", "f32"), ("bf16", "f32")]


def integers(random_numbers, problem):
    """Inputs whose sums every dtype holds exactly, so that no order of summation and no accumulator matters."""
    return (random_numbers.choices((-2, -1, 0, 1, 2), k=math.prod(problem.input_shape)),
            random_numbers.choices((-1, 0, 1), k=math.prod(problem.output_shape)))


def fractions(random_numbers, problem):
    """Inputs whose sums float64 holds exactly, and narrower dtypes do not."""
    def some(shape):
        return [random_numbers.randint(-128, 128) / 32 for _ in range(math.prod(shape))]

    return some(problem.input_shape), some(problem.output_shape)


def check_formula(conversation):
    random_numbers = random.Random(1)
    for dtype, result_dtype in dtype_pairs():
        for data_format in ("NHWC", "NCHW"):
            for small in small_problems():
                problem = dataclasses.replace(small, dtype=dtype, result_dtype=result_dtype, data_format=data_format)
                if problem.is_within(conversation.greeting):
                    conversation.compare(problem, *integers(random_numbers, problem))


def check_rounding(conversation):
    """For those who say that they sum in float64 and round once."""
    random_numbers = random.Random(2)
    for dtype, result_dtype in dtype_pairs():
        problem = Problem(batch=2, dtype=dtype, result_dtype=result_dtype)
        declared = conversation.greeting.get("accuracy_class", {}).get(problem.dtype_name, "")
        if not declared.startswith("wide:f64") or not problem.is_within(conversation.greeting):
            continue
        conversation.compare(problem, *fractions(random_numbers, problem))
        # Just above the middle between 1 and its neighbour: a tie once it has been rounded to float32.
        half = 2.0 ** (-8 if result_dtype == "bf16" else -11)
        one_tap = dataclasses.replace(problem, batch=3, image=(1, 1), depth=1, filter=(1, 1), outputs=1)
        conversation.compare(one_tap, [1.0, half, 2.0 ** -15], [1.0, 1.0, 2.0 ** -15])
        conversation.compare(one_tap, [1.0, half, 0.0], [1.0, 1.0, 0.0])  # a tie
        conversation.compare(one_tap, [-1.0, -half, 2.0 ** -15], [1.0, 1.0, 2.0 ** -15])
        largest = 65504.0 if dtype == "f16" else 2.0 ** 127
        conversation.compare(one_tap, [largest, largest, 0.0], [1.0, 1.0, 1.0])  # beyond f16 and bf16, not float64
        conversation.compare(one_tap, [2.0 ** -12, 2.0 ** -14, 0.0], [2.0 ** -12, 2.0 ** -12, 0.0])  # subnormal in f16
        conversation.compare(one_tap, [math.nan, 1.0, math.inf], [1.0, 1.0, 1.0])


def check_padding_is_skipped(conversation):
    problem = Problem(depth=1, outputs=1)
    if conversation.greeting.get("pad") == "skip" and problem.is_within(conversation.greeting):
        conversation.compare(problem, [1.0] * 16, [math.inf, *[1.0] * 14, math.inf])


def check_large_tensors(conversation):
    random_numbers = random.Random(3)
    for problem in large_problems():
        if problem.is_within(conversation.greeting):
            conversation.compare(problem, *integers(random_numbers, problem))
    conversation.compare(*first_problem(conversation.greeting))  # back to the pipe


def first_problem(greeting):
    """The first small problem that the program can do, with inputs."""
    for dtype, result_dtype in dtype_pairs():
        for data_format in ("NHWC", "NCHW"):
            for small in small_problems():
                problem = dataclasses.replace(small, dtype=dtype, result_dtype=result_dtype, data_format=data_format)
                if problem.is_within(greeting):
                    return problem, *integers(random.Random(4), problem)
    raise ConformanceError("it can do none of the problems")


def wrong_requests():
    """Requests of calls with wrong arguments, as (fields, tensors)."""
    right = Problem()
    image, gradient = ("f32", right.input_shape, [0.0] * 32), ("f32", right.output_shape, [0.0] * 32)

    def with_arguments(**changes):
        return {"arguments": {**right.arguments(), **changes}}

    yield with_arguments(strides=[1, 1, 1]), [image, gradient]
    yield with_arguments(filter_sizes=4), [image, gradient]
    yield with_arguments(filter_sizes=[[3, 3], [2, 2]]), [image, gradient]
    yield with_arguments(padding=[[0, 0], [1, 2], [2, 1], [0, 0]]), [image, gradient]
    yield with_arguments(padding="same \u00e4\"\\\n", data_format=""), [image, gradient]
    yield with_arguments(strides=[1, 2 ** 62, -(2 ** 63), 1]), [image, gradient]
    yield with_arguments(), [("i32", [32], list(range(32))), gradient]
    yield with_arguments(), [image, ("f64", [], [1.0])]
    yield with_arguments(), [("f16", [0] * 5, []), ("bf16", [1] * 70, [1.0])]


def check_wrong_arguments(conversation, report, kinds, fields):
    for request, tensors in wrong_requests():
        answer, _ = conversation.ask(request, tensors)
        report.check(f"wrong arguments {request['arguments']}",
                     answer["kind"] in kinds and answer.get("message") and
                     (answer["kind"] == "unsupported" or all(answer.get(field) for field in fields)), answer)


def check_candidate(conversation, report):
    check_formula(conversation)
    check_rounding(conversation)
    check_padding_is_skipped(conversation)
    # Also sent to who does not ask for them: what can be read must be answered.
    check_wrong_arguments(conversation, report, ("rejected", "unsupported", "error"), [])
    problem, x, dy = first_problem(conversation.greeting)
    tensors = [(problem.dtype, problem.input_shape, x), (problem.dtype, problem.output_shape, dy)]
    answer, _ = conversation.ask(problem.header(), tensors, operation="input_gradient")
    report.check("an unknown operation", answer["kind"] == "unsupported" and answer.get("message"), answer)
    check_large_tensors(conversation)


def check_behaviours(conversation, report, words):
    for batch, (word, (kind, fields)) in enumerate(BEHAVIOURS.items(), start=1):
        if word not in words:
            continue
        if word == "refuse":
            check_wrong_arguments(conversation, report, ("rejected", "unsupported"), fields)
            continue
        problem = Problem(batch=batch)
        x, dy = integers(random.Random(batch), problem)
        tensors = [("f32", problem.input_shape, x), ("f32", problem.output_shape, dy)]
        answer, _ = conversation.ask(problem.header(), tensors)
        report.check(word, answer["kind"] == kind and all(answer.get(field) for field in ["message", *fields]), answer)
        report.compared += 1
    unknown = set(words) - set(BEHAVIOURS)
    report.check("words of --behaviours", not unknown, unknown)


def check_start_error(program, report, text):
    header, _ = program.receive()
    report.check("start error", header.get("kind") == "error" and text in header.get("message", ""), header)
    report.compared += 1


def converse(program, report, options):
    try:
        if options.start_error:
            check_start_error(program, report, options.start_error)
        elif options.behaviours:
            check_behaviours(Conversation(program, report), report, options.behaviours)
        else:
            check_candidate(Conversation(program, report), report)
    except (ConformanceError, OSError, ValueError, LookupError) as error:
        report.check("the conversation", False, f"{type(error).__name__}: {error}")
        program.kill()
    status = program.finish()
    report.check("exit status", status is not None and (status != 0 if options.start_error else status == 0), status)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--behaviours", type=lambda words: words.split(","))
    parser.add_argument("--start-error")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    report = Report()
    try:
        converse(Program(options.command), report, options)
    except OSError as error:
        report.check("start", False, error)
    report.check("something was compared", report.compared > 0)
    print(f"{report.passed + report.failed} checks, {report.passed} passed, {report.failed} failed; "
          f"{report.compared} results compared")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
