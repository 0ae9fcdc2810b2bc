"""The shared part of the framework scripts. Each prints the same bytes on every run, ends with status 77 and
the reason on stderr where it cannot run, and takes another device than the GPU as its argument, to
try the script itself."""

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile

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


def jax_devices(least=1, flags="--xla_gpu_autotune_level=0 --xla_gpu_deterministic_ops=true"):
    """JAX's devices, at least so many. By default kernels are not tuned, so that all runs choose alike."""
    os.environ["XLA_FLAGS"] = (flags + " " + os.environ.get("XLA_FLAGS", "")).strip()
    try:
        import jax
    except ImportError as problem:
        cannot(f"no JAX: {problem}")
    try:
        devices = jax.devices("gpu" if DEVICE == "cuda" else DEVICE)
    except RuntimeError as problem:
        cannot(f"JAX sees no GPU: {str(problem).splitlines()[0]}")
    if len(devices) < least:
        cannot(f"it takes {least} GPUs")
    return devices


def cupy_on_gpus(least=1):
    """CuPy, with at least so many GPUs."""
    try:
        import cupy
    except ImportError as problem:
        cannot(f"no CuPy: {problem}")
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as problem:
        cannot(f"CuPy sees no GPU: {problem}")
    if count < least:
        cannot(f"it takes {least} GPUs")
    return cupy


@contextlib.contextmanager
def own_cache():
    """Empty folders for all that PyTorch and Triton compile meanwhile: it is compiled anew, also under gpuprof.
    Before PyTorch is imported."""
    cache = tempfile.mkdtemp(prefix="compiled-")
    os.environ.update(TORCHINDUCTOR_CACHE_DIR=os.path.join(cache, "inductor"),
                      TRITON_CACHE_DIR=os.path.join(cache, "triton"), TORCHINDUCTOR_COMPILE_THREADS="1")
    try:
        yield
    finally:
        shutil.rmtree(cache, ignore_errors=True)


def compiling_torch(only_on_gpu=False):
    """PyTorch as above, where it can compile: with a C compiler, and on the GPU with Triton. Some scripts are of
    no use but on the GPU."""
    torch = deterministic_torch()
    if only_on_gpu and DEVICE != "cuda":
        cannot("this script needs the GPU")
    if not any(shutil.which(name) for name in (os.environ.get("CC", "cc"), "gcc", "clang")):
        cannot("there is no C compiler, which PyTorch and Triton need")
    if DEVICE == "cuda":
        try:
            import triton  # noqa: F401
        except ImportError as problem:
            cannot(f"no Triton: {problem}")
    return torch


def show_tensors(name, tensors):
    show(name, *(tensor.detach().cpu().numpy() for tensor in tensors))
