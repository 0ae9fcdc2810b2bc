"""JAX's profiler, twice, between launches that are measured. Kernels of ours are none of those that it saw."""

import glob
import gzip
import json
import os
import tempfile

from common import DEVICE, cannot, show

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
try:
    import jax
    import jax.numpy as jnp
    import numpy
except ImportError as problem:
    cannot(f"no JAX: {problem}")
if DEVICE == "cuda" and not any(device.platform == "gpu" for device in jax.devices()):
    cannot("JAX sees no GPU")

step = jax.jit(lambda a: jnp.tanh(a @ a) + 1)
a = step(jnp.ones((128, 128)) * 0.01).block_until_ready()
for session in range(2):
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            for _ in range(3):
                a = step(a).block_until_ready()
        names = []
        for path in glob.glob(folder + "/**/*.trace.json.gz", recursive=True):
            with gzip.open(path, "rt") as file:
                names += [event.get("name", "") for event in json.load(file)["traceEvents"]]
    print(f"session {session}: {sum(name.startswith('gp_') for name in names)} kernels of another tool, "
          f"{sum('gemm' in name for name in names)} products")
    a = step(a).block_until_ready()
show("result", numpy.asarray(a))
