"""tinygrad: kernels compiled by NVRTC while the program runs, a training and a forward pass under TinyJit, whose launches
become nodes of graphs that may run side by side.
WHOLE: each launch has all default metrics."""

import os
import sys
import tempfile

from common import DEVICE, cannot, show

os.environ["TRAINING"] = "1"
os.environ["DEV"] = "CUDA" if DEVICE == "cuda" else DEVICE
os.environ["CACHEDB"] = os.path.join(tempfile.mkdtemp(prefix="tinygrad-"), "cache.db")  # all is compiled anew
try:
    from tinygrad import Device, Tensor, TinyJit, nn
    device = Device[Device.DEFAULT]
except Exception as problem:  # noqa: BLE001  tinygrad raises many kinds where a library is missing
    cannot(f"no tinygrad on {DEVICE}: {problem}")
if Device.DEFAULT != os.environ["DEV"]:
    sys.exit(f"tinygrad uses {Device.DEFAULT}")

Tensor.manual_seed(5)


class Network:
    def __init__(self):
        self.first, self.second = nn.Linear(64, 128), nn.Linear(128, 10)
        self.convolution = nn.Conv2d(1, 4, 3, padding=1)

    def __call__(self, x):
        x = self.convolution(x.reshape(-1, 1, 8, 8)).relu().mean(axis=1).reshape(-1, 64)
        return self.second(self.first(x).gelu().layernorm())


network = Network()
optimizer = nn.optim.Adam(nn.state.get_parameters(network), lr=0.01)
images, labels = Tensor.rand(96, 64).realize(), (Tensor.arange(96) % 10).realize()


@TinyJit
def step():
    optimizer.zero_grad()
    loss = network(images).sparse_categorical_crossentropy(labels).backward()
    return loss.realize(*optimizer.schedule_step())


@TinyJit
def forward(x):
    return network(x).softmax().realize()


Tensor.training = True  # as older releases want it
losses = [step().numpy() for _ in range(12)]
show("losses", *losses)
print("it learns:", bool(losses[-1] < losses[0]))
for number in range(6):
    x = (images + 0.01 * number).realize()
    show(f"forward, {number}", forward(x).numpy())
show("sorted and summed up", images.sort(dim=1)[0].numpy(), images.cumsum(axis=0).numpy())
