"""PyTorch's own profiler at work at the same time, which uses CUPTI too: with CUDA's activities, without, and the
range of cudaProfilerStart. The kernels that it saw are the script's own."""

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
for session, kinds in enumerate((activities, activities, activities[:1])):
    with profile(activities=kinds) as profiler:
        steps(2)
        if DEVICE == "cuda":
            torch.cuda.synchronize()
    kernels = sorted(event.name for event in profiler.events() if "CUDA" in str(event.device_type))
    print(f"session {session}: the profiler saw {len(kernels)} events on the device: {sorted(set(kernels))}")
    show_tensors(f"weights after session {session}", net.parameters())
if DEVICE == "cuda":
    torch.cuda.profiler.start()
steps(1)
if DEVICE == "cuda":
    torch.cuda.profiler.stop()
show_tensors("weights", net.parameters())
