"""PyTorch's weight gradient as a candidate. README.md says what the variants are and how each is judged."""

import wgrad_candidate as wgrad  # first, since it tells wgrad which import failed

import numpy as np
import torch

ROUTE = wgrad.variant() or "default"
FORMAT = torch.channels_last if ROUTE == "channels_last" else torch.contiguous_format
if ROUTE == "native":
    torch.backends.mkldnn.set_flags(False)

# oneDNN's bfloat16 runs on an instruction that takes and leaves no subnormal numbers, where the processor has it.
with open("/proc/cpuinfo") as cpuinfo:
    FLUSHES = ROUTE != "native" and "avx512_bf16" in cpuinfo.read()


def to_torch(array, data_format):
    """A tensor with the axes NCHW, in the memory format of this variant."""
    if array.dtype.itemsize == 2:  # numpy has no bfloat16 that torch knows: hand over the bits
        tensor = torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    else:
        tensor = torch.from_numpy(array)
    if data_format == "NHWC":
        tensor = tensor.permute(0, 3, 1, 2)
    return tensor.contiguous(memory_format=FORMAT)


@wgrad.candidate(
    name="pytorch", version=torch.__version__, libraries={"torch": torch.__version__, "numpy": np.__version__},
    dtypes=["bf16", "f32", "f64"], accuracy_class={"bf16": "order:bf16", "f32": "order", "f64": "order"}, pad="either",
    ftz=FLUSHES, daz=FLUSHES, result_layout="oihw")
def filter_gradient(call):
    if 0 in call.filter_sizes or 0 in call.input.shape[1:] or 0 in call.out_backprop.shape[1:]:
        raise wgrad.Unsupported("PyTorch takes no empty axis but the batch")
    x = to_torch(call.input, call.data_format)
    dy = to_torch(call.out_backprop, call.data_format)
    (top, bottom), (left, right) = call.pads
    padding = [top, left]
    if top != bottom or left != right:  # PyTorch pads both ends alike; the rest of it is zeros around the image
        x = torch.nn.functional.pad(x, (left, right, top, bottom)).contiguous(memory_format=FORMAT)
        padding = [0, 0]
    kh, kw, ic, oc = call.filter_sizes
    weight = torch.zeros((oc, ic, kh, kw), dtype=x.dtype).contiguous(memory_format=FORMAT)  # only its shape counts
    _, gradient, _ = torch.ops.aten.convolution_backward(
        dy, x, weight, None, call.strides, padding, call.dilations, False, [0, 0], call.groups, [False, True, False])
    gradient = gradient.contiguous()
    return gradient.view(torch.int16).numpy().view(np.uint16) if call.dtype == "bf16" else gradient.numpy()


filter_gradient.serve()
