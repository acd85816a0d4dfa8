"""JAX's filter gradient as a candidate: the vjp of lax.conv_general_dilated, jitted. See README.md."""

import functools
import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import wgrad_candidate as wgrad  # first, since it tells wgrad which import failed

import jax
import jaxlib
import numpy as np

jax.config.update("jax_enable_x64", True)


@functools.lru_cache(maxsize=4)
def compiled(filter_sizes, dtype, options):
    """One jitted function for each problem of late; what is older is freed with its executable."""

    def gradient(x, dy):
        def convolution(kernel):
            return jax.lax.conv_general_dilated(x, kernel, **dict(options))

        # The kernel's values play no part: a convolution is linear in it.
        return jax.vjp(convolution, jax.numpy.zeros(filter_sizes, dtype))[1](dy)[0]

    return jax.jit(gradient)


@wgrad.candidate(
    name="jax", version=jax.__version__, libraries={"jax": jax.__version__, "jaxlib": jaxlib.__version__},
    dtypes=["f16", "bf16", "f32", "f64"], pad="either", ftz=True, daz=True,
    accuracy_class={"f16": "wide", "bf16": "wide", "f32": "order", "f64": "order"})
def filter_gradient(call):
    if call.padding == "SAME" and 0 in call.filter_sizes[:2]:
        raise wgrad.Unsupported("SAME with an empty filter: JAX counts its outputs differently")
    options = {
        "window_strides": call.strides, "padding": call.pads if call.padding == "EXPLICIT" else call.padding,
        "rhs_dilation": call.dilations,
        "dimension_numbers": (call.data_format, "HWIO", call.data_format), "feature_group_count": call.groups,
        "precision": jax.lax.Precision.HIGHEST,
    }
    function = compiled(call.filter_sizes, call.input.dtype, tuple(options.items()))
    return np.asarray(function(call.input, call.out_backprop))


filter_gradient.serve()
