"""PyTorch's own profiler at work at the same time, which listens to CUPTI too. How many kernels it saw
goes to stderr: replays may be among them."""

import sys

from common import DEVICE, deterministic_torch, show_tensors

torch = deterministic_torch()
from torch.profiler import ProfilerActivity, profile  # noqa: E402

net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 8)).to(DEVICE)
inputs = torch.randn(128, 64).to(DEVICE)


def steps(count):
    for _ in range(count):
        net.zero_grad()
        net(inputs).square().mean().backward()
        with torch.no_grad():
            for weights in net.parameters():
                weights -= 0.1 * weights.grad


activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if DEVICE == "cuda" else [])
steps(1)
for session in range(2):
    with profile(activities=activities) as profiler:
        steps(2)
        if DEVICE == "cuda":
            torch.cuda.synchronize()
    kernels = sum("CUDA" in str(event.device_type) for event in profiler.events())
    print(f"session {session}: the profiler saw {kernels} events on the device", file=sys.stderr)
    show_tensors(f"weights after session {session}", net.parameters())
steps(1)
show_tensors("weights", net.parameters())
