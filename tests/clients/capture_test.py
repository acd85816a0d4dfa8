"""Holds clients/python/capture.py to the definition: what it saves of a training step reproduces the saved gradient.

Runs the cases of each framework that this Python can import, and says which it could not; with none, exits with 77.
All data are small integers, so that every sum is exact and equality is due. Where WGRAD_PROGRAM names wgrad, the saved
files also go through `wgrad judge`.
"""

import contextlib
import importlib.util
import io
import os
import shlex
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    print(f"skipped: everything, for {sys.executable} cannot import numpy")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "clients", "python"))
import capture  # noqa: E402

WGRAD = os.environ.get("WGRAD_PROGRAM")
compared = 0  # elements, over all cases


def words_of(line):
    """The options of a `wgrad judge` line by name."""
    words = shlex.split(line)
    assert words[1] == "judge", line
    return dict(zip((word[2:] for word in words[2::2]), words[3::2]))


def load(path, tag):
    array = np.load(path)
    if tag == "bf16":
        assert array.dtype == np.uint16, array.dtype
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    assert array.dtype == {"f16": np.float16, "f32": np.float32, "f64": np.float64}[tag], array.dtype
    return array.astype(np.float64)


def pads_of(padding, size, outputs, effective, stride, axis):
    """Cells before and after one axis (0: rows, 1: columns)."""
    if padding == "valid":
        return 0, 0
    if padding == "same":
        total = max(0, (outputs - 1) * stride + effective - size)
        return total // 2, total - total // 2
    return tuple(int(cells) for cells in padding.split(","))[2 * axis:2 * axis + 2]


def definition(x, dy, filter_sizes, padding, strides, dilations):
    """The sum of docs/spec.md, G5, in float64: x [n, ih, iw, c], dy [n, oh, ow, oc], gives [kh, kw, ic, oc]."""
    kh_count, kw_count, ic_count, oc_count = filter_sizes
    pads = [pads_of(padding, x.shape[1 + axis], dy.shape[1 + axis], (filter_sizes[axis] - 1) * dilations[axis] + 1,
                    strides[axis], axis) for axis in (0, 1)]
    padded = np.pad(x, ((0, 0), *pads, (0, 0)))
    outputs = oc_count * ic_count // x.shape[3]  # of one group
    dw = np.zeros(filter_sizes)
    for kh, kw, oc in np.ndindex(kh_count, kw_count, oc_count):
        for n, oh, ow in np.ndindex(dy.shape[:3]):
            first = oc // outputs * ic_count
            ih, iw = oh * strides[0] + kh * dilations[0], ow * strides[1] + kw * dilations[1]
            dw[kh, kw, :, oc] += padded[n, ih, iw, first:first + ic_count] * dy[n, oh, ow, oc]
    return dw


def integers(*shape, seed=1):
    """float32 values -1, 0 and 1."""
    return np.random.RandomState(seed).randint(-1, 2, shape).astype(np.float32)


class CaptureTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def check(self, step, names, tag="f32"):
        """Compares every saved gradient with the definition, and gives the gradients by name."""
        global compared
        self.assertEqual(step.names, names)
        gradients = {}
        for name, line in zip(step.names, step.lines()):
            words = words_of(line)
            self.assertEqual(words["dtype"], tag)
            x, dy, dw = (load(words[word], tag) for word in ("input", "out-backprop", "actual"))
            gradients[name] = dw
            if words["data-format"] == "NCHW":
                x, dy = x.transpose(0, 2, 3, 1), dy.transpose(0, 2, 3, 1)
            if words["actual-layout"] == "oihw":
                dw = dw.transpose(2, 3, 1, 0)
            strides, dilations = ([int(word) for word in words[key].split(",")] for key in ("strides", "dilations"))
            np.testing.assert_array_equal(dw, definition(x, dy, dw.shape, words["padding"], strides, dilations), name)
            self.assertGreater(np.count_nonzero(dw), 0, name)
            compared += dw.size
        if WGRAD:
            for result in step.judge():
                self.assertEqual((result.exit_code, result.verdict), (0, "pass"), result.report)
        return gradients


class Torch(CaptureTest):
    @classmethod
    def setUpClass(cls):
        global torch
        if not importlib.util.find_spec("torch"):
            raise unittest.SkipTest(f"PyTorch: {sys.executable} cannot import torch")
        import torch
        try:
            torch.from_numpy(np.zeros(1))
        except RuntimeError as error:  # built for another numpy
            raise unittest.SkipTest(f"PyTorch: {sys.executable} has a torch that says: {error}") from error

    def model(self, *layers):
        model = torch.nn.Sequential(*layers)
        for seed, parameter in enumerate(model.parameters()):
            parameter.data = torch.from_numpy(integers(*parameter.shape, seed=seed))
        return model

    def step(self, model, x, **settings):
        """One captured step in which the gradient of the last output is a tensor of small integers."""
        with capture.torch_step(model, self.folder, quiet=True, **settings) as step:
            y = model(torch.from_numpy(x))
            y.backward(torch.from_numpy(integers(*y.shape, seed=9)).to(y.dtype))
        return step

    def test_every_geometry(self):
        conv = torch.nn.Conv2d
        model = self.model(conv(2, 4, 3, stride=2, padding=1), conv(4, 6, (3, 2), groups=2, padding="same"),
                           conv(6, 6, 3, dilation=(2, 1), groups=6, padding=(2, 0)), conv(6, 3, 1),
                           conv(3, 3, 2, padding=1, padding_mode="reflect"), conv(3, 2, (2, 3), padding="valid"))
        self.check(self.step(model, integers(2, 2, 11, 12)), ["0", "1", "2", "3", "4", "5"])

    def test_channels_last_and_expanded_gradients(self):
        model = self.model(torch.nn.Conv2d(2, 3, 3)).to(memory_format=torch.channels_last)
        x = torch.from_numpy(integers(2, 2, 6, 5)).contiguous(memory_format=torch.channels_last)
        with capture.torch_step(model, self.folder, quiet=True) as step:
            model(x).sum().backward()
        self.check(step, ["0"])

    def test_input_without_a_batch(self):
        self.check(self.step(self.model(torch.nn.Conv2d(2, 3, 3)), integers(2, 6, 5)), ["0"])

    def test_float64(self):
        model = self.model(torch.nn.Conv2d(2, 3, 3)).double()
        self.check(self.step(model, integers(2, 2, 6, 5).astype(np.float64)), ["0"], "f64")

    def test_each_call_of_a_module_has_its_own_gradient(self):
        layer = torch.nn.Conv2d(2, 2, 3, padding=1)
        model = self.model(layer, torch.nn.ReLU(), layer)
        gradients = self.check(self.step(model, integers(2, 2, 6, 5)), ["0", "0.call2"])
        self.assertFalse(np.array_equal(gradients["0"], gradients["0.call2"]))
        np.testing.assert_array_equal(gradients["0"] + gradients["0.call2"], layer.weight.grad.numpy())

    def test_gradients_that_were_there_before_do_not_count(self):
        model = self.model(torch.nn.Conv2d(2, 3, 3))
        self.step(model, integers(2, 2, 6, 5, seed=2))
        self.check(self.step(model, integers(2, 2, 6, 5)), ["0"])

    def test_two_backward_passes(self):
        model = self.model(torch.nn.Conv2d(2, 3, 3))
        with capture.torch_step(model, self.folder, quiet=True) as step:
            y = model(torch.from_numpy(integers(2, 2, 6, 5)))
            for seed in (3, 4):
                y.backward(torch.from_numpy(integers(*y.shape, seed=seed)), retain_graph=True)
        self.check(step, ["0", "0.backward2"])

    def test_autocast_saves_what_the_operation_saw(self):
        model = self.model(torch.nn.Conv2d(2, 3, 3, padding=1))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            step = self.step(model, integers(1, 2, 5, 5))  # few terms, so that bfloat16 sums are exact
        self.check(step, ["0"], "bf16")
        self.assertEqual(model[0].weight.grad.dtype, torch.float32)

    def test_functions_are_seen_as_modules_are(self):
        class Functional(torch.nn.Module):
            def forward(self, x):
                weight = torch.from_numpy(integers(3, 2, 2, 2)).requires_grad_()
                return torch.nn.functional.conv2d(x, 2 * weight, stride=2)
        self.check(self.step(self.model(Functional()), integers(2, 2, 6, 5)), ["0"])

    def test_layers_that_are_computed_again_keep_their_names(self):
        from torch.utils.checkpoint import checkpoint
        model = self.model(torch.nn.Conv2d(2, 3, 3), torch.nn.ReLU(), torch.nn.Conv2d(3, 2, 2))
        settings = [{}]
        if hasattr(torch._C, "_current_graph_task_id"):
            settings += [{"use_reentrant": True}, {"use_reentrant": False}]
        for setting in settings:
            with capture.torch_step(model, self.folder, quiet=True) as step:
                checkpoint(model, torch.from_numpy(integers(2, 2, 6, 5)).requires_grad_(), **setting).sum().backward()
            self.check(step, ["0", "2"])
            self.assertEqual(step.skipped, [])

    def test_scripts_are_seen_without_names(self):
        model = torch.jit.script(self.model(torch.nn.Conv2d(2, 3, 3)))
        self.check(self.step(model, integers(2, 2, 6, 5)), ["convolution"])

    def test_the_step_is_not_changed(self):
        x = np.random.RandomState(1).randn(2, 2, 9, 9).astype(np.float32)
        model = torch.nn.Sequential(torch.nn.Conv2d(2, 4, 3), torch.nn.Conv2d(4, 4, 3, groups=4))
        gradients = []
        for captured in (False, True):
            model.zero_grad()
            with capture.torch_step(model, self.folder, quiet=True) if captured else contextlib.nullcontext():
                (model(torch.from_numpy(x)) ** 2).sum().backward()
            gradients.append([parameter.grad.clone() for parameter in model.parameters()])
        self.assertTrue(all(map(torch.equal, *gradients)))
        self.assertFalse(any(module._forward_hooks or module._forward_pre_hooks for module in model.modules()))

    def test_says_what_it_leaves_out(self):
        frozen, unused = torch.nn.Conv2d(3, 2, 1).requires_grad_(False), torch.nn.Conv2d(1, 1, 1)
        model = self.model(torch.nn.Conv2d(2, 3, 3), torch.nn.ConvTranspose2d(3, 3, 2), frozen, torch.nn.Flatten(2),
                           torch.nn.Conv1d(2, 2, 3))
        model[0].unused = unused
        frozen.requires_grad_(False)
        step = self.step(model, integers(2, 2, 6, 5))
        self.check(step, ["0"])
        self.assertEqual(sorted(step.skipped), [
            "0.unused: it was not called", "1: it is a transposed convolution",
            "2: no weight gradient was computed (is it frozen?)", "4: it is not two-dimensional"])

    def test_a_step_without_convolutions_is_refused(self):
        with capture.torch_step(torch.nn.Linear(2, 2), self.folder, quiet=True) as step:
            pass
        with self.assertRaisesRegex(RuntimeError, "no weight gradient"):
            step.judge()

    def test_an_error_of_the_step_comes_through(self):
        model = self.model(torch.nn.Conv2d(2, 3, 3))
        with self.assertRaisesRegex(RuntimeError, "Given groups=1|expected"):
            self.step(model, integers(2, 5, 6, 6))
        self.assertFalse(model[0]._forward_hooks)
        self.check(self.step(model, integers(2, 2, 6, 5)), ["0"])

    def test_prints_the_lines(self):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            model = self.model(torch.nn.Conv2d(2, 3, 3))
            with capture.torch_step(model, self.folder, wgrad="the program") as step:
                model(torch.from_numpy(integers(1, 2, 4, 4))).sum().backward()
        self.assertEqual(printed.getvalue(), step.lines()[0] + "\n")
        self.assertTrue(step.lines()[0].startswith("'the program' judge --input "))

    def test_a_missing_program_is_named(self):
        step = self.step(self.model(torch.nn.Conv2d(2, 3, 3)), integers(1, 2, 4, 4), wgrad="/nowhere/wgrad")
        with self.assertRaisesRegex(RuntimeError, "cannot start wgrad as '/nowhere/wgrad'.*WGRAD_PROGRAM"):
            step.judge()

    @unittest.skipUnless(WGRAD, "wgrad judge: WGRAD_PROGRAM does not say where wgrad is")
    def test_judges(self):
        model = self.model(torch.nn.Conv2d(2, 3, 3))
        step = self.step(model, integers(1, 2, 5, 4))
        result, = step.judge()
        self.assertEqual(result[:2] + result[3:], ("0", 0, "n1_i5x4_c2_k3x3_o3_pt0b0l0r0_nchw_f32", "pass", "cr"))
        np.save(step.path("0", "weight_gradient"), np.load(step.path("0", "weight_gradient")) + 1)
        result, = step.judge()
        self.assertEqual((result.exit_code, result.verdict, result.grade), (1, "fail", "fail"))
        self.assertIn("54 of 54 elements are wrong", result.report)
        result, = step.judge("--class", "none")
        self.assertEqual((result.exit_code, result.verdict), (2, "error"))
        self.assertIn('unknown class "none"', result.report)


class TensorFlow(CaptureTest):
    @classmethod
    def setUpClass(cls):
        global tf, keras
        if not importlib.util.find_spec("tensorflow"):
            raise unittest.SkipTest(f"TensorFlow: {sys.executable} cannot import tensorflow")
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        import keras
        import tensorflow as tf

    def step(self, function, x):
        """One captured step in which the gradient of the output is a tensor of small integers."""
        with capture.tf_step(self.folder, quiet=True) as step:
            with tf.GradientTape() as tape:
                y = function(x)
            variables = tape.watched_variables()
            self.gradients = tape.gradient(y, variables, output_gradients=integers(*y.shape, seed=9))
        return step

    def model(self, *layers, shape):
        model = keras.Sequential([keras.Input(shape), *layers])
        model.set_weights([integers(*weights.shape, seed=seed) for seed, weights in enumerate(model.get_weights())])
        return model

    def test_every_layer(self):
        layers = keras.layers
        model = self.model(layers.Conv2D(4, 3, strides=2, padding="same", name="strided"),
                           layers.Conv2D(6, (3, 2), groups=2, padding="same", name="grouped"),
                           layers.DepthwiseConv2D(3, depth_multiplier=2, padding="same", name="depthwise"),
                           layers.DepthwiseConv2D(2, strides=2, dilation_rate=2, name="both"),
                           layers.Conv2D(3, 1, name="pointwise"),
                           layers.Conv2D(2, 2, dilation_rate=2, padding="same", name="dilated"), shape=(11, 12, 2))
        self.check(self.step(model, integers(2, 11, 12, 2)),
                   ["strided", "grouped", "depthwise", "both", "pointwise", "dilated"])

    def test_functions(self):
        x = integers(2, 6, 7, 2)
        kernel = tf.Variable(integers(3, 2, 2, 3))
        depthwise = tf.Variable(integers(2, 3, 2, 2))
        step = self.step(lambda x: tf.nn.conv2d(x, kernel, [1, 2, 1, 1], [[0, 0], [1, 0], [2, 1], [0, 0]]), x)
        self.check(step, ["convolution"])
        self.assertEqual(words_of(step.lines()[0])["padding"], "1,0,2,1")
        self.check(self.step(lambda x: tf.nn.convolution(x, kernel, 2, "SAME"), x), ["convolution"])
        self.check(self.step(lambda x: tf.nn.depthwise_conv2d(x, depthwise, [1] * 4, "SAME", dilations=[2, 1]), x),
                   ["convolution"])

    def test_each_call_of_a_layer_has_its_own_gradient(self):
        layer = keras.layers.Conv2D(2, 3, padding="same", use_bias=False, name="shared")
        model = self.model(layer, keras.layers.ReLU(), layer, shape=(6, 5, 2))
        gradients = self.check(self.step(model, integers(2, 6, 5, 2)), ["shared", "shared.call2"])
        np.testing.assert_array_equal(gradients["shared"] + gradients["shared.call2"], self.gradients[0].numpy())

    def test_bfloat16(self):
        kernel = tf.Variable(integers(3, 3, 2, 3))

        def convolve(x):
            y = tf.nn.conv2d(tf.cast(x, tf.bfloat16), tf.cast(kernel, tf.bfloat16), 1, "SAME")
            return tf.cast(y, tf.float32)
        self.check(self.step(convolve, integers(1, 5, 5, 2)), ["convolution"], "bf16")

    def test_eager_fit(self):
        model = self.model(keras.layers.Conv2D(2, 3, name="first"), keras.layers.Flatten(), shape=(4, 4, 1))
        model.compile("sgd", lambda truth, y: tf.reduce_sum(truth * y, axis=-1), run_eagerly=True)
        with capture.tf_step(self.folder, quiet=True) as step:
            model.fit(integers(2, 4, 4, 1), integers(2, 8, seed=9), verbose=0)
        self.check(step, ["first"])

    def test_says_what_it_leaves_out(self):
        layers = keras.layers
        model = self.model(layers.Conv2D(2, 3, name="first"), layers.Conv2DTranspose(2, 2, name="transposed"),
                           layers.SeparableConv2D(2, 2, name="separable"), shape=(6, 5, 2))
        step = self.step(lambda x: tf.nn.conv2d(model(x), integers(2, 2, 2, 1), 1, "SAME"), integers(2, 6, 5, 2))
        self.check(step, ["first"])
        self.assertEqual(sorted(step.skipped), [
            "convolution: no weight gradient was computed (is it frozen, or outside the tape?)",
            "separable: tf.nn.separable_conv2d is not covered", "transposed: tf.nn.conv_transpose is not covered"])

    def test_compiled_functions_are_named(self):
        kernel = tf.Variable(integers(3, 3, 2, 3))
        step = self.step(tf.function(lambda x: tf.nn.conv2d(x, kernel, 1, "SAME")), integers(2, 6, 5, 2))
        self.assertEqual(step.names, [])
        self.assertIn("it was compiled", step.skipped[0])

    def test_tensorflow_is_left_as_it_was(self):
        before = tf.nn.conv2d, tf.nn.convolution, keras.layers.Layer.__call__, vars(keras.layers.Conv2D).copy()
        with self.assertRaises(ZeroDivisionError), capture.tf_step(self.folder, quiet=True):
            self.assertIsNot(tf.nn.conv2d, before[0])
            1 / 0
        after = tf.nn.conv2d, tf.nn.convolution, keras.layers.Layer.__call__, vars(keras.layers.Conv2D).copy()
        self.assertEqual(before, after)


if __name__ == "__main__":
    outcome = unittest.main(exit=False).result
    print(f"{compared} elements of gradients compared")
    for _, why in outcome.skipped:
        print(f"skipped: {why}")
    if not outcome.wasSuccessful():
        sys.exit(1)
    sys.exit(0 if compared else 77)
