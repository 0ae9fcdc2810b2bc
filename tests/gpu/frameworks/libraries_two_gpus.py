"""NVIDIA's libraries on two GPUs of one process: a Fourier transform of cuFFT over both, products of cuBLAS Xt, and
kernels that read the other GPU's memory."""

import ctypes

from common import cupy_on_gpus, show

cupy = cupy_on_gpus(2)
import numpy  # noqa: E402


def transformed():
    cupy.fft.config.use_multi_gpus = True
    cupy.fft.config.set_cufft_gpus([0, 1])
    numbers = numpy.random.default_rng(2)
    signal = numbers.standard_normal(1 << 16) + 1j * numbers.standard_normal(1 << 16)
    there = cupy.fft.fft(cupy.asarray(signal.reshape(64, 1024)))
    show("transforms of rows", there.get())
    whole = cupy.fft.fft(cupy.asarray(signal))
    print("as the host's:", bool(numpy.allclose(whole.get(), numpy.fft.fft(signal))))
    show("transform", whole.get())
    cupy.fft.config.use_multi_gpus = False


def multiplied():
    import cupy_backends.cuda.libs.cublas  # noqa: F401
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split()[-1] for line in maps if "/libcublas.so" in line}
    if not paths:
        print("no cuBLAS")
        return
    cublas = ctypes.CDLL(paths.pop())
    handle = ctypes.c_void_p()
    assert cublas.cublasXtCreate(ctypes.byref(handle)) == 0
    assert cublas.cublasXtDeviceSelect(handle, 2, (ctypes.c_int * 2)(0, 1)) == 0
    assert cublas.cublasXtSetBlockDim(handle, 512) == 0
    size = 2048
    numbers = numpy.random.default_rng(3)
    a, b = (numbers.integers(-3, 4, (size, size)).astype(numpy.float32) for _ in range(2))
    c = numpy.zeros((size, size), numpy.float32)
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    n = ctypes.c_size_t(size)
    for _ in range(2):
        assert cublas.cublasXtSgemm(handle, 0, 0, n, n, n, ctypes.byref(one), a.ctypes.data_as(ctypes.c_void_p), n,
                                    b.ctypes.data_as(ctypes.c_void_p), n, ctypes.byref(zero), c.ctypes.data_as(ctypes.c_void_p), n) == 0
    assert cublas.cublasXtDestroy(handle) == 0
    # Its matrices stand column by column.
    print("right:", bool(numpy.array_equal(c, b @ a)))
    show("product", c)


def read_from_the_other():
    for device in range(2):
        with cupy.cuda.Device(device):
            try:
                cupy.cuda.runtime.deviceEnablePeerAccess(1 - device)
            except cupy.cuda.runtime.CUDARuntimeError:
                pass
    with cupy.cuda.Device(0):
        x = cupy.arange(1 << 18, dtype=cupy.uint32)
    with cupy.cuda.Device(1):
        y = cupy.arange(1 << 18, dtype=cupy.uint32) * 3
        add = cupy.RawKernel(r"""
            extern "C" __global__ void add(unsigned *y, const unsigned *x, unsigned n, unsigned k)
            {
                unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
                if (i < n)
                    y[i] = y[i] * k + x[n - 1 - i];
            }""", "add")
        cupy.cuda.runtime.deviceSynchronize()
        for k in range(10):
            add((1024,), (256,), (y, x, cupy.uint32(y.size), cupy.uint32(k)))
        show("read from the other GPU", y.get())


transformed()
multiplied()
read_from_the_other()
