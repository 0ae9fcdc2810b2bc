"""JAX: a sampler (Metropolis) and a solver whose loops and branches are on the GPU, so that XLA may make graphs with
conditional nodes of them."""

import os

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"

from common import jax_devices, show  # noqa: E402

jax_devices()
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402


def height(x):
    return -0.5 * jnp.sum(jnp.square(x - 1)) - 0.1 * jnp.sum(x**4)


@jax.jit
def sampled(key, start):
    def step(state, key):
        x, now = state
        moved, chance = jax.random.split(key)
        there = x + 0.01 * jax.random.normal(moved, x.shape)
        then = height(there)
        taken = jnp.log(jax.random.uniform(chance)) < then - now
        return (jnp.where(taken, there, x), jnp.where(taken, then, now)), taken

    return jax.lax.scan(step, (start, height(start)), jax.random.split(key, 100))


@jax.jit
def solved(a, b):
    """Jacobi's method until it stands, and a branch by its result."""
    diagonal = jnp.diag(a)

    def goes_on(state):
        return (state[1] > 1e-5) & (state[2] < 200)

    def step(state):
        x = state[0]
        there = x + (b - a @ x) / diagonal
        return there, jnp.max(jnp.abs(there - x)), state[2] + 1

    x, left, steps = jax.lax.while_loop(goes_on, step, (jnp.zeros_like(b), jnp.float32(1), 0))
    return jax.lax.cond(left < 1e-4, lambda x: jnp.sort(x), lambda x: -x, x), steps


(x, now), taken = sampled(jax.random.key(3), jnp.zeros(4096))
print("taken:", int(taken.sum()))
show("sampled", numpy.asarray(x), numpy.asarray(now))
drawn = jax.random.uniform(jax.random.key(4), (512, 512)) / 1024
x, steps = solved(drawn + jnp.eye(512), jax.random.normal(jax.random.key(5), (512,)))
print("steps:", int(steps))
show("solved", numpy.asarray(x))
