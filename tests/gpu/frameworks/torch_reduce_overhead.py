"""torch.compile with mode="reduce-overhead": its kernels run in CUDA graphs that PyTorch captures, with memory
pools of their own. Small integers, as in torch_compiled.py."""

import os
import shutil
import tempfile

from common import DEVICE, cannot, deterministic_torch, show_tensors

cache = tempfile.mkdtemp(prefix="reduced-")
os.environ.update(TORCHINDUCTOR_CACHE_DIR=os.path.join(cache, "inductor"),
                  TRITON_CACHE_DIR=os.path.join(cache, "triton"), TORCHINDUCTOR_COMPILE_THREADS="1")
try:
    torch = deterministic_torch()
    if DEVICE != "cuda":
        cannot("there are no graphs but on the GPU")
    if not any(shutil.which(name) for name in (os.environ.get("CC", "cc"), "gcc", "clang")):
        cannot("there is no C compiler, which Triton needs")

    @torch.compile(mode="reduce-overhead")
    def work(x, w):
        y = torch.relu(x @ w)
        return torch.where(y > 3, 2 * y - 1, y), y.sum(dim=0)

    w = torch.randint(-1, 2, (128, 64)).float().cuda()
    for number in range(6):
        torch.compiler.cudagraph_mark_step_begin()
        x = torch.randint(-2, 3, (256, 128)).float().cuda()
        y, sums = work(x, w)
        w = torch.sign(w + sums.clone())
        show_tensors(f"step {number}", (y, sums, w))
finally:
    shutil.rmtree(cache, ignore_errors=True)
