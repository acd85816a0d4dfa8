"""Lets wgrad judge a weight gradient that is written in Python. Copy this one file; it needs numpy and nothing else.

    import numpy as np
    import wgrad_candidate as wgrad

    @wgrad.candidate(name="mine", version="1", dtypes=["f32"], groups=False)
    def filter_gradient(call):
        ...                            # call.input, call.out_backprop, call.strides, call.pads, ..: see Call
        return result                  # a numpy array of shape call.filter_sizes and dtype call.result_dtype

    filter_gradient.serve()

Then `wgrad check 'cmd:python3 mine.py'` starts the program and sends it problems. What cannot be done is said by
raising Unsupported or Rejected; any other exception is reported with its traceback, and the next problem comes.
docs/protocol.md of wgrad describes what goes over the wire, and every field of the greeting.

bfloat16 tensors are arrays of ml_dtypes.bfloat16 where that package is installed, else arrays of uint16 that hold the
bits. to_float32, to_float64, from_float32 and from_float64 work for both.
"""

from __future__ import annotations

import functools
import inspect
import json
import mmap
import os
import stat
import struct
import sys
import traceback

__all__ = ["Call", "Candidate", "Rejected", "Unsupported", "candidate", "from_float32", "from_float64", "start_error",
           "to_float32", "to_float64", "variant"]

_REQUESTS, _ANSWERS, _SHARED = 3, 4, 5  # the descriptors that wgrad hands to the programs it starts
_MOST_MESSAGE, _MOST_DETAIL = 10_000, 100_000  # characters; a header has at most 2^20 bytes, and a character up to six


def _is_connected():
    """Whether wgrad started this program: descriptors 3 and 4 are pipes."""
    try:
        return all(stat.S_ISFIFO(os.fstat(descriptor).st_mode) for descriptor in (_REQUESTS, _ANSWERS))
    except OSError:
        return False


def _write(header, *payloads):
    """Sends one frame. A `payload` is a flat array of bytes."""
    text = json.dumps(header).encode()
    pending = [memoryview(struct.pack("<I", len(text)) + text), *map(memoryview, payloads)]
    while pending:
        written = os.writev(_ANSWERS, pending)
        while pending and written >= len(pending[0]):
            written -= len(pending.pop(0))
        if pending:
            pending[0] = pending[0][written:]


def _printable(text):
    """`text` as JSON may carry it: without halves of surrogate pairs."""
    return text.encode("utf-8", "replace").decode()


def _send_start_error(message):
    _write({"kind": "error", "message": _printable(message)[:_MOST_MESSAGE]})


def start_error(message):
    """Says why this program cannot start, e.g. "libfoo.so is not installed", and exits. For use before serve()."""
    if _is_connected():
        _send_start_error(message)
    sys.exit(message)  # prints it, and exits with 1


def _report_uncaught(kind, error, trace):
    """What ends the program before its greeting is why it cannot start, such as an import that fails."""
    sys.__excepthook__(kind, error, trace)
    _send_start_error(f"{kind.__name__}: {error}")


if _is_connected():
    sys.excepthook = _report_uncaught

try:
    import numpy as np
except ImportError as _error:
    if _is_connected():
        start_error(f"numpy cannot be imported by {sys.executable}: {_error}")
    raise

try:
    from ml_dtypes import bfloat16 as _BFLOAT16
except ImportError:
    _BFLOAT16 = np.uint16

_NUMPY_DTYPES = {"f16": np.dtype(np.float16), "bf16": np.dtype(_BFLOAT16), "f32": np.dtype(np.float32),
                 "f64": np.dtype(np.float64), "i32": np.dtype(np.int32)}
_QUIETLY = functools.partial(np.errstate, all="ignore")  # an infinity or NaN is a value here, not a reason to warn
_NAMES = {dtype: name for name, dtype in _NUMPY_DTYPES.items()}
_NAMES[np.dtype(np.uint16)] = "bf16"  # bits are as good as ml_dtypes' own


class Unsupported(Exception):
    """A valid call that this candidate does not do, or a wrong one that it cannot even be asked."""


class Rejected(Exception):
    """The arguments are wrong. `kind` is a word for the sort of error, such as TensorFlow's names of status codes."""

    def __init__(self, message, kind="InvalidArgument"):
        super().__init__(message)
        self.kind = kind


class _Misuse(Exception):
    """What a candidate did that its interface does not allow. An `error` even where the arguments were wrong."""


def variant():
    """The variant to be, one of the greeting's `variants`; "" where there are none, or wgrad is asking for them."""
    return os.environ.get("WGRAD_VARIANT", "")


def to_float64(array):
    """A tensor of any dtype as float64, exactly. Arrays of uint16 are bits of bfloat16."""
    if array.dtype == np.uint16:
        array = to_float32(array)
    with _QUIETLY():
        return array.astype(np.float64)


def to_float32(array):
    """As to_float64; exact except for float64 tensors, which are rounded."""
    if array.dtype == np.uint16:
        return np.left_shift(array, 16, dtype=np.uint32).view(np.float32)
    with _QUIETLY():
        return array.astype(np.float32)


def from_float32(array, dtype):
    """float32 values as a tensor of `dtype` (f16, bf16, f32 or f64), rounded to nearest, ties to even."""
    array = np.asarray(array, np.float32)
    if dtype != "bf16":
        with _QUIETLY():
            return array.astype(_NUMPY_DTYPES[dtype])
    bits = array.view(np.uint32)
    rounded = (bits + (0x7FFF + ((bits >> 16) & 1))) >> 16
    quiet_nan = (bits >> 16) | 0x0040  # whose payload may lie in the half that goes
    return np.where(np.isnan(array), quiet_nan, rounded).astype(np.uint16).view(_BFLOAT16)


def from_float64(array, dtype):
    """float64 values as a tensor of `dtype` (f16, bf16, f32 or f64), rounded once to nearest, ties to even."""
    array = np.asarray(array, np.float64)
    with _QUIETLY():
        if dtype != "bf16":
            return array.astype(_NUMPY_DTYPES[dtype])
        return from_float32(_rounded_to_odd(array), dtype)


def _rounded_to_odd(array):
    """float64 as float32, where an inexact value takes its neighbour with an odd last bit. So the value never becomes
    a tie between two bfloat16 that it was not, and rounding it again gives what rounding once would."""
    nearest = array.astype(np.float32)
    bits = nearest.view(np.uint32)
    too_far = np.abs(nearest) > np.abs(array)
    odd = (bits - too_far.astype(np.uint32)) | 1
    exact = (nearest == array) | np.isnan(array)
    return np.where(exact, bits, odd).astype(np.uint32).view(np.float32)


class Call:
    """One call of the operator. Its arrays may lie in memory shared with wgrad: they are the candidate's until it
    returns, and must be copied to be kept.

    Axes: n batch, ih and iw the image, c the input's channels, oh and ow the output, kh and kw the filter, ic the
    channels of one group (c / groups), oc the output channels.

    input            NHWC [n, ih, iw, c], NCHW [n, c, ih, iw]
    out_backprop     NHWC [n, oh, ow, oc], NCHW [n, oc, oh, ow]
    input_dtype, out_backprop_dtype   their dtypes: "f16", "bf16", "f32" or "f64"; "i32" only among wrong arguments
    arguments        the arguments by TensorFlow's names, as they came: a dict
    is_valid         whether they are right. If not (only a candidate with `validates` is sent such), only the fields
                     above exist, and nothing in them can be relied upon

    The result is an array of result_dtype in the shape (kh, kw, ic, oc), or in the order of the greeting's
    result_layout.

    dtype, result_dtype   of input and out_backprop, and of the result: the same, or "f32" beside "f16" and "bf16"
    filter_sizes     (kh, kw, ic, oc)
    strides, dilations    (rows, columns)
    pads             ((top, bottom), (left, right)): the padding to use, whatever word says it
    padding          "SAME", "VALID" or "EXPLICIT": how the caller put it
    explicit_paddings     with EXPLICIT eight numbers, (before, after) for each axis in data_format's order; else []
    data_format      "NHWC" or "NCHW"
    groups           blocks of channels: with g = oc // (all output channels // groups), output channel oc reads the
                     input channels g * ic to (g + 1) * ic - 1
    problem          all of it as one line of text
    """

    def __init__(self, header, tensors):
        self.input, self.out_backprop = tensors["input"], tensors["out_backprop"]
        dtypes = {entry["name"]: entry["dtype"] for entry in header["tensors"]}
        self.input_dtype, self.out_backprop_dtype = dtypes["input"], dtypes["out_backprop"]
        self.arguments = arguments = header["arguments"]
        self.is_valid = "derived" in header
        if not self.is_valid:
            return
        self.problem = header["problem"]
        self.dtype, self.result_dtype = header["dtype"], header["result_dtype"]
        self.filter_sizes = tuple(arguments["filter_sizes"])
        self.data_format = arguments["data_format"]
        rows = self.data_format.index("H")
        self.strides = tuple(arguments["strides"][rows:rows + 2])
        self.dilations = tuple(arguments["dilations"][rows:rows + 2])
        self.padding = arguments["padding"]
        self.explicit_paddings = arguments["explicit_paddings"]
        derived = header["derived"]
        self.pads = ((derived["pad_top"], derived["pad_bottom"]), (derived["pad_left"], derived["pad_right"]))
        self.groups = derived["groups"]

    def __getattr__(self, name):
        if name.startswith("_") or self.is_valid:
            raise AttributeError(f"a call has no {name}")
        # An AttributeError would count as a refusal, though nobody has looked at what is wrong.
        raise _Misuse(f"a call with wrong arguments has no {name}, see is_valid")


class Candidate:
    """A weight gradient with its greeting; made by `candidate`. Can be called like the function it was made of."""

    def __init__(self, filter_gradient, greeting):
        functools.update_wrapper(self, filter_gradient)
        self._filter_gradient = filter_gradient
        self._greeting = greeting
        self._map = None

    def __call__(self, call):
        return self._filter_gradient(call)

    def serve(self):
        """Answers wgrad's requests until there are no more, then exits. Does not return."""
        if not _is_connected():
            sys.exit(f"this program is started by wgrad: wgrad check 'cmd:python3 {sys.argv[0]}'")
        for descriptor in (_REQUESTS, _ANSWERS, _SHARED):
            os.set_inheritable(descriptor, False)  # a child that outlives this program must not keep them open
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(line_buffering=True)  # so that the last lines are not lost if the process dies
        self._fields = self._greeting()
        try:
            _write({"kind": "greeting", "protocol": 1, "shared_memory": True, **self._fields})
            sys.excepthook = sys.__excepthook__
            while self._serve_one():
                pass
        except BrokenPipeError:
            pass  # wgrad is gone, and with it whoever would read a complaint
        sys.exit(0)

    def _serve_one(self):
        """False at the end of the requests. A function of its own, so that a call's memory is free before the next."""
        header = _read_header()
        if header is None:
            return False
        tensors = {entry["name"]: self._tensor_bytes(entry) for entry in header.get("tensors", [])}
        answer, payload = self._answer(header, tensors)
        answer["id"] = header["id"]
        _write(answer, *payload)
        return True

    def _answer(self, header, tensors):
        """The answer's header and a list of the bytes that follow it."""
        try:
            if header["operation"] != "filter_gradient":
                raise Unsupported(f"operation {header['operation']}")
            arrays = {entry["name"]: _as_array(tensors[entry["name"]], entry) for entry in header["tensors"]}
            call = Call(header, arrays)
            return self._result(header, call, self._filter_gradient(call))
        except Unsupported as error:
            return _failure("unsupported", error), []
        except Rejected as error:
            return _failure("rejected", error, error_kind=error.kind), []
        except _Misuse as error:
            return _failure("error", error), []
        except Exception as error:  # whatever a candidate may raise; sys.exit() and Ctrl-C still end the program
            kind = "error" if "derived" in header else "rejected"
            steps = error.__traceback__.tb_next or error.__traceback__  # without the step through this file
            detail = "".join(traceback.format_exception(type(error), error, steps))
            return _failure(kind, error, error_kind=type(error).__name__, detail=_printable(detail)[-_MOST_DETAIL:]), []

    def _result(self, header, call, result):
        """The answer with `result`, after a look at its dtype and shape. Nothing is cast: it would hide a mistake."""
        result = np.asarray(result)
        dtype = _NAMES.get(result.dtype)
        actual = f"{dtype or result.dtype} of shape {list(result.shape)}"
        if dtype is None:
            raise _Misuse(f"the result is {actual}, which is no tensor of wgrad's")
        if call.is_valid:
            due_shape = self._due_shape(call.filter_sizes)
            if (dtype, result.shape) != (call.result_dtype, due_shape):
                raise _Misuse(f"the result is {actual}, but {call.result_dtype} of shape {list(due_shape)} is due")
        flat = np.ascontiguousarray(result).reshape(-1).view(np.uint8)
        entry = {"name": "filter_backprop", "dtype": dtype, "shape": list(result.shape), "bytes": flat.size}
        answer = {"kind": "result", "tensors": [entry]}
        if not (call.is_valid and "result_at" in header):
            return answer, [flat]
        entry["shared_at"] = header["result_at"]
        self._shared(header["result_at"], flat.size)[:] = flat
        return answer, []

    def _due_shape(self, filter_sizes):
        sizes = dict(zip("hwio", filter_sizes))
        return tuple(sizes[axis] for axis in self._fields.get("result_layout", "hwio"))

    def _tensor_bytes(self, entry):
        if "shared_at" in entry:
            return self._shared(entry["shared_at"], entry["bytes"])
        buffer = np.empty(entry["bytes"], np.uint8)
        if _read_into(buffer) < buffer.size:
            raise EOFError("the request ends in its middle")
        return buffer

    def _shared(self, offset, count):
        """`count` bytes of descriptor 5 as an array. It keeps the map that it lies in alive."""
        if count == 0:
            return np.empty(0, np.uint8)  # an empty file has no map
        if self._map is None or offset + count > len(self._map):
            self._map = mmap.mmap(_SHARED, 0)
        return np.frombuffer(self._map, np.uint8, count, offset)


def candidate(greeting=None, **fields):
    """Makes a Candidate of the function below it: `@candidate(name="mine", dtypes=["f32"], ..)`.

    The keywords are the fields of the greeting, by the names of docs/protocol.md. `greeting` is a function that returns
    more of them as a dict. It is called by serve(), once all is imported, and may look at variant(); if it raises, that
    is reported as the reason why the program cannot start.
    """
    if greeting is not None and inspect.signature(greeting).parameters:
        raise TypeError("write @wgrad.candidate(), with parentheses; or a greeting function without parameters")

    def all_fields():
        return {**(greeting() if greeting else {}), **fields}

    return lambda filter_gradient: Candidate(filter_gradient, all_fields)


def _read_into(buffer):
    """Fills a flat array of bytes from the requests. How many there were: fewer than wanted at their end."""
    wanted = memoryview(buffer)
    while wanted:
        count = os.readv(_REQUESTS, [wanted])
        if count == 0:
            break
        wanted = wanted[count:]
    return len(buffer) - len(wanted)


def _read_header():
    """The next frame's header; None at the end of the requests."""
    length = bytearray(4)
    if _read_into(length) == 0:
        return None
    text = bytearray(*struct.unpack("<I", length))
    if _read_into(text) < len(text) or not text:
        raise EOFError("the request ends in its middle")
    return json.loads(text)


def _failure(kind, error, **fields):
    message = _printable(str(error))[:_MOST_MESSAGE]
    return {"kind": kind, "message": message or type(error).__name__, **fields}


def _as_array(buffer, entry):
    try:
        return buffer.view(_NUMPY_DTYPES[entry["dtype"]]).reshape(entry["shape"])
    except ValueError as error:  # too many axes, or extents whose product overflows beside one of 0
        raise Unsupported(f"numpy has no array of shape {entry['shape']}: {error}") from None
