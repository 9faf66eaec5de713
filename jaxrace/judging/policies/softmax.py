"""Softmax policies of what was observed. Axes: d inputs, p features, A actions."""

import itertools

import numpy as np

MOST_FEATURES = 100_000


def num_features(order: int, inputs: int) -> int:
    """How many features a basis of an order has."""
    return (order + 1) ** inputs if order else 1 + inputs


def features_of(order: int, inputs: np.ndarray) -> np.ndarray:
    """Features of inputs in [0, 1], [..., d]: 1 and the inputs, or a Fourier basis: [..., p].

    That is cos(pi c . x) for all c in {0, ..., order}^d (Konidaris et al. 2011). The first feature
    is the constant 1.

    >>> features_of(0, np.array([0.25, 0.5]))
    array([1.  , 0.25, 0.5 ])
    """
    if order:
        listed = list(itertools.product(range(order + 1), repeat=inputs.shape[-1]))
        return np.cos(np.pi * (inputs @ np.array(listed, np.float64).T))
    return np.concatenate([np.ones((*inputs.shape[:-1], 1)), inputs], -1)


def softmax(logits: np.ndarray, axis: int = -1) -> np.ndarray:
    """Probabilities proportional to the exponentials of numbers, which are overwritten."""
    logits -= logits.max(axis, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis, keepdims=True)
    return logits
