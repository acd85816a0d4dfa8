"""A complete candidate: the weight gradient in numpy, summed in float64 and rounded once at the end.

wgrad check 'cmd:python3 clients/python/example.py'
"""

import wgrad_candidate as wgrad  # first, since it tells wgrad which import failed

import numpy as np

DTYPES = ["f16", "bf16", "f32", "f64", "f16_f32", "bf16_f32"]


def taps_inside(size, outputs, taps, stride, dilation, before):
    """For each tap along one axis: the outputs that read inside the image, and the positions that they read."""
    for tap in range(taps):
        shift = tap * dilation - before  # output o reads position o * stride + shift
        first = max(0, -(shift // stride))
        end = min(outputs, (size - 1 - shift) // stride + 1)
        if first < end:
            start = first * stride + shift
            yield tap, slice(first, end), slice(start, start + (end - first - 1) * stride + 1, stride)


@wgrad.candidate(name="numpy", version="1", libraries={"numpy": np.__version__}, dtypes=DTYPES,
                 accuracy_class={dtype: "order" if dtype == "f64" else "wide:f64" for dtype in DTYPES},
                 pad="skip", deterministic=True)
def filter_gradient(call):
    x, dy = wgrad.to_float64(call.input), wgrad.to_float64(call.out_backprop)
    if call.data_format == "NCHW":
        x, dy = x.transpose(0, 2, 3, 1), dy.transpose(0, 2, 3, 1)
    kh_count, kw_count, ic_count, oc_count = call.filter_sizes
    dw = np.zeros(call.filter_sizes)
    (top, _), (left, _) = call.pads
    rows = taps_inside(x.shape[1], dy.shape[1], kh_count, call.strides[0], call.dilations[0], top)
    columns = list(taps_inside(x.shape[2], dy.shape[2], kw_count, call.strides[1], call.dilations[1], left))
    outputs = oc_count // call.groups
    for kh, oh, ih in rows:
        for kw, ow, iw in columns:
            # Only what lies in the image takes part, so that an infinity beside the padding never meets its zeros.
            for g in range(call.groups):
                ic, oc = slice(g * ic_count, (g + 1) * ic_count), slice(g * outputs, (g + 1) * outputs)
                dw[kh, kw, :, oc] = np.tensordot(x[:, ih, iw, ic], dy[:, oh, ow, oc], axes=([0, 1, 2], [0, 1, 2]))
    return wgrad.from_float64(dw, call.result_dtype)


if __name__ == "__main__":
    filter_gradient.serve()
