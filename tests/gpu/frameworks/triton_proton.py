"""Triton's profiler Proton, which brings a copy of CUPTI of its own: started, ended and started again, behind
launches that were measured. The launches that it counted are the script's own, and no others."""

import glob
import json
import os
import tempfile

from common import cannot, compiling_torch, own_cache, show_tensors

with own_cache():
    torch = compiling_torch(only_on_gpu=True)
    import triton
    import triton.language as tl
    try:
        import triton.profiler as proton
    except ImportError as problem:
        cannot(f"no Proton: {problem}")

    @triton.jit
    def add(x, y, size, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + at, tl.load(x + at, mask=at < size) + tl.load(y + at, mask=at < size), mask=at < size)

    x = torch.ones(4096, device="cuda")
    y = torch.zeros(4096, device="cuda")

    def steps(count):
        for _ in range(count):
            add[(4,)](x, y, 4096, BLOCK=1024)
        torch.cuda.synchronize()

    def counted(node):
        """Each kernel by its name, with the launches that Proton has counted."""
        names = {}
        if "count" in node.get("metrics", {}):
            names[node["frame"]["name"]] = node["metrics"]["count"]
        for child in node.get("children", []):
            for name, count in counted(child).items():
                names[name] = names.get(name, 0) + count
        return names

    steps(3)
    with tempfile.TemporaryDirectory() as folder:
        for session in range(2):
            path = os.path.join(folder, f"session{session}")
            proton.start(path)
            steps(4)
            proton.finalize()
            with open(glob.glob(path + "*")[0], encoding="utf-8") as file:
                for tree in json.load(file):
                    if "frame" in tree:
                        print(f"session {session}: {sorted(counted(tree).items())}")
            steps(2)
    show_tensors("sums", (y,))
