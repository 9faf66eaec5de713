"""A policy that was found in a log: to be kept, to be used, and in words.

Axes: d numbers observed, A actions, s decisions.
"""

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jaxrace.core.inputs import require_plain_file
from jaxrace.core.validation import BadArgument
from jaxrace.judging.policies.loading import Parts
from jaxrace.judging.policies.weighing import features_of, softmax

_MOST_RULES, _THRESHOLDS = 6, 15
_LEAST_GAIN = 0.05  # of the deviation of all decisions, for one more rule
_LEAST_SHOWN = 0.1  # probability of an action


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
        found = self._asdict() | {"theta": self.theta[None], "alpha": [self.alpha]}
        return {name: np.array(value) for name, value in found.items() if value is not None}

    def probabilities(self, observed: ArrayLike, in_use: ArrayLike | None = None) -> np.ndarray:
        """P(a | observed), float64 [..., A], of the numbers ``names``, as in the log, [..., d].

        What is beyond the range of training counts as its end. ``in_use`` are the probabilities
        [..., A] of the policy in use; ValueError if they are needed, as ``alpha`` is below 1, or of
        fewer actions, or if something observed is NaN. Actions beyond those of the training part
        are its alone.
        """
        is_nan = np.isnan(np.asarray(observed, float))
        if is_nan.any():
            names = [self.names[at] for at in np.unique(np.nonzero(is_nan)[-1]).tolist()]
            raise BadArgument("observed", "numbers", f"NaN of {', '.join(names)}")
        if in_use is None and self.alpha < 1:
            expected = "the probabilities of the policy in use, which decides with probability"
            raise BadArgument("in_use", f"{expected} {1 - self.alpha:.3g}", "None")
        width = np.where(self.high > self.low, self.high - self.low, 1)
        scaled = np.clip((np.asarray(observed) - self.low) / width, 0, 1)
        found = softmax(features_of(self.order, scaled) @ self.theta.T)
        if in_use is None:
            return found
        other = np.asarray(in_use)
        missing = other.shape[-1] - found.shape[-1]
        if missing < 0:
            expected = f"the probabilities of at least {found.shape[-1]} actions"
            raise BadArgument("in_use", expected, f"{other.shape[-1]}")
        found = np.concatenate([found, np.zeros((*found.shape[:-1], missing))], -1)
        return self.alpha * found + (1 - self.alpha) * other


def load_policy(path: str | os.PathLike[str]) -> SavedPolicy:
    """Read the policy.npz that ``jaxrace improve`` left; ValueError if something else wrote it."""
    require_plain_file("path", path)
    with np.load(path, allow_pickle=False) as arrays:
        if "low" not in arrays.files:
            raise BadArgument(f"{path}", "the policy of a run on a file", "a simulation's")
        found = {name: arrays[name] for name in arrays.files}
    actions = tuple(found["actions"].tolist()) if "actions" in found else None
    alpha, names = float(found["alpha"][0]), tuple(found["names"].tolist())
    ends = found["low"], found["high"]
    return SavedPolicy(found["theta"][0], alpha, names, *ends, actions, int(found["order"]))


def policy_in_words(order: int, theta: np.ndarray, parts: Parts) -> dict[str, Any]:
    """The rules, the share of the policy's deviations that they explain, and actions in the log."""
    both = parts.train, parts.test
    scaled = np.concatenate([part.observations[part.taken] for part in both])
    actions = np.concatenate([part.actions[part.taken] for part in both])
    chances = softmax(features_of(order, scaled) @ theta.T)
    names = parts.action_names or tuple(map(str, range(max(int(actions.max()) + 1, 2))))
    seen = parts.low + scaled * (parts.high - parts.low)
    rules, explained = rules_of(chances, seen, parts.names, names)
    logged = np.bincount(actions, minlength=len(names)) / len(actions)
    does = np.pad(chances.mean(0), (0, max(len(names) - chances.shape[1], 0)))
    return {
        "rules": rules,
        "explained": explained,
        "logged": dict(zip(names, logged.round(6).tolist(), strict=True)),
        "chosen": dict(zip(names, does[: len(names)].round(6).tolist(), strict=True)),
    }


class _Leaf(NamedTuple):
    rows: np.ndarray  # int64 [m]
    where: dict[tuple[int, bool], str]  # by column and side of it, of which the last one counts


def rules_of(
    chances: np.ndarray, seen: np.ndarray, names: tuple[str, ...], actions: tuple[str, ...]
) -> tuple[list[dict[str, Any]], float]:
    """Rules of probabilities [s, A] by what was seen, [s, d], and what they explain.

    The leaves of a regression tree that grows where a question explains most (Breiman et al. 1984).
    """
    leaves = [_Leaf(np.arange(len(seen)), {})]
    total = _deviation(chances)
    while len(leaves) < _MOST_RULES and total > 0:
        found = [(*_best_split(chances, seen, leaf), place) for place, leaf in enumerate(leaves)]
        gain, column, limit, place = max(found, key=lambda one: one[0])
        if gain < _LEAST_GAIN * total:
            break
        (rows, where), name = leaves[place], names[column]
        sides = f"{name} <= {limit:.4g}", f"{name} > {limit:.4g}"
        if set(np.unique(seen[:, column])) <= {0.0, 1.0}:  # it is a word
            sides = _other_word(name, names), name
        above = seen[rows, column] > limit
        leaves[place : place + 1] = [
            _Leaf(rows[above == side], where | {(column, side): sides[side]})
            for side in (False, True)
        ]
    rules = []
    for rows, where in leaves:
        mean = chances[rows].mean(0)
        shown = [a for a in np.argsort(-mean, kind="stable") if mean[a] >= _LEAST_SHOWN]
        rules.append(
            {
                "where": " and ".join(_conditions(where, seen[rows], names)) or "always",
                "share": round(len(rows) / len(seen), 3),
                "actions": {actions[a]: round(float(mean[a]), 3) for a in shown},
            }
        )
    left = sum(_deviation(chances[leaf.rows]) for leaf in leaves)
    return rules, round(1 - left / total, 3) if total > 0 else 1.0


def _conditions(
    where: dict[tuple[int, bool], str], seen: np.ndarray, names: tuple[str, ...]
) -> list[str]:
    """What holds in a leaf, [m, d]: a word, where only one of its kind is left, is said once."""
    said: dict[str, None] = {}
    for (column, _), condition in where.items():
        head, is_word, _ = names[column].partition("=")
        words = [i for i, name in enumerate(names) if is_word and name.startswith(f"{head}=")]
        left = [names[i] for i in words if seen[:, i].any()]
        said[
            left[0] if len(left) == 1 and bool((seen[:, words].sum(1) == 1).all()) else condition
        ] = None
    return [*said]


def _other_word(name: str, names: tuple[str, ...]) -> str:
    """What is seen where a word is not: the other one, if there are two."""
    head = name.partition("=")[0]
    others = [one for one in names if one != name and one.startswith(f"{head}=")]
    return others[0] if "=" in name and len(others) == 1 else f"not {name}"


def _deviation(chances: np.ndarray) -> float:
    return float(((chances - chances.mean(0)) ** 2).sum())


def _best_split(chances: np.ndarray, seen: np.ndarray, leaf: _Leaf) -> tuple[float, int, float]:
    """What is gained, the column, and what is at most on one side."""
    best, own = (0.0, 0, 0.0), chances[leaf.rows]
    whole = _deviation(own)
    for column in range(seen.shape[1]):
        numbers = seen[leaf.rows, column]
        limits = np.unique(numbers)[:-1]
        if len(limits) > _THRESHOLDS:
            shares = np.linspace(0, 1, _THRESHOLDS + 2)[1:-1]
            limits = np.unique(np.quantile(numbers, shares, method="lower"))
        for limit in limits:
            above = numbers > limit
            if above.any():
                gain = whole - _deviation(own[above]) - _deviation(own[~above])
                best = max(best, (gain, column, float(limit)))
    return best
