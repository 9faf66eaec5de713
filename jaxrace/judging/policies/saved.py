"""Policies that `jaxrace improve` found in a log. Axes: d numbers observed, A actions."""

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jaxrace.core.validation import require_plain_file
from jaxrace.judging.policies.softmax import features_of, softmax


class SavedPolicy(NamedTuple):
    """A policy as it was found, alpha of it, the rest being the policy in use."""

    theta: np.ndarray  # float [A, p]
    alpha: float
    names: tuple[str, ...]  # of the observed numbers
    low: np.ndarray  # float64 [d], became 0
    high: np.ndarray  # float64 [d], became 1
    actions: tuple[str, ...] | None = None  # A or more, if they have names
    order: int = 0  # of the Fourier basis; 0 for linear features

    def arrays(self) -> dict[str, Any]:
        """What policy.npz holds, which ``load_policy`` reads again."""
        found = {
            "theta": self.theta[None],
            "alpha": np.array([self.alpha]),
            "order": np.array(self.order),
            "names": np.array(self.names),
            "low": self.low,
            "high": self.high,
        }
        return found if self.actions is None else found | {"actions": np.array(self.actions)}

    def probabilities(self, observed: ArrayLike, in_use: ArrayLike | None = None) -> np.ndarray:
        """P(a | observed), float64 [..., A], of the numbers ``names``, as in the log, [..., d].

        What is beyond the range of training counts as its end. ``in_use`` are the probabilities
        [..., A] of the policy in use; ValueError if they are needed, as ``alpha`` is below 1, or of
        fewer actions. Actions beyond those of the training part are its alone.
        """
        if in_use is None and self.alpha < 1:
            raise ValueError(
                f"in_use: expected the probabilities of the policy in use, which decides with "
                f"probability {1 - self.alpha:.3g}, got None"
            )
        width = np.where(self.high > self.low, self.high - self.low, 1)
        scaled = np.clip((np.asarray(observed) - self.low) / width, 0, 1)
        found = softmax(features_of(self.order, scaled) @ self.theta.T)
        if in_use is None:
            return found
        other = np.asarray(in_use)
        missing = other.shape[-1] - found.shape[-1]
        if missing < 0:
            raise ValueError(
                f"in_use: expected the probabilities of at least {found.shape[-1]} actions, "
                f"got {other.shape[-1]}"
            )
        found = np.concatenate([found, np.zeros((*found.shape[:-1], missing))], -1)
        return self.alpha * found + (1 - self.alpha) * other


def load_policy(path: str | os.PathLike[str]) -> SavedPolicy:
    """Read policy.npz of a run of ``jaxrace improve`` on a file; ValueError if it is of another."""
    require_plain_file("path", path)
    with np.load(path, allow_pickle=False) as arrays:
        if "low" not in arrays.files:
            raise ValueError(f"{path}: expected the policy of a run on a file, got a simulation's")
        found = {name: arrays[name] for name in arrays.files}
    actions = tuple(found["actions"].tolist()) if "actions" in found else None
    alpha, names = float(found["alpha"][0]), tuple(found["names"].tolist())
    ends = found["low"], found["high"]
    return SavedPolicy(found["theta"][0], alpha, names, *ends, actions, int(found["order"]))
