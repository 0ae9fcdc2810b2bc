"""PyTorch with expandable segments: memory is mapped into a reserved range of addresses as it is
needed, and unmapped when the cache is emptied."""

import os

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"

from common import DEVICE, deterministic_torch, show_tensors  # noqa: E402

torch = deterministic_torch()
kept = []
for step in range(4):
    grown = [torch.arange(size << 18, device=DEVICE, dtype=torch.int32)
             for size in (1, 3, 9, 20 + 10 * step)]
    for block in grown:
        block.mul_(3).add_(step)
    kept.append(grown[step])
    del grown
    if DEVICE == "cuda":
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
    for block in kept:
        block.add_(block.flip(0))
show_tensors("kept", kept)
if DEVICE == "cuda":
    segments = torch.cuda.memory_snapshot()
    print("expandable:", all(segment.get("is_expandable") for segment in segments))
