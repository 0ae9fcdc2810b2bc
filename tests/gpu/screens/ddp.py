#!/usr/bin/env python3
"""Trains a network of linear layers by DistributedDataParallel: torchrun --nproc-per-node 2 ddp.py"""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")
rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
torch.manual_seed(rank)
layers = [m for _ in range(6) for m in (nn.Linear(2048, 2048), nn.GELU(), nn.LayerNorm(2048))]
model = DistributedDataParallel(nn.Sequential(*layers, nn.Linear(2048, 1000)).cuda(), device_ids=[rank])
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(40):
    x, y = torch.randn(1024, 2048, device="cuda"), torch.randint(0, 1000, (1024,), device="cuda")
    with torch.autocast("cuda", torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(rank, loss.item(), flush=True)
dist.destroy_process_group()
