"""Saves every weight gradient of a real training step, so that wgrad can judge it. Copy this one file; it needs numpy.

    import capture

    with capture.torch_step(model) as step:             # PyTorch 1.13 or newer
        loss_of(model(images)).backward()
    for result in step.judge():
        print(result.name, result.problem, result.verdict, result.grade)

    with capture.tf_step() as step:                     # TensorFlow 2, Keras 3, run eagerly
        with tf.GradientTape() as tape:
            loss = loss_of(model(images, training=True))
        tape.gradient(loss, model.trainable_variables)

Of each call of a two-dimensional convolution three arrays go into a folder: the input, the gradient of the output
(out_backprop) and the weight gradient that the framework computed from these two. They are what the operation itself
was given and gave: after autocast's casts, after a padding mode's padding, and for one call of a module, not the sum
over its calls. When the step ends, the `wgrad judge` lines are printed, or carried out with run=True. What could not be
captured is named, in step.skipped and in what is printed. Of TensorFlow only what runs eagerly can be seen.
"""

import collections
import json
import os
import re
import shlex
import subprocess
import sys

import numpy as np

__all__ = ["Result", "Step", "tf_step", "torch_step"]

Result = collections.namedtuple("Result", "name exit_code report problem verdict grade")
Result.__doc__ = """What `wgrad judge` said of one gradient.

exit_code and report (text) are those of the command; problem is the problem's text, verdict "pass", "fail" or
"nothing-compared", grade the best accuracy class that all elements hold. Where wgrad refused the data, the verdict is
"error", the report says why, and problem and grade are empty.
"""

_NOTHING = "no weight gradient of a two-dimensional convolution was seen in this step"
_TAGS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}


def torch_step(model, folder="captured", wgrad=None, run=False, quiet=False):
    """Captures the backward passes of PyTorch inside a `with` block. The layers are named as in `model`.

    folder: where the arrays go; those of an earlier step with the same names are overwritten
    wgrad:  the program; default the environment's WGRAD_PROGRAM, else `wgrad`
    run:    whether to judge when the block ends, rather than print the lines that do
    quiet:  prints nothing
    """
    return _TorchStep(model, folder, wgrad, run, quiet)


def tf_step(folder="captured", wgrad=None, run=False, quiet=False):
    """Captures the gradients that TensorFlow's tapes compute inside a `with` block; arguments as of torch_step.

    Both the forward pass and tape.gradient belong inside. It sees tf.nn.conv2d, tf.nn.convolution and
    tf.nn.depthwise_conv2d, called by yourself or by Keras 3, where they run eagerly: for model.fit and the like compile
    the model with run_eagerly=True.
    """
    return _TensorFlowStep(folder, wgrad, run, quiet)


class _NotCovered(Exception):
    """Why a convolution cannot be judged."""


def _geometry(padding, strides, dilations, data_format, layout):
    """Words that say what the arrays' shapes do not: pairs are rows, columns; padding is same, valid or T,B,L,R."""
    return ["--actual-layout", layout, "--data-format", data_format, "--padding", padding,
            "--strides", _comma(strides), "--dilations", _comma(dilations)]


class Step:
    """One captured training step. skipped: sentences on what was not captured."""

    def __init__(self, folder, wgrad, run, quiet):
        self.folder = str(folder)
        self.wgrad = wgrad or os.environ.get("WGRAD_PROGRAM") or "wgrad"
        self.skipped = []
        self._run, self._quiet = run, quiet
        self._arguments = {}  # of `wgrad judge`, by name
        self._places = {}  # of names, in the order of the forward pass
        self._calls = collections.Counter()  # by layer

    @property
    def names(self):
        """What was captured, in the order of the forward pass: a layer's name, for its second call LAYER.call2."""
        return sorted(self._arguments, key=self._places.get)

    def path(self, name, what):
        """The file of one array; `what` is "input", "out_backprop" or "weight_gradient"."""
        return os.path.join(self.folder, f"{name}.{what}.npy")

    def lines(self):
        """The command lines that judge each gradient."""
        return [shlex.join([self.wgrad, *self._arguments[name]]) for name in self.names]

    def judge(self, *options):
        """Judges each gradient, and gives a list of Results; `options` are more words for `wgrad judge`."""
        if not self._arguments:
            raise RuntimeError(_NOTHING)
        return [self._judge_one(name, options) for name in self.names]

    def _judge_one(self, name, options):
        json_file = os.path.join(self.folder, f"{name}.report.json")
        if os.path.exists(json_file):
            os.remove(json_file)  # an old one must not speak for this step
        words = [self.wgrad, *self._arguments[name], *options, "--json", json_file]
        try:
            done = subprocess.run(words, capture_output=True, text=True)
        except OSError as error:
            raise RuntimeError(f"cannot start wgrad as {self.wgrad!r} ({error.strerror}): say where it is with "
                               "wgrad=.., or in the environment's WGRAD_PROGRAM") from error
        if not os.path.exists(json_file):
            return Result(name, done.returncode, done.stdout + done.stderr, "", "error", "")
        with open(json_file, encoding="utf-8") as file:
            report = json.load(file)
        grade = "".join(grade["class"] for grade in report["grade"].values())  # of the one dtype that there is
        return Result(name, done.returncode, done.stdout, report["cases"][0]["problem"], report["verdict"], grade)

    def __enter__(self):
        os.makedirs(self.folder, exist_ok=True)
        self._start()
        return self

    def __exit__(self, kind, error, trace):
        self._stop()
        if kind is not None:
            return  # the step's own exception is the news
        if not self._arguments:
            self._print(_NOTHING)
        elif self._run:
            self._print("\n".join(f"{result.name}: {result.report.rstrip()}" for result in self.judge()))
        else:
            self._print("\n".join(self.lines()))
        for sentence in self.skipped:
            self._print(f"not captured: {sentence}")

    def _print(self, text):
        if not self._quiet:
            print(text)

    def _skip(self, name, why):
        sentence = f"{name}: {why}"
        if sentence not in self.skipped:
            self.skipped.append(sentence)

    def _name_of_call(self, layer):
        """A layer's second call in this step has a gradient of its own, and so a name of its own."""
        self._calls[layer] += 1
        name = layer if self._calls[layer] == 1 else f"{layer}.call{self._calls[layer]}"
        self._places.setdefault(name, len(self._places))
        return name

    def _keep(self, name, tensors, geometry):
        """tensors: input, out_backprop and weight gradient, each as (array, tag)."""
        (x, x_tag), (dy, dy_tag), (dw, dw_tag) = tensors
        if x_tag != dy_tag:
            raise _NotCovered(f"its input is {x_tag}, the gradient of its output {dy_tag}")
        first, count = name, 1
        while name in self._arguments:  # a second backward pass through the same call
            count += 1
            name = f"{first}.backward{count}"
            self._places[name] = self._places[first]
        arguments = ["judge"]
        for option, what, array in (("--input", "input", x), ("--out-backprop", "out_backprop", dy),
                                    ("--actual", "weight_gradient", dw)):
            np.save(self.path(name, what), np.ascontiguousarray(array))
            arguments += [option, self.path(name, what)]
        tag = x_tag if dw_tag == x_tag else f"{x_tag}_{dw_tag}"
        self._arguments[name] = [*arguments, *geometry, "--dtype", tag]


def _comma(numbers):
    return ",".join(str(int(number)) for number in numbers)


def _pair(values, first=0):
    """Rows and columns out of one number for both, of two, or of one for each axis, where rows are axis `first`."""
    values = np.atleast_1d(values).tolist()
    return values * 2 if len(values) == 1 else values[first:first + 2] if len(values) == 4 else values


def _tag(dtype):
    """wgrad's word for a dtype that the framework calls e.g. torch.float32 or float32."""
    word = str(dtype).rpartition(".")[2]
    if word not in _TAGS:
        raise _NotCovered(f"its dtype is {word}")
    return _TAGS[word]


class _TorchStep(Step):
    """Watches the operations below autograd, where convolution_backward has the very tensors of one call."""

    def __init__(self, model, *arguments):
        super().__init__(*arguments)
        self._model = model
        self._modules = []  # names of the modules that are being called, the innermost last
        self._names = {}  # (layer, name of the call), by the addresses of the call's input and weight; None: unknown
        self._open = collections.defaultdict(list)  # by layer: names of calls that no backward pass came to yet
        self._backward = set()  # layers that a backward pass came to

    def _start(self):
        import torch
        try:
            from torch.utils._python_dispatch import TorchDispatchMode
            convolution, backward = torch.ops.aten.convolution.default, torch.ops.aten.convolution_backward.default
        except (ImportError, AttributeError) as error:
            raise RuntimeError(f"capturing needs PyTorch 1.13 or newer, this is {torch.__version__}") from error
        running = getattr(torch._C, "_current_graph_task_id", lambda: -1)  # PyTorch 2 tells which backward pass runs
        step = self

        class Watch(TorchDispatchMode):
            def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
                result = operation(*args, **(kwargs or {}))
                if operation is convolution and torch.is_grad_enabled():
                    step._see_forward(*args[:2], during_backward=running() != -1)
                elif operation is backward:
                    step._see_backward(args, result[1])
                return result

        modules = [(_layer_name(name), module) for name, module in self._model.named_modules()
                   if not isinstance(module, torch.jit.ScriptModule)]  # these take no hooks, and stay without names
        self._hooks = [hook for name, module in modules for hook in self._hook(name, module)]
        self._watch = Watch()
        self._watch.__enter__()

    def _stop(self):
        import torch
        self._watch.__exit__(None, None, None)
        for hook in self._hooks:
            hook.remove()
        for name, module in self._model.named_modules():
            layer = _layer_name(name)
            if isinstance(module, torch.nn.Conv2d) and layer not in self._backward:
                self._skip(layer, "no weight gradient was computed (is it frozen, or after the last backward pass?)"
                           if layer in self._calls else "it was not called")

    def _hook(self, name, module):
        def enter(module, inputs):
            self._modules.append(name)

        def leave(module, inputs, output):
            while self._modules and self._modules.pop() != name:
                pass  # a module that was left by an exception

        return module.register_forward_pre_hook(enter), module.register_forward_hook(leave)

    def _see_forward(self, x, weight, during_backward):
        layer = self._modules[-1] if self._modules else "convolution"
        name = None
        if not (during_backward and self._open[layer]):  # checkpointing computes an earlier call again
            name = self._name_of_call(layer)
            self._open[layer].append(name)
        self._names[x.data_ptr(), weight.data_ptr()] = layer, name
        self._names[None, weight.data_ptr()] = layer, None

    def _see_backward(self, arguments, gradient):
        """arguments: of aten::convolution_backward; x [n, c, ih, iw], dy [n, oc, oh, ow], weight [oc, ic, kh, kw]."""
        dy, x, weight, _, strides, padding, dilations, transposed, _, _, wanted = arguments
        unknown = self._names.get((None, weight.data_ptr()), ("convolution", None))
        layer, name = self._names.get((x.data_ptr(), weight.data_ptr()), unknown)
        self._backward.add(layer)
        if name is None:  # the forward pass was not in the block, or the input was computed again, or moved and back
            name = self._open[layer][-1] if self._open[layer] else self._name_of_call(layer)
        if name in self._open[layer]:
            self._open[layer].remove(name)
        try:
            if transposed:
                raise _NotCovered("it is a transposed convolution")
            if x.dim() != 4:
                raise _NotCovered("it is not two-dimensional")
            if not wanted[1]:
                raise _NotCovered("no weight gradient was computed (is it frozen?)")
            (top, left), strides, dilations = map(_pair, (padding, strides, dilations))
            geometry = _geometry(_comma((top, top, left, left)), strides, dilations, "NCHW", "oihw")
            self._keep(name, [_from_torch(tensor) for tensor in (x, dy, gradient)], geometry)
        except _NotCovered as why:
            self._skip(name, str(why))


def _layer_name(path):
    """A module's path as a word that may be part of a file's name; the model itself has no path."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", path) or "model"


def _from_torch(tensor):
    """A tensor in any memory format as (array, tag), in the order of its axes."""
    import torch
    tag = _tag(tensor.dtype)
    tensor = tensor.detach().contiguous().cpu()
    if tag == "bf16":  # numpy has no bfloat16: the bits
        return tensor.view(torch.int16).numpy().view(np.uint16), tag
    return tensor.numpy(), tag


_DONE = object()
# TensorFlow's public functions that are judged, with the names of their arguments.
_JUDGED = {"conv2d": ("input", "filters"), "convolution": ("input", "filters"), "depthwise_conv2d": ("input", "filter")}
_MORE_ARGUMENTS = ("strides", "padding", "data_format", "dilations", "name")
_NOT_JUDGED = ("conv1d", "conv3d", "conv_transpose", "conv1d_transpose", "conv2d_transpose", "conv3d_transpose",
               "separable_conv2d", "atrous_conv2d", "atrous_conv2d_transpose")


class _TensorFlowStep(Step):
    """Replaces the functions of tf.nn by ones that also tap the gradients of the weight and of the output."""

    def _start(self):
        import tensorflow as tf
        self._tf = tf
        self._layers = []  # names of the Keras layers that are being called, the innermost last
        self._waiting = {}  # by call: None, then out_backprop, then _DONE when the weight gradient has followed
        self._inside = False
        self._undo = []
        for word, names in _JUDGED.items():
            self._replace(tf.nn, word, self._judged(getattr(tf.nn, word), word, names + _MORE_ARGUMENTS))
        for word in _NOT_JUDGED:
            self._replace(tf.nn, word, self._not_judged(getattr(tf.nn, word), word))
        if "keras" in sys.modules and sys.modules["keras"].backend.backend() == "tensorflow":
            layers = sys.modules["keras"].layers
            self._replace(layers.Layer, "__call__", self._named(layers.Layer.__call__))
            self._replace(layers.Conv2D, "convolution_op", self._grouped(layers.Conv2D.convolution_op))

    def _stop(self):
        for owner, word, original in reversed(self._undo):
            if original is None:
                delattr(owner, word)
            else:
                setattr(owner, word, original)
        for name, state in self._waiting.items():
            if state is not _DONE:
                self._skip(name, "no weight gradient was computed (is it frozen, or outside the tape?)")

    def _replace(self, owner, word, substitute):
        self._undo.append((owner, word, vars(owner).get(word)))
        setattr(owner, word, substitute)

    def _layer(self):
        """The path of the Keras layer that is being called, below the outermost one."""
        return _layer_name(".".join(self._layers[1:] or self._layers or ["convolution"]))

    def _named(self, original):
        def call(layer, *args, **kwargs):
            self._layers.append(layer.name)
            try:
                return original(layer, *args, **kwargs)
            finally:
                self._layers.pop()
        return call

    def _judged(self, original, word, names):
        def call(*args, **kwargs):
            given = {**dict(zip(names, args)), **kwargs}
            if self._inside or not set(names[:2]) <= set(given):
                return original(*args, **kwargs)
            x, kernel = given.pop(names[0]), given.pop(names[1])

            def convolve(x, kernel):
                return original(**{names[0]: x, names[1]: kernel}, **given)
            return self._tapped(convolve, x, kernel, given, word == "depthwise_conv2d")
        return call

    def _not_judged(self, original, word):
        def call(*args, **kwargs):
            self._skip(self._layer(), f"tf.nn.{word} is not covered")
            return original(*args, **kwargs)
        return call

    def _grouped(self, original):
        """Keras compiles convolutions with groups, so these are tapped from outside."""
        def call(layer, inputs, kernel):
            if layer.groups == 1:
                return original(layer, inputs, kernel)
            given = {"strides": layer.strides, "padding": layer.padding, "dilations": layer.dilation_rate,
                     "data_format": "NCHW" if layer.data_format == "channels_first" else "NHWC"}
            return self._tapped(lambda x, w: original(layer, x, w), inputs, kernel, given, False)
        return call

    def _tapped(self, convolve, x, kernel, given, depthwise):
        """convolve(x, kernel), with x [n, ih, iw, c] or [n, c, ih, iw] and kernel [kh, kw, ic, oc]; where it is
        depthwise, [kh, kw, c, m]. `given` holds the other arguments of the public function."""
        x, kernel = self._tf.convert_to_tensor(x), self._tf.convert_to_tensor(kernel)
        if not hasattr(x, "numpy"):
            self._skip(self._layer(), "it was compiled (tf.function, or model.fit without run_eagerly=True)")
            return convolve(x, kernel)
        if len(x.shape) != 4 or len(kernel.shape) != 4:
            self._skip(self._layer(), f"its input has {len(x.shape)} axes, its weight {len(kernel.shape)}; both need 4")
            return convolve(x, kernel)
        name = self._name_of_call(self._layer())
        self._waiting[name] = None

        def keep_out_backprop(dy):
            self._waiting[name] = dy

        def keep_gradient(dw):
            if depthwise:  # oc is c * m + its place among the m
                dw = self._tf.reshape(dw, [*kernel.shape[:2], 1, -1])
            dy, self._waiting[name] = self._waiting[name], _DONE
            try:
                self._keep(name, [_from_tensorflow(tensor) for tensor in (x, dy, dw)], _tensorflow_geometry(given))
            except _NotCovered as why:
                self._skip(name, str(why))

        kernel = self._tap(kernel, keep_gradient)
        self._inside = True
        try:
            y = convolve(x, kernel)
        finally:
            self._inside = False
        return self._tap(y, keep_out_backprop)

    def _tap(self, tensor, keep):
        """`tensor` itself, but `keep` sees the gradient that arrives for this use of it."""
        @self._tf.custom_gradient
        def identity(value):
            def gradient(upstream):
                keep(upstream)
                return upstream
            return self._tf.identity(value), gradient
        return identity(tensor)


def _from_tensorflow(tensor):
    tag = _tag(tensor.dtype.name)
    array = tensor.numpy()
    return array.view(np.uint16) if tag == "bf16" else array, tag


def _tensorflow_geometry(given):
    data_format = "NCHW" if str(given.get("data_format") or "NHWC").startswith("NC") else "NHWC"
    first = 2 if data_format == "NCHW" else 1
    padding = given.get("padding", "VALID")
    if isinstance(padding, str):
        padding = padding.lower()
    else:
        padding = _comma(np.reshape(padding[first:first + 2], -1))
    strides, dilations = (_pair(given.get(word) or 1, first) for word in ("strides", "dilations"))
    return _geometry(padding, strides, dilations, data_format, "hwio")
