"""PyTorch for the scripts beside this file, which end with status 77 and the reason on stderr where it is not there."""

import sys


def cannot(why):
    print(why, file=sys.stderr)
    sys.exit(77)


def torch_on(device):
    """The module, where it sees a GPU if that is the device."""
    try:
        import torch
    except ImportError as problem:
        cannot(f"no PyTorch: {problem}")
    if device == "cuda" and not torch.cuda.is_available():
        cannot("PyTorch sees no GPU")
    return torch
