"""The shared part of the framework scripts. Each prints the same bytes on every run, ends with status 77 and
the reason on stderr where it cannot run, and takes another device than the GPU as its argument, to
try the script itself."""

import hashlib
import os
import sys

DEVICE = sys.argv[1] if len(sys.argv) > 1 else "cuda"


def cannot(why):
    print(why, file=sys.stderr)
    sys.exit(77)


def show(name, *arrays):
    """A digest of every byte of some host arrays."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(array.tobytes())
    print(f"{name}: {digest.hexdigest()[:32]}", flush=True)


def deterministic_torch():
    """PyTorch, set to use nothing with results that differ from run to run."""
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    try:
        import torch
    except ImportError as problem:
        cannot(f"no PyTorch: {problem}")
    if DEVICE == "cuda" and not torch.cuda.is_available():
        cannot("PyTorch sees no GPU")
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    torch.manual_seed(7)
    return torch


def show_tensors(name, tensors):
    show(name, *(tensor.detach().cpu().numpy() for tensor in tensors))
