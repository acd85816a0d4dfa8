"""Trains a small network on a picture, and judges the weight gradient of every convolution in its last step.

    ./run install pytorch
    ./run python examples/training_step.py
    ./run python --of tensorflow examples/training_step.py --framework tensorflow

The task is to tell how many quarter turns the picture was turned by. Exit status 0: every gradient is right; 1: one is
wrong; 2: there is no picture or no wgrad. --break-it makes one number of one gradient a hundredth too large.
"""

import argparse
import os
import sys
from collections import OrderedDict
from importlib.util import find_spec

import capture  # clients/python/capture.py; `wgrad python` puts it on the path
import numpy as np

# A photograph of the package darknet, where PIL is there to decode it; the logo that comes with Debian's Python.
PICTURES = ["/usr/share/darknet/data/dog.jpg", "/usr/share/pixmaps/python3.xpm"]
TURNS = np.arange(8) % 4  # of each picture in the batch


def read_xpm(path):
    """An XPM picture [ih, iw, c = 3]: quoted lines, first sizes, then the colour of each key, then rows of keys."""
    with open(path, encoding="latin-1") as file:
        lines = [line.split('"')[1] for line in file if line.startswith('"')]
    width, height, colours, size = map(int, lines[0].split()[:4])
    words = {line[:size]: line.split()[-1] for line in lines[1:colours + 1]}  # #RRGGBB, or None: transparent
    rgb = {key: bytes.fromhex("ffffff" if word == "None" else word[1:]) for key, word in words.items()}
    rows = lines[colours + 1:colours + 1 + height]
    return np.array([[list(rgb[row[at:at + size]]) for at in range(0, width * size, size)] for row in rows])


def read_photograph(path):
    from PIL import Image
    return np.array(Image.open(path).convert("RGB"))


def load_batch(wanted):
    """The middle of a picture, turned by TURNS and the second time mirrored: float32 [n = 8, ih, iw, c = 3]."""
    readable = [path for path in wanted if os.path.exists(path) and (path.endswith(".xpm") or find_spec("PIL"))]
    if not readable:
        raise RuntimeError(f"none of these can be read, name a picture with --picture: {', '.join(wanted)}")
    picture = read_xpm(readable[0]) if readable[0].endswith(".xpm") else read_photograph(readable[0])
    side = min(64, *picture.shape[:2])
    top, left = ((extent - side) // 2 for extent in picture.shape[:2])
    square = picture[top:top + side, left:left + side].astype(np.float32) / 127.5 - 1
    print(f"picture: {readable[0]}, {side} x {side} pixels of its middle, in eight orientations")
    return np.stack([np.rot90((square, square[::-1])[n // 4], turns) for n, turns in enumerate(TURNS)])


def train_pytorch(batch, settings):
    import torch
    from torch.nn import Conv2d, ReLU
    torch.manual_seed(1)
    model = torch.nn.Sequential(OrderedDict(
        stem=Conv2d(3, 8, 3, stride=2, padding=1), relu1=ReLU(), depthwise=Conv2d(8, 8, 3, padding=1, groups=8),
        pointwise=Conv2d(8, 16, 1), relu2=ReLU(), grouped=Conv2d(16, 16, (3, 2), padding=(1, 0), groups=4),
        dilated=Conv2d(16, 4, 3, dilation=2), pool=torch.nn.AdaptiveAvgPool2d(1)))
    images, turns = torch.from_numpy(batch.transpose(0, 3, 1, 2).copy()), torch.from_numpy(TURNS)  # NCHW
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images)[:, :, 0, 0], turns).backward()
        optimizer.step()
    train()
    with capture.torch_step(model, **settings) as step:
        train()
    return step


def train_tensorflow(batch, settings):
    import keras
    from keras.layers import Conv2D, DepthwiseConv2D, GlobalAveragePooling2D
    keras.utils.set_random_seed(1)
    model = keras.Sequential([
        Conv2D(8, 3, strides=2, padding="same", activation="relu", name="stem"),
        DepthwiseConv2D(3, padding="same", name="depthwise"), Conv2D(16, 1, activation="relu", name="pointwise"),
        Conv2D(16, (3, 2), padding="same", groups=4, name="grouped"), Conv2D(4, 3, dilation_rate=2, name="dilated"),
        GlobalAveragePooling2D()])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), run_eagerly=True)
    model.train_on_batch(batch, TURNS)
    with capture.tf_step(**settings) as step:
        model.train_on_batch(batch, TURNS)
    return step


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--framework", choices=["pytorch", "tensorflow"], default="pytorch")
    options.add_argument("--picture", nargs=1, default=PICTURES, help="one of your own: .xpm, or what PIL decodes")
    options.add_argument("--folder", default="build/captured", help="where the arrays go; default build/captured")
    options.add_argument("--wgrad", help="the program; default the environment's WGRAD_PROGRAM, else wgrad")
    options.add_argument("--break-it", action="store_true", help="falsify a number, to see what is said then")
    words = options.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # TensorFlow tells much of itself as it starts
    train = train_pytorch if words.framework == "pytorch" else train_tensorflow
    step = train(load_batch(words.picture), {"folder": words.folder, "wgrad": words.wgrad, "quiet": True})
    if words.break_it:
        gradient = np.load(step.path("stem", "weight_gradient"))
        gradient.flat[np.argmax(abs(gradient))] *= 1.01
        np.save(step.path("stem", "weight_gradient"), gradient)
    results = step.judge()
    for result in results:
        print(f"{result.name:10} {result.problem:48} {result.verdict}, grade {result.grade}")
    wrong = [f"\n{result.name}: {result.report}" for result in results if result.exit_code != 0]
    print("".join(wrong), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RuntimeError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
