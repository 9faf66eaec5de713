"""Rollouts of a population on CartPole for `gpu.py`: ours and evosax's."""

from collections.abc import Callable, Iterator
from typing import Any

import bench_rollouts
import jax
from peers import evosax_rollouts


def programs(members: int) -> Iterator[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    """Name, function and arguments of each."""
    theirs, example = evosax_rollouts.make((bench_rollouts.HIDDEN,), bench_rollouts.ROLLOUTS)
    leaves, structure = jax.tree.flatten(example)
    keys = jax.random.split(jax.random.key(0), len(leaves))
    drawn = [
        jax.random.normal(key, (members, *leaf.shape))
        for key, leaf in zip(keys, leaves, strict=True)
    ]
    args = jax.random.key(1), jax.tree.unflatten(structure, drawn)
    yield "rollouts/jaxrace", bench_rollouts.our_evaluate(), args
    yield "rollouts/evosax", theirs, args
