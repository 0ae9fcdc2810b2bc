#!/usr/bin/env python3
"""Trains a network of three layers in JAX: jax_training.py STEPS"""

import sys

import jax
import jax.numpy as jnp


def start(key, sizes):
    keys = jax.random.split(key, len(sizes))
    return [(jax.random.normal(k, (a, b)) * (2 / a) ** 0.5, jnp.zeros(b)) for k, a, b in zip(keys, sizes, sizes[1:])]


def loss(layers, x, y):
    for weights, bias in layers[:-1]:
        x = jax.nn.gelu(x @ weights + bias)
    weights, bias = layers[-1]
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x @ weights + bias), y[:, None], 1))


@jax.jit
def step(layers, key):
    of_x, of_y = jax.random.split(key)
    x, y = jax.random.normal(of_x, (4096, 784)), jax.random.randint(of_y, (4096,), 0, 10)
    now, gradients = jax.value_and_grad(loss)(layers, x, y)
    return jax.tree.map(lambda a, b: a - 0.01 * b, layers, gradients), now


key = jax.random.PRNGKey(0)
layers = start(key, [784, 2048, 2048, 10])
for _ in range(int(sys.argv[1])):
    key, own = jax.random.split(key)
    layers, now = step(layers, own)
print(float(now))
