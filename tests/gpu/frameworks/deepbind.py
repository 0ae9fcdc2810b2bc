"""A library that is loaded with RTLD_DEEPBIND, whose static CUDA runtime asks the linker's own dlsym, as Taichi's core
is. WHOLE: each launch is measured."""

import ctypes
import os
import shutil
import subprocess
import tempfile

from common import DEVICE, cannot

SOURCE = """
#include <cstdio>
__global__ void step(float *x) { x[threadIdx.x] = x[threadIdx.x] * 2 + 1; }
extern "C" int compute()
{
    float *x, y[32];
    if (cudaMalloc(&x, 4096) || cudaMemset(x, 0, 4096)) return 1;
    for (int i = 0; i < 5; i++) step<<<1, 32>>>(x);
    if (cudaMemcpy(y, x, sizeof y, cudaMemcpyDeviceToHost)) return 1;
    printf("%g\\n", y[31]);
    fflush(stdout);
    return cudaFree(x);
}
"""

if DEVICE != "cuda":
    cannot("this script needs the GPU")
if not shutil.which("nvcc"):
    cannot("there is no nvcc")
with tempfile.TemporaryDirectory() as folder:
    source, library = os.path.join(folder, "deep.cu"), os.path.join(folder, "libdeep.so")
    with open(source, "w", encoding="utf-8") as file:
        file.write(SOURCE)
    built = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    subprocess.run(["nvcc", "-arch=native", "-shared", "-Xcompiler", "-fPIC", "-o", library, source], check=True, env=built)
    print(ctypes.CDLL(library, mode=os.RTLD_NOW | os.RTLD_DEEPBIND).compute())
