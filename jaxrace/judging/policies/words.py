"""What a policy does, in a few rules that people can read. Axes: s decisions, d numbers, A actions.

A small regression tree of its probabilities (Breiman et al. 1984): the leaf and the question that
take most of the squared deviation away come first.
"""

from typing import Any, NamedTuple

import numpy as np

from jaxrace.judging.policies.loading import Parts
from jaxrace.judging.policies.softmax import features_of, softmax

_MOST_RULES, _THRESHOLDS = 6, 15
_LEAST_GAIN = 0.05  # of the deviation of all decisions, for one more rule
_LEAST_SHOWN = 0.1  # probability of an action


class _Leaf(NamedTuple):
    rows: np.ndarray  # int64 [m]
    where: dict[tuple[int, bool], str]  # by column and side of it, of which the last one counts


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


def rules_of(
    chances: np.ndarray, seen: np.ndarray, names: tuple[str, ...], actions: tuple[str, ...]
) -> tuple[list[dict[str, Any]], float]:
    """Rules of probabilities [s, A] by what was seen, [s, d], and what they explain."""
    leaves = [_Leaf(np.arange(len(seen)), {})]
    total = _deviation(chances)
    while len(leaves) < _MOST_RULES and total > 0:
        found = [(*_best_split(chances, seen, leaf), place) for place, leaf in enumerate(leaves)]
        gain, column, limit, place = max(found, key=lambda one: one[0])
        if gain < _LEAST_GAIN * total:
            break
        leaf, name = leaves[place], names[column]
        above = seen[leaf.rows, column] > limit
        is_word = set(np.unique(seen[:, column])) <= {0.0, 1.0}
        low, high = f"{name} <= {limit:.4g}", f"{name} > {limit:.4g}"
        if is_word:
            low, high = _other_word(name, names), name
        leaves[place : place + 1] = [
            _Leaf(leaf.rows[~above], leaf.where | {(column, False): low}),
            _Leaf(leaf.rows[above], leaf.where | {(column, True): high}),
        ]
    rules = []
    for rows, where in leaves:
        mean = chances[rows].mean(0)
        shown = [a for a in np.argsort(-mean, kind="stable") if mean[a] >= _LEAST_SHOWN]
        named = {actions[a]: round(float(mean[a]), 3) for a in shown}
        share = round(len(rows) / len(seen), 3)
        rules.append(
            {"where": " and ".join(where.values()) or "always", "share": share, "actions": named}
        )
    left = sum(_deviation(chances[leaf.rows]) for leaf in leaves)
    return rules, round(1 - left / total, 3) if total > 0 else 1.0


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
