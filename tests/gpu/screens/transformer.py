#!/usr/bin/env python3
"""Trains a small GPT in bf16 with AdamW, on made-up documents of changing lengths.

    transformer.py STEPS [busy]

With "busy" it prints the seconds in which kernels ran, by PyTorch's own profiler."""

import sys

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, BLOCKS, HEADS, WORDS, BATCH = 768, 8, 12, 16384, 8
LENGTHS = (256, 384, 512, 768)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before_attention, self.before_layers = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        qkv = self.qkv(self.before_attention(x)).view(batch, length, 3, HEADS, WIDTH // HEADS)
        y = F.scaled_dot_product_attention(*qkv.permute(2, 0, 3, 1, 4), is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.down(F.gelu(self.up(self.before_layers(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.positions = nn.Embedding(WORDS, WIDTH), nn.Embedding(max(LENGTHS), WIDTH)
        self.blocks = nn.Sequential(*[Block() for _ in range(BLOCKS)])
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, words):
        x = self.words(words) + self.positions(torch.arange(words.shape[1], device=words.device))
        return self.head(self.norm(self.blocks(x)))


def train(steps):
    torch.manual_seed(1)
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, foreach=True)
    for step in range(steps):
        words = torch.randint(0, WORDS, (BATCH, LENGTHS[step % 4] + 1), device="cuda")
        with torch.autocast("cuda", torch.bfloat16):
            loss = F.cross_entropy(model(words[:, :-1]).flatten(0, 1).float(), words[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 10 == 9:
            print(step + 1, f"{loss.item():.4f}", flush=True)
    torch.cuda.synchronize()


if "busy" not in sys.argv:
    train(int(sys.argv[1]))
else:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        train(int(sys.argv[1]))
    on_gpu = [e for e in profile.events() if str(e.device_type).endswith("CUDA") and not e.name.startswith("Mem")]
    print("kernel_seconds", sum(e.device_time_total for e in on_gpu) / 1e6)
