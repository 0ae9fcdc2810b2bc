"""JAX on two GPUs: pmap and shard_map, with sums over both, and pools that each GPU can reach.
ALONE: it takes most of the memory of both."""

from common import jax_devices, show

devices = jax_devices(2)[:2]
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402


def loss(w, x):
    return jnp.mean(jnp.square(jnp.tanh(x @ w) - x[:, :128]))


def mapped():
    def step(w, x):
        return w - 0.1 * jax.lax.pmean(jax.grad(loss)(w, x), "of")

    go = jax.pmap(step, axis_name="of", devices=devices)
    w = jnp.stack([jax.random.normal(jax.random.key(1), (256, 128)) / 16] * 2)
    x = jax.random.normal(jax.random.key(2), (2, 512, 256))
    for _ in range(10):
        w = go(w, x)
    show("mapped", numpy.asarray(w))


def sharded():
    mesh = Mesh(numpy.array(devices), ("part",))
    rows, all_of_it = PartitionSpec("part"), PartitionSpec()

    def step(w, x):
        return w - 0.1 * jax.lax.pmean(jax.grad(loss)(w, x), "part")

    go = jax.jit(jax.shard_map(step, mesh=mesh, in_specs=(all_of_it, rows), out_specs=all_of_it, check_vma=False))
    w = jax.device_put(jax.random.normal(jax.random.key(3), (256, 128)) / 16, NamedSharding(mesh, all_of_it))
    x = jax.device_put(jax.random.normal(jax.random.key(4), (1024, 256)), NamedSharding(mesh, rows))
    for _ in range(10):
        w = go(w, x)
    show("sharded", numpy.asarray(w))
    # XLA itself divides the work.
    a = jax.device_put(jax.random.normal(jax.random.key(5), (1024, 512)), NamedSharding(mesh, rows))
    show("divided by XLA", numpy.asarray(jax.jit(lambda a: jnp.sin(a.T @ a).sum(0))(a)))


mapped()
sharded()
