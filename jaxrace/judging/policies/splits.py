"""Parts of a log in which every behaviour policy has its share. Axes: n trajectories."""

import numpy as np

TRAIN_ONE_IN = 5  # one in so many trajectories is searched (Thomas et al. 2015, section 4)


def stratified_order(rng: np.random.Generator, behaviour: np.ndarray) -> np.ndarray:
    """All rows by behaviour policy, int [n], in random order within each: int64 [n]."""
    return np.lexsort((rng.random(len(behaviour)), behaviour))


def every_so_many(rng: np.random.Generator, order: np.ndarray, number: int) -> np.ndarray:
    """``number`` rows of an order, at equal distances from a random start: int64 [number].

    Of a stratified order each policy gets its share.
    """
    start = rng.integers(max(len(order), 1))
    return order[(np.arange(number) * len(order) + start) // max(number, 1)]


def in_training(rng: np.random.Generator, behaviour: np.ndarray) -> np.ndarray:
    """A random fifth of the trajectories, every policy's share: bool [n].

    >>> in_training(np.random.default_rng(0), np.arange(20) % 2).sum()
    np.int64(4)
    """
    found = np.zeros(len(behaviour), bool)
    order = stratified_order(rng, behaviour)
    found[every_so_many(rng, order, len(behaviour) // TRAIN_ONE_IN)] = True
    return found
