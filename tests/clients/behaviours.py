"""Does what conformance.py calls behaviours, by the number of images."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../clients/python"))
import wgrad_candidate as wgrad

import numpy as np


def raise_error(call):
    raise RuntimeError("it broke \udc80 \N{GREEK SMALL LETTER ALPHA}\"\n" + 20_000 * "x")


def unsupported(call):
    raise wgrad.Unsupported("not done here")


def rejected(call):
    raise wgrad.Rejected("refused", kind="Unimplemented")


def wrong_dtype(call):
    return np.zeros(call.filter_sizes, np.int64)


def wrong_shape(call):
    return np.zeros(call.filter_sizes[::-1], np.float32)


def greeting():
    if sys.argv[1:]:
        raise OSError("libfoo.so is not installed")
    return {"name": "behaviours", "validates": True}


@wgrad.candidate(greeting, dtypes=["f32"])
def filter_gradient(call):
    if not call.is_valid:
        raise ValueError("wrong arguments")
    return [raise_error, unsupported, rejected, wrong_dtype, wrong_shape][call.input.shape[0] - 1](call)


filter_gradient.serve()
