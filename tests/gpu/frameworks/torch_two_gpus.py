"""PyTorch on two GPUs: DataParallel in one process, and DistributedDataParallel and fully sharded data in two."""

import os

from common import DEVICE, cannot, deterministic_torch, show_tensors

torch = deterministic_torch()
if DEVICE != "cuda":
    cannot("it takes two GPUs")
if torch.cuda.device_count() < 2:
    cannot("it takes two GPUs")


def network():
    torch.manual_seed(3)
    nn = torch.nn
    return nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.LayerNorm(512), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 64))


def steps(net, batches):
    optimizer = torch.optim.AdamW(net.parameters(), 1e-3)
    for x in batches:
        optimizer.zero_grad()
        torch.square(net(x) - x[:, :64]).mean().backward()
        optimizer.step()


def batches(number, device):
    torch.manual_seed(number)
    return [torch.randn(128, 256).to(device) for _ in range(6)]


def one_process():
    net = torch.nn.DataParallel(network().to("cuda:0"), [0, 1])
    steps(net, batches(9, "cuda:0"))
    show_tensors("DataParallel", net.parameters())
    there = torch.arange(1 << 20, device="cuda:0").to("cuda:1")
    for number in range(8):
        there = (there * 3 + number).to(f"cuda:{number % 2}")
    show_tensors("from one to the other", [there])


def train(rank, results):
    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl", rank=rank, world_size=2)
    net = torch.nn.parallel.DistributedDataParallel(network().cuda(), [rank])
    steps(net, batches(rank, "cuda"))
    from torch.distributed.fsdp import fully_shard

    sharded = network().cuda()
    for layer in sharded:
        if isinstance(layer, torch.nn.Linear):
            fully_shard(layer)
    fully_shard(sharded)
    steps(sharded, batches(rank, "cuda"))
    torch.save([p.detach().cpu() for p in net.parameters()] + [p.full_tensor().detach().cpu() for p in sharded.parameters()],
               f"{results}.{rank}")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    import tempfile

    # First: while a process has sessions with CUPTI on both GPUs others cannot count there.
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29534")
    with tempfile.TemporaryDirectory() as folder:
        results = os.path.join(folder, "weights")
        torch.multiprocessing.spawn(train, (results,), nprocs=2)
        show_tensors("two processes", [tensor for rank in range(2) for tensor in torch.load(f"{results}.{rank}")])
    one_process()
