"""TensorFlow's Conv2DBackpropFilter as a candidate. README.md says what the variants are and how each is judged."""

import functools
import json
import os
import re

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import wgrad_candidate as wgrad  # first, since it tells wgrad which import failed

import ml_dtypes
import numpy as np
import tensorflow as tf

ROUTE = wgrad.variant() or "cpu"


def raw_op(arguments, x, dy):
    options = {name: arguments[name] for name in ("explicit_paddings", "use_cudnn_on_gpu", "data_format", "dilations")
               if name in arguments}
    if isinstance(arguments["padding"], list):  # pairs of paddings are known to the wrapper alone
        if options.pop("explicit_paddings", []):
            raise wgrad.Unsupported("what takes pairs as padding has no parameter explicit_paddings")
        return tf.compat.v1.nn.conv2d_backprop_filter(
            x, arguments["filter_sizes"], dy, arguments["strides"], arguments["padding"], **options)
    return tf.raw_ops.Conv2DBackpropFilter(
        input=x, filter_sizes=arguments["filter_sizes"], out_backprop=dy, strides=arguments["strides"],
        padding=arguments["padding"], **options)


def has_onednn_kernel(dtype):
    """Which dtypes oneDNN takes depends on the processor; the others go to the default kernel, which has no NCHW."""
    one = tf.constant(np.ones((1, 1, 1, 1), dtype))
    try:
        raw_op({"filter_sizes": [1, 1, 1, 1], "strides": [1, 1, 1, 1], "padding": "VALID", "data_format": "NCHW"}, one,
               one)
        return True
    except tf.errors.OpError:
        return False


# What each kernel does, and the accumulator it is judged by.
if ROUTE == "cpu":
    CAPABILITIES = dict(
        dtypes=["f16", "bf16", "f32", "f64"], data_formats=["NHWC"], dilation=False, groups=False,
        accuracy_class={"f16": "order:f16", "bf16": "order:bf16", "f32": "order", "f64": "order"})
elif ROUTE == "onednn":
    NARROW = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}
    CAPABILITIES = dict(
        dtypes=[name for name, dtype in NARROW.items() if has_onednn_kernel(dtype)] + ["f32"],
        paddings=["SAME", "VALID"], accuracy_class={"f16": "wide", "bf16": "wide", "f32": "order"})
else:
    CAPABILITIES = dict(
        dtypes=["f16", "bf16", "f32", "f64"],
        accuracy_class={"f16": "wide", "bf16": "wide", "f32": "order", "f64": "order"})


@functools.lru_cache(maxsize=4)
def compiled(problem):
    """A fresh tf.function for each problem: one for all of them would keep everything that it ever compiled."""
    arguments = json.loads(problem[0])
    return tf.function(functools.partial(raw_op, arguments), jit_compile=True, autograph=False)


def compute(call):
    x, dy = tf.constant(call.input), tf.constant(call.out_backprop)
    if ROUTE != "xla":
        return raw_op(call.arguments, x, dy).numpy()
    return compiled((json.dumps(call.arguments), x.dtype, dy.dtype, tuple(x.shape), tuple(dy.shape)))(x, dy).numpy()


@wgrad.candidate(name="tensorflow", version=tf.__version__, libraries={"tensorflow": tf.__version__}, pad="either",
                 ftz=True, daz=True, validates=True, **CAPABILITIES)
def filter_gradient(call):
    try:
        return compute(call)
    except (tf.errors.OpError, TypeError, ValueError, OverflowError) as error:
        kind = type(error).__name__.removesuffix("Error")
        noise = r"\{\{.*?\}\} |goo\.gle/debug\w+ |\[\[.*|\[Op:.*"  # names of nodes, a link
        message = " ".join(re.sub(noise, "", str(error), flags=re.DOTALL).split())[:300]
        if call.is_valid and kind == "Unimplemented":
            raise wgrad.Unsupported(message) from error
        if call.is_valid and kind not in ("InvalidArgument", "Aborted"):
            raise  # it tried and did not succeed
        raise wgrad.Rejected(message, kind=kind) from error


filter_gradient.serve()
