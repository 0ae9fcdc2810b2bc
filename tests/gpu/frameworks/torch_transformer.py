"""Training in bf16: twelve layers of a transformer, a step or two with each implementation of attention that
PyTorch has. cuBLASLt and cuDNN bring kernels that they build while the program runs. WHOLE: at least 99 % of
the launches have every default metric. "torch_transformer.py cuda BACKEND STEPS" trains with that one alone."""

import sys

from common import DEVICE, deterministic_torch, show_tensors

torch = deterministic_torch()
nn, functional = torch.nn, torch.nn.functional
# Not every implementation has a deterministic way back; the results of these were the same in each run.
torch.use_deterministic_algorithms(True, warn_only=True)


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
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(functional.gelu(self.up(self.after(x))))


def train(name, steps=1, wrap=lambda net: net):
    torch.manual_seed(7)
    net = nn.Sequential(*[Block(256, 4) for _ in range(12)]).to(DEVICE, torch.bfloat16)
    step_of = wrap(net)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    x = torch.randn(2, 128, 256, device=DEVICE, dtype=torch.bfloat16)
    for step in range(steps):
        loss = step_of(x).float().square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{name}, step {step}: loss {loss.item():.9g}", flush=True)
    show_tensors(f"{name}, weights", [weights.float() for weights in net.parameters()])


if DEVICE == "cuda":
    from torch.nn.attention import SDPBackend, sdpa_kernel
    if len(sys.argv) > 3:
        with sdpa_kernel(getattr(SDPBackend, sys.argv[2])):
            train(sys.argv[2].lower(), int(sys.argv[3]))
        sys.exit(0)
    for backend in ("CUDNN_ATTENTION", "FLASH_ATTENTION", "EFFICIENT_ATTENTION", "MATH"):
        with sdpa_kernel(getattr(SDPBackend, backend)):
            train(backend.lower(), 2 if backend == "CUDNN_ATTENTION" else 1)
    train("compiled", wrap=torch.compile)
else:
    train("math")
