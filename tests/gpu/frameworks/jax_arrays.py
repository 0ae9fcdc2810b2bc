"""JAX: compiled steps with gradients. All numbers are small integers, so that sums are exact in
any order in which the kernels that XLA chooses add."""

import os
import sys

# Three quarters of the GPU's memory would be taken at once.
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"

from common import jax_devices, show  # noqa: E402

device = jax_devices(flags="")[0]
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402


def loss(w, b, x):
    y = jnp.maximum(x @ w + b, 0)
    return jnp.where(y > 3, 2 * y - 1, y).sum()


@jax.jit
def step(w, b, x):
    value, (of_w, of_b) = jax.value_and_grad(loss, argnums=(0, 1))(w, b, x)
    return value, w - jnp.sign(of_w), b + jnp.sign(of_b)


def whole(number, least, most, *shape):
    """Whole numbers from least to most, the same on every run."""
    size = int(numpy.prod(shape))
    drawn = (numpy.arange(size, dtype=numpy.uint32) * 2654435761 + number * 40503) >> 16
    return jax.device_put((drawn % (most - least + 1)).astype(numpy.float32).reshape(shape) + least,
                          device)


x, w, b = whole(1, -2, 2, 256, 128), whole(2, -1, 1, 128, 64), whole(3, -4, 4, 64)
for number in range(3):
    value, w, b = step(w, b, x)
    print(f"step {number}: {float(value):.0f}")
    show("weights", numpy.asarray(w), numpy.asarray(b))
drawn = jax.random.bits(jax.device_put(jax.random.key(5), device), (1 << 16,))
show("drawn, sorted", numpy.asarray(drawn), numpy.asarray(jnp.sort(drawn)))
print(f"on {device.platform}", file=sys.stderr)
