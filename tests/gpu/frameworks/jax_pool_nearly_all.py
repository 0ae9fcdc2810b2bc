"""JAX with a pool of 95 % of the GPU's memory, which leaves little for anybody else: the work of jax_pool.
WHOLE: each launch has all default metrics. ALONE: it takes most of the GPU's memory."""

import os

os.environ["XLA_PYTHON_CLIENT_MEM_FRACTION"] = ".95"

import jax_pool  # noqa: E402, F401
