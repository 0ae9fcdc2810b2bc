#!/usr/bin/env python3
"""limit_torch.py train|decode|graphs COUNT [device]: work in PyTorch for tests/gpu/limit, with the time of its loop.

"train": COUNT steps of a 12-layer transformer in bf16, with sequences of changing lengths. "decode": COUNT tokens, one
after the other, of a small Llama (6 layers, a cache of keys and values); "graphs": the same, each token a CUDA
graph. Prints the time from the network's begin on and a digest of the results, which is the same on every run. Ends with
status 77 and the reason on stderr where it cannot be run."""

import ctypes
import hashlib
import os
import sys
import time

from with_torch import cannot, torch_on

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
KIND, COUNT = sys.argv[1], int(sys.argv[2])
DEVICE = sys.argv[3] if len(sys.argv) > 3 else "cuda"
LENGTHS = (128, 96, 160, 64, 192, 112)  # of sequences, in steps one after the other

torch = torch_on(DEVICE)
nn, functional = torch.nn, torch.nn.functional
torch.use_deterministic_algorithms(True, warn_only=True)
torch.manual_seed(7)


def settle():
    """As settle in bench_programs/bench.h: gpuprof has measured all launches before."""
    if DEVICE != "cuda":
        return
    torch.cuda.synchronize()
    driver, stack_size, size = ctypes.CDLL("libcuda.so.1"), 0, ctypes.c_size_t()
    if driver.cuCtxGetLimit(ctypes.byref(size), stack_size) or driver.cuCtxSetLimit(stack_size, size):
        cannot("its context has no limit of the stack")


# ---- a training ------------------------------------------------------------------------------

class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.to_qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        qkv = self.to_qkv(self.before(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-1, -2)) / (width // self.heads) ** 0.5
        mask = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        seen = scores.masked_fill(mask, float("-inf")).softmax(-1) @ v
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(functional.gelu(self.up(self.after(x))))


def training():
    net = nn.Sequential(*[Block(512, 8) for _ in range(12)]).to(DEVICE, torch.bfloat16)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
    batches = [torch.randn(8, length, 512).to(DEVICE, torch.bfloat16) for length in LENGTHS]

    def step(number):
        loss = net(batches[number % len(batches)]).float().square().mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.item()  # the host waits once a step

    return step


# ---- inference -------------------------------------------------------------------------------

MOST_TOKENS = 512  # in the cache; then it begins anew


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.k, self.v, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.gate, self.up = (nn.Linear(width, 4 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(4 * width, width, bias=False)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, heads, MOST_TOKENS, width // heads))

    def forward(self, x, at, mask):
        heads = [part(self.before(x)).view(1, 1, self.heads, -1).transpose(1, 2) for part in (self.q, self.k, self.v)]
        self.keys.index_copy_(2, at, heads[1])
        self.values.index_copy_(2, at, heads[2])
        scores = heads[0] @ self.keys.transpose(-1, -2) / heads[0].shape[-1] ** 0.5 + mask
        x = x + self.out((scores.softmax(-1) @ self.values).transpose(1, 2).reshape(x.shape))
        y = self.after(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, width=1024, heads=16, layers=6, words=32000):
        super().__init__()
        self.embed, self.head = nn.Embedding(words, width), nn.Linear(width, words, bias=False)
        self.layers, self.norm = nn.ModuleList(Layer(width, heads) for _ in range(layers)), nn.LayerNorm(width)
        self.register_buffer("positions", torch.arange(MOST_TOKENS))

    def forward(self, token, at):
        mask = torch.where(self.positions <= at, 0.0, -1e4).to(self.head.weight.dtype)
        x = self.embed(token).view(1, 1, -1)
        for layer in self.layers:
            x = layer(x, at, mask)
        return self.head(self.norm(x)).argmax(-1).view(1)


def decoding(as_graph):
    net = Llama().to(DEVICE, torch.bfloat16)
    token, at = torch.ones(1, dtype=torch.long, device=DEVICE), torch.zeros(1, dtype=torch.long, device=DEVICE)

    @torch.no_grad()
    def one():
        token.copy_(net(token, at))
        at.add_(1).remainder_(MOST_TOKENS)

    run = one
    if as_graph:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            one()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            one()
        run = graph.replay

    def step(_):
        run()
        return token.item()

    return step


STEPS = {"train": training, "decode": lambda: decoding(False), "graphs": lambda: decoding(True)}
if KIND not in STEPS:
    sys.exit(f"limit_torch.py: no work '{KIND}'; there are {', '.join(STEPS)}")
if KIND == "graphs" and DEVICE != "cuda":
    cannot("there are no graphs but on the GPU")
settle()  # the context is there
start = time.perf_counter()
step = STEPS[KIND]()
results = [step(number) for number in range(COUNT)]
settle()
print(f"loop: {time.perf_counter() - start:.9f} s, {COUNT} steps")
digest = hashlib.sha256(" ".join(f"{one:.9g}" for one in results).encode()).hexdigest()
print(f"{KIND} {COUNT} steps: {digest[:16]}")
