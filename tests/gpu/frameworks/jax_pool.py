"""JAX with its defaults: most of the GPU's memory is one pool. A network is trained, and a decoder writes words with a
cache of keys and values. Kernels are not tuned, so that all runs choose alike.
WHOLE: each launch has all default metrics. ALONE: it takes most of the GPU's memory."""

from common import jax_devices, show

jax_devices()
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402

WIDTH, HEADS, LAYERS, WORDS, LENGTH = 256, 8, 4, 1000, 64


def trained():
    """Steps of Adam on three layers."""
    sizes = (784, 512, 256, 10)
    keys = jax.random.split(jax.random.key(1), len(sizes))
    layers = [(jax.random.normal(k, (a, b)) / a**0.5, jnp.zeros(b)) for k, a, b in zip(keys, sizes, sizes[1:])]

    def loss(layers, x, y):
        for weights, bias in layers[:-1]:
            x = jax.nn.gelu(x @ weights + bias)
        weights, bias = layers[-1]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x @ weights + bias), y[:, None], 1))

    @jax.jit
    def step(layers, first, second, key, number):
        of_x, of_y = jax.random.split(key)
        x, y = jax.random.normal(of_x, (1024, 784)), jax.random.randint(of_y, (1024,), 0, 10)
        now, gradients = jax.value_and_grad(loss)(layers, x, y)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, gradients)
        rate = 1e-3 * jnp.sqrt(1 - 0.99**number) / (1 - 0.9**number)
        return jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), layers, first, second), first, second, now

    zeros = jax.tree.map(jnp.zeros_like, layers)
    state = (layers, zeros, zeros)
    for number in range(12):
        *state, now = step(*state, jax.random.key(100 + number), number + 1.0)
    show("trained", numpy.asarray(now), *(numpy.asarray(part) for part in jax.tree.leaves(state)))


def decoded():
    """A decoder as Llama's, one word at a time."""
    keys = iter(jax.random.split(jax.random.key(2), 8 * LAYERS + 2))

    def drawn(*shape):
        return jax.random.normal(next(keys), shape, jnp.float32).astype(jnp.bfloat16) * shape[0] ** -0.5

    layers = [{"q": drawn(WIDTH, WIDTH), "k": drawn(WIDTH, WIDTH), "v": drawn(WIDTH, WIDTH), "o": drawn(WIDTH, WIDTH),
               "gate": drawn(WIDTH, 3 * WIDTH), "up": drawn(WIDTH, 3 * WIDTH), "down": drawn(3 * WIDTH, WIDTH)} for _ in range(LAYERS)]
    words = drawn(WORDS, WIDTH)

    def normal(x):
        return x * jax.lax.rsqrt(jnp.mean(jnp.square(x.astype(jnp.float32)), -1, keepdims=True) + 1e-5).astype(x.dtype)

    def turned(x, position):
        angle = position * 10000.0 ** (-jnp.arange(0, x.shape[-1], 2) / x.shape[-1])
        a, b = x[..., ::2], x[..., 1::2]
        return jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], -1).astype(x.dtype)

    @jax.jit
    def step(word, position, cache):
        x, kept = words[word], []
        for layer, (keys, values) in zip(layers, cache):
            y = normal(x)
            q, k, v = ((y @ layer[name]).reshape(HEADS, -1) for name in "qkv")
            keys, values = keys.at[:, position].set(turned(k, position)), values.at[:, position].set(v)
            score = jnp.einsum("hd,hld->hl", turned(q, position), keys) * (WIDTH / HEADS) ** -0.5
            score = jax.nn.softmax(jnp.where(jnp.arange(LENGTH) <= position, score.astype(jnp.float32), -1e9))
            x = x + jnp.einsum("hl,hld->hd", score.astype(values.dtype), values).reshape(-1) @ layer["o"]
            y = normal(x)
            x = x + (jax.nn.silu(y @ layer["gate"]) * (y @ layer["up"])) @ layer["down"]
            kept.append((keys, values))
        return jnp.argmax(normal(x) @ words.T), kept

    empty = jnp.zeros((HEADS, LENGTH, WIDTH // HEADS), jnp.bfloat16)
    cache, word, written = [(empty, empty)] * LAYERS, 1, []
    for position in range(24):
        word, cache = step(word, position, cache)
        written.append(int(word))
    print("words:", *written)
    show("cache", *(numpy.asarray(part.astype(jnp.float32)) for pair in cache for part in pair))


trained()
decoded()
