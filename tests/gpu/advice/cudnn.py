"""A convolution of cuDNN's by PyTorch, large enough for the tensor cores. --there: says why not, and fails."""

import sys

try:
    import torch
except ImportError:
    sys.exit("there is no PyTorch")
if not torch.cuda.is_available():
    sys.exit("PyTorch finds no GPU")
if not torch.backends.cudnn.is_available():
    sys.exit("PyTorch has no cuDNN")
if "--there" in sys.argv:
    sys.exit(0)

image = torch.randn(128, 512, 56, 56, device="cuda", dtype=torch.half).to(memory_format=torch.channels_last)
layer = torch.nn.Conv2d(512, 512, 3, padding=1, bias=False, device="cuda", dtype=torch.half)
layer = layer.to(memory_format=torch.channels_last)
with torch.no_grad():
    for _ in range(4):
        layer(image)
torch.cuda.synchronize()
