"""Trajectories as arrays of JAX. Axes: n trajectories of at most T steps."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from jaxrace.judging.policies.trajectories import NOBODY, ReturnRange, Trajectories, checked

# Also a pytree. A set grows in its empty rows.
jax.tree_util.register_dataclass(
    Trajectories, [field.name for field in dataclasses.fields(Trajectories)], []
)


def trajectories(
    observations: Any,
    actions: ArrayLike,
    probabilities: ArrayLike,
    rewards: ArrayLike,
    lengths: ArrayLike | None = None,
    behaviour: ArrayLike | None = None,
    returns: ReturnRange | None = None,
) -> Trajectories:
    """A checked set of trajectories.

    Args:
        observations: Leaves [n, T, ...].
        actions: Integers from 0 on, [n, T].
        probabilities: Of these actions by the policies that took them, [n, T].
        rewards: [n, T].
        lengths: Steps of each trajectory, 1 to T, [n]; what is beyond does not count. Default T.
        behaviour: Which policy generated each, integers from 0 on, [n]; default: the same one.
        returns: If given, no return may be outside of it.

    Raises:
        ValueError: Shapes do not fit, or a number is out of its range; names trajectory and step.

    >>> data = trajectories(np.zeros((2, 3, 1)), [[0, 1, 1]] * 2, [[0.5] * 3] * 2, [[1, 0, 1]] * 2)
    >>> data.present.tolist()
    [True, True]
    """
    leaves, tree = jax.tree.flatten(observations)
    steps = actions, probabilities, rewards
    found = checked(leaves, *steps, lengths, behaviour, returns)
    whole = dataclasses.replace(found, observations=tree.unflatten(found.observations))
    return jax.device_put(jax.tree.map(_narrowed, whole))


def _narrowed(numbers: np.ndarray) -> np.ndarray:
    """In 32 bits, of which it is known that they hold it."""
    if numbers.dtype == bool:
        return numbers
    return numbers.astype(np.int32 if numbers.dtype.kind in "iu" else np.float32)


def empty_rows(example: Trajectories, count: int) -> Trajectories:
    """As many empty rows as wanted, of the shapes of ``example``."""
    empty = jax.tree.map(lambda x: jnp.zeros((count, *x.shape[1:]), x.dtype), example)
    return dataclasses.replace(
        empty,
        probabilities=jnp.ones_like(empty.probabilities),
        behaviour=jnp.full_like(empty.behaviour, NOBODY),
    )
