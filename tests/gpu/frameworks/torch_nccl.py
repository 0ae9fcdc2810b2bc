"""NCCL between two GPUs, whose kernels wait for each other: of one process, and of two that train a
network together. The numbers are small integers, whose sums are exact in any order."""

import os

from common import DEVICE, cannot, deterministic_torch, show_tensors

torch = deterministic_torch()
if DEVICE != "cuda":
    cannot("there is no NCCL but on the GPU")
if torch.cuda.device_count() < 2:
    cannot("it takes two GPUs")
if not torch.distributed.is_nccl_available():
    cannot("PyTorch has no NCCL")


def one_process():
    """Both GPUs' kernels are launched by one thread, one after the other."""
    parts = [torch.arange(100000.0, device=f"cuda:{i}") % (7 + i) for i in range(2)]
    for step in range(3):
        parts = [part + step for part in parts]
        torch.cuda.nccl.all_reduce(parts)
        parts = [part % 11 for part in parts]
    show_tensors("one process", parts)
    there = parts[0].to("cuda:1") + parts[1]
    show_tensors("copied to the other GPU", [there])


def train(rank, results):
    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl", rank=rank, world_size=2)
    inputs = (torch.arange(32 * 16.0, device="cuda").view(32, 16) * (rank + 1)) % 5 - 2
    weights = (torch.arange(16 * 8.0, device="cuda").view(16, 8) % 3 - 1).requires_grad_()
    for _ in range(3):
        (inputs @ weights).sum().backward()
        torch.distributed.all_reduce(weights.grad)
        with torch.no_grad():
            weights -= weights.grad % 4
        weights.grad = None
    torch.save(weights.detach().cpu(), f"{results}.{rank}")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    import tempfile

    one_process()
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29533")
    with tempfile.TemporaryDirectory() as folder:
        results = os.path.join(folder, "weights")
        torch.multiprocessing.spawn(train, (results,), nprocs=2)
        show_tensors("two processes", [torch.load(f"{results}.{rank}") for rank in range(2)])
