"""Many preference-based races at once in NumPy: a loop over old samples, only over open pairs.

The same decisions as ``PreferenceRace`` with a bound whose thresholds are a table and the rule
"sharp", on numbers of which the larger is preferred. NumPy may change its shapes as it goes, and
this code makes use of it: races that have ended and pairs that are decided cost nothing more, and
the rule is only applied in rounds in which some pair is decided. Outcomes must be continuous: one
comparison per pair of samples tells who won, where ties would need two.

Axes: L races not yet ended, K options, P open pairs of all of them, m = rounds drawn at once.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# draw(races [L], first_round, m) -> float32 [L, K, m]
Draw = Callable[[NDArray[np.int64], int, int], NDArray[np.float32]]

# Pairs compared at once, so that a chunk of their samples stays in the second-level cache.
_BLOCK = 2048
# An int8 takes two wins of so many old samples each.
_FLUSH = 63


class Races(NamedTuple):
    """The outcome of R races."""

    samples: NDArray[np.int32]  # [R, K]
    ranking: NDArray[np.int64]  # [R, K]


class _State(NamedTuple):
    net: NDArray[np.int32]  # [R, K, K], frozen once a pair is dropped
    rounds: NDArray[np.int32]  # [R, K, K], samples per option behind net
    active: NDArray[np.bool_]  # [R, K, K]
    beats: NDArray[np.bool_]  # [R, K, K]


def play(
    draw: Draw,
    thresholds: NDArray[np.int32],
    num_races: int,
    num_options: int,
    top: int,
    chunk: int = 25,
) -> Races:
    """Play all races to their ends; ``thresholds`` [n_max] as in ``PreferenceParams``."""
    shape = (num_races, num_options, num_options)
    state = _State(
        net=np.zeros(shape, np.int32),
        rounds=np.zeros(shape, np.int32),
        active=np.broadcast_to(~np.eye(num_options, dtype=bool), shape).copy(),
        beats=np.zeros(shape, bool),
    )
    max_rounds = len(thresholds)
    outcomes = np.zeros((num_races, num_options, max_rounds), np.float32)
    for first in range(0, max_rounds, chunk):
        live = np.flatnonzero(state.active.any((1, 2)))
        if not live.size:
            break
        last = min(first + chunk, max_rounds)
        outcomes[live, :, first:last] = draw(live, first, last - first)
        race, i, j = np.nonzero(np.triu(state.active))
        gains = _gains(outcomes, race, i, j, first, last)
        path = state.net[race, i, j] + np.cumsum(gains, axis=0, dtype=np.int32)
        _decide(state, path, (race, i, j), thresholds[first:last], first, top)
    return Races(state.rounds.max(-1), _rank(state))


def _gains(
    outcomes: NDArray[np.float32],
    race: NDArray[np.int64],
    i: NDArray[np.int64],
    j: NDArray[np.int64],
    first: int,
    last: int,
) -> NDArray[np.int32]:
    """What each round first .. last - 1 adds to the net count of each pair: [m, P]."""
    gains = np.empty((last - first, len(race)), np.int32)
    for start in range(0, len(race), _BLOCK):
        block = slice(start, start + _BLOCK)
        a = np.ascontiguousarray(outcomes[race[block], i[block], :last].T)
        b = np.ascontiguousarray(outcomes[race[block], j[block], :last].T)
        gains[:, block] = _block_gains(a, b, first)
    return gains


def _block_gains(a: NDArray[np.float32], b: NDArray[np.float32], first: int) -> NDArray[np.int32]:
    """Gains of pairs with samples [last, P], from round ``first`` on."""
    last, num_pairs = a.shape
    sums = np.zeros((last - first, num_pairs), np.int32)
    wins = np.zeros((last - first, num_pairs), np.int8)
    won = np.empty((last - first, num_pairs), bool)
    for old in range(last):
        # Later rounds only; within the chunk these become fewer.
        later = max(first, old + 1)
        out, part = won[later - first :], wins[later - first :]
        # An older sample of a against newer ones of b, and newer ones of a against an older of b.
        np.greater(a[old], b[later:], out=out)
        np.add(part, out.view(np.int8), out=part)
        np.greater(a[later:], b[old], out=out)
        np.add(part, out.view(np.int8), out=part)
        if (old + 1) % _FLUSH == 0 or old == last - 1:
            sums += wins
            wins[:] = 0
    sums += a[first:] > b[first:]
    # Of the 2 t + 1 new comparisons of round t (from 0) so many were won.
    comparisons = 2 * np.arange(first, last, dtype=np.int32) + 1
    return 2 * sums - comparisons[:, None]


def _decide(
    state: _State,
    path: NDArray[np.int32],
    pairs: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    thresholds: NDArray[np.int32],
    first: int,
    top: int,
) -> None:
    """Verdicts of the chunk's rounds, of which only those matter in which a pair is decided."""
    race, i, j = pairs
    crossed = np.abs(path) >= thresholds[:, None]
    crossing = np.where(crossed.any(0), crossed.argmax(0), len(path))
    # The chunk's last round, unless the pair is dropped earlier.
    end = np.full(len(race), len(path) - 1)
    open_pairs = np.ones(len(race), bool)
    for t in np.unique(crossing[crossing < len(path)]):
        now = np.flatnonzero((crossing == t) & open_pairs)
        i_wins = path[t, now] > 0
        winner, loser = np.where(i_wins, (i[now], j[now]), (j[now], i[now]))
        state.beats[race[now], winner, loser] = True
        changed = np.unique(race[now])
        beats = state.beats[changed]
        settled = _settled(beats, top)
        still_open = ~(settled[:, :, None] & settled[:, None, :]) & ~(beats | beats.swapaxes(1, 2))
        state.active[changed] &= still_open
        dropped = open_pairs & ~state.active[race, i, j]
        end[dropped] = t
        open_pairs &= ~dropped
    final = path[end, np.arange(len(race))]
    state.net[race, i, j], state.net[race, j, i] = final, -final
    state.rounds[race, i, j] = state.rounds[race, j, i] = first + end + 1


def _settled(beats: NDArray[np.bool_], top: int) -> NDArray[np.bool_]:
    """Selected or discarded by the sharp rule: [..., K] from [..., K, K]."""
    num_options = beats.shape[-1]
    better = beats.sum(-1)[:, :, None] + beats.sum(-2)[:, None, :] >= num_options
    return (better.sum(-1) >= num_options - top) | (better.sum(-2) >= top)


def _rank(state: _State) -> NDArray[np.int64]:
    """Options by empirical Copeland score, then by the sum of margins, then by index."""
    undecided = ~(state.beats | state.beats.swapaxes(1, 2))
    ahead = state.beats | (undecided & (state.net > 0))
    margins = state.net / np.maximum(state.rounds, 1).astype(np.float64) ** 2
    return np.lexsort((-margins.sum(-1), -ahead.sum(-1)))
