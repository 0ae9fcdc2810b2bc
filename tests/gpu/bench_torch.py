#!/usr/bin/env python3
"""bench_torch.py [steps] [device] [warm-up]: trains a small network in PyTorch and times its loop of
steps (10, after two that warm up). Prints the last loss and a digest of the weights, which are the same on every
run. Ends with status 77 and the reason on stderr where it cannot be run."""

import ctypes
import hashlib
import os
import sys
import time

from with_torch import cannot, torch_on

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 10
DEVICE = sys.argv[2] if len(sys.argv) > 2 else "cuda"
WARM = int(sys.argv[3]) if len(sys.argv) > 3 else 2  # tests/gpu/bench_report.py knows this number

torch = torch_on(DEVICE)

torch.use_deterministic_algorithms(True)
torch.manual_seed(1)
# Made on the host, so that no kernel runs but those of the steps.
net = torch.nn.Sequential(
    torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024), torch.nn.ReLU(),
    torch.nn.Linear(1024, 10)).to(DEVICE)
inputs, wanted = torch.randn(256, 512).to(DEVICE), torch.randn(256, 10).to(DEVICE)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)


def step():
    optimizer.zero_grad(set_to_none=True)
    loss = torch.nn.functional.mse_loss(net(inputs), wanted)
    loss.backward()
    optimizer.step()
    return loss


def settle():
    """As settle in bench_programs/bench.h: gpuprof has measured all launches before."""
    if DEVICE != "cuda":
        return
    torch.cuda.synchronize()
    driver, stack_size, size = ctypes.CDLL("libcuda.so.1"), 0, ctypes.c_size_t()
    if driver.cuCtxGetLimit(ctypes.byref(size), stack_size) or driver.cuCtxSetLimit(stack_size, size):
        cannot("its context has no limit of the stack")


for _ in range(WARM):
    last = step()
settle()
start = time.perf_counter()
for _ in range(STEPS):
    last = step()
settle()
print(f"loop: {time.perf_counter() - start:.9f} s, {STEPS} steps")

digest = hashlib.sha256()
for weights in net.parameters():
    digest.update(weights.detach().cpu().numpy().tobytes())
print(f"torch {STEPS} steps: loss {last.item():.9g}, weights {digest.hexdigest()[:16]}")
