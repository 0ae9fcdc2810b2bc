#!/usr/bin/env python3
"""jobs_torch.py KIND COUNT [device]: ordinary work in PyTorch for tests/gpu/jobs, with the time of its loop.

"bert": COUNT training steps of a small BERT in bf16. "cnn": of a network of convolutions, each with the algorithm that
cuDNN finds quickest. "gaussian": of a Gaussian process. "graph": of a network on a graph. "algebra": sorts, Fourier
transforms, dense and sparse linear algebra, COUNT times. Prints the time from the first step on, and the results as
far as they are the same on every run. Ends with status 77 and the reason on stderr where it cannot be run."""

import sys
import time

from with_torch import torch_on

KIND, COUNT = sys.argv[1], int(sys.argv[2])
DEVICE = sys.argv[3] if len(sys.argv) > 3 else "cuda"

torch = torch_on(DEVICE)
nn, functional = torch.nn, torch.nn.functional
torch.manual_seed(7)


def trained(net, loss_of, rate=1e-3):
    """A step of training; its result is the loss."""
    optimizer = torch.optim.AdamW(net.parameters(), rate)

    def step(_):
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def bert():
    words, width = 30522, 512
    layer = nn.TransformerEncoderLayer(width, 8, 4 * width, 0.1, "gelu", batch_first=True)
    net = nn.Sequential(nn.Embedding(words, width), nn.TransformerEncoder(layer, 6), nn.Linear(width, words)).to(DEVICE)
    text = torch.randint(words, (8, 128), device=DEVICE)

    def loss():
        with torch.autocast(DEVICE, torch.bfloat16):
            return functional.cross_entropy(net(text).view(-1, words), text.view(-1))

    return trained(net, loss)


def cnn():
    torch.backends.cudnn.benchmark = True
    layers, channels = [], 3
    for more in (32, 64, 64, 128, 128, 256):
        layers += [nn.Conv2d(channels, more, 3, 1 + (more > channels > 3), 1), nn.BatchNorm2d(more), nn.ReLU()]
        channels = more
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10)).to(DEVICE)
    images, classes = torch.randn(32, 3, 64, 64, device=DEVICE), torch.randint(10, (32,), device=DEVICE)
    step, losses = trained(net, lambda: functional.cross_entropy(net(images), classes)), []

    def falls(number):
        """1 where the loss falls: its third digit depends on the algorithms, which differ from run to run."""
        losses.append(step(number))
        return losses[-1] <= min(losses)

    return falls


class Gaussian(nn.Module):
    """The negative logarithm of the likelihood, by a radial kernel."""

    def __init__(self, points):
        super().__init__()
        self.logs = nn.Parameter(torch.zeros(3))
        self.x = torch.linspace(0, 1, points, device=DEVICE, dtype=torch.float64)
        self.y = torch.sin(12 * self.x) + 0.1 * torch.randn_like(self.x)

    def forward(self):
        length, scale, noise = (self.logs - 1).exp()
        apart = (self.x[:, None] - self.x[None, :]) / length
        kernel = scale * (-apart.square() / 2).exp() + (noise + 1e-4) * torch.eye(len(self.x), device=DEVICE)
        root = torch.linalg.cholesky(kernel)
        solved = torch.cholesky_solve(self.y[:, None], root)
        return self.y @ solved[:, 0] / 2 + root.diagonal().log().sum()


def gaussian():
    net = Gaussian(800).to(DEVICE)
    return trained(net, net, 0.05)


def graph():
    nodes, edges, width = 20000, 100000, 64
    ends = torch.randint(nodes, (2, edges), device=DEVICE)
    features, classes = torch.randn(nodes, width, device=DEVICE), torch.randint(7, (nodes,), device=DEVICE)
    layers = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(3)).to(DEVICE)
    last = nn.Linear(width, 7).to(DEVICE)
    net = nn.ModuleList([layers, last])

    def loss():
        x = features
        for layer in layers:
            sums = torch.zeros_like(x).index_add(0, ends[1], x[ends[0]])
            count = torch.ones(nodes, device=DEVICE).index_add(0, ends[1], torch.ones(edges, device=DEVICE))
            x = functional.relu(layer(torch.cat([x, sums / count[:, None]], 1)))
        return functional.cross_entropy(last(x), classes)

    return trained(net, loss)


def algebra():
    def step(number):
        n = 256 * (1 + number % 3)
        a = torch.randn(n, n, device=DEVICE)
        whole = torch.randint(1 << 20, (n * n,), device=DEVICE)
        positive = a @ a.T + n * torch.eye(n, device=DEVICE)
        sparse = torch.where(a > 1.5, a, 0.0).to_sparse_csr()
        return sum(float(one) for one in (
            whole.sort().values[n], a.sort(1).values[0, 0], whole.unique().numel(), a.topk(5).values[0, 0],
            a.cumsum(1)[0, -1], torch.fft.fft2(a).abs().mean(), torch.fft.rfft(a[:, :-1]).abs().mean(), (sparse @ a).mean(),
            torch.linalg.cholesky(positive).mean(), torch.linalg.solve(positive, a).mean(), torch.linalg.qr(a).R.abs().mean(),
            torch.linalg.eigvalsh(positive[:128, :128]).mean(), torch.linalg.svdvals(a[:64, :64]).mean(),
            torch.linalg.slogdet(positive).logabsdet, a.double().matmul(a.double()).mean(), a.median(), a.histc(50).max()))

    return step


STEPS = {"bert": bert, "cnn": cnn, "gaussian": gaussian, "graph": graph, "algebra": algebra}
if KIND not in STEPS:
    sys.exit(f"jobs_torch.py: no work '{KIND}'; there are {', '.join(STEPS)}")
torch.zeros(1, device=DEVICE).item()  # the context is there
start = time.perf_counter()
job = STEPS[KIND]()
results = [job(number) for number in range(COUNT)]
print(f"loop: {time.perf_counter() - start:.9f} s, {COUNT} steps")
print(f"{KIND} {COUNT} steps: {' '.join(f'{one:.3g}' for one in results)}")
