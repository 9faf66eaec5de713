"""Which options are the best by comparisons: the front door. Axes: K options."""

import math
from collections import Counter
from typing import Any, Literal

import numpy as np

from jaxrace.core import validation
from jaxrace.core.validation import BadArgument
from jaxrace.judging.rating.advice import advice
from jaxrace.judging.rating.model import Rating, chance, rate
from jaxrace.judging.rating.result import Gap, Proposal, Ranked, SelectionOfVotes
from jaxrace.tables import Votes, read_votes

_MOST_PROPOSED = 10_000
_MOST_SEED = 2**32 - 1
_MOST_OPTIONS = 2_000  # matrices of all pairs must have room
_LARGEST_SCORE = 2.6e15
_MANY = 10  # rows that hardly all name the better one first
_LEVEL = 0.95  # of intervals, each by itself
# Draws of the qualities, as many as there is room and time for.
_MOST_DRAWS, _FEWEST_DRAWS, _MOST_NUMBERS = 10_000, 1_000, 2 * 10**6


def select(
    data: Any,
    top: int = 1,
    *,
    delta: float = 0.05,
    next: int = 5,
    score: Literal["auto", "win", "margin"] = "auto",
    seed: int = 0,
    argument: str = "data",
    **columns: Any,
) -> SelectionOfVotes:
    """Say which options are the best by comparisons of two, how likely, and what to compare next.

    Nothing is guaranteed: it is an estimate by one model, of Bradley and Terry for wins and with
    normal noise for margins (docs/top_k_selection.md).

    Args:
        data: Votes, games or margins, as ``jaxrace.tables.read_votes`` takes them: a data frame,
            columns by name, a list of rows, or the path of a file.
        top: How many of the best are wanted, k.
        delta: It is sure once the selection is right with an estimated probability of at least
            1 - delta, and those at the boundary were compared ten times each.
        next: How many comparisons to propose.
        score: margin, by how much the first was better, below 0 if it was worse (so 1, -1 and 0 for
            won, lost and tied); win, the first's share of a win: 1, 0 and .5. auto reads nothing
            but 0, .5 and 1 as win, and what has negative scores as margin, and refuses the rest.
        seed: Seed of all random numbers.
        argument: What messages begin with.
        **columns: ``first_column``, ``second_column``, ``score_column``, ``decimal`` and
            ``delimiter`` of ``read_votes``.

    Raises:
        ValueError: An argument is out of its range, or data are no comparisons, or may be read in
            two ways.

    >>> games = [{"winner": "ann", "loser": "bob"}] * 12 + [{"winner": "bob", "loser": "cy"}] * 12
    >>> result = select(games)
    >>> result.best, result.sure
    (['ann'], True)
    """
    validation.require_integer("top", top, 1)
    validation.require_probability("delta", delta)
    validation.require_integer("next", next, 1, _MOST_PROPOSED)
    validation.require_integer("seed", seed, 0, _MOST_SEED)
    votes = read_comparisons(data, score, argument, **columns)
    validation.require_top(top, len(votes.names))
    return _answer(votes, rate(votes), top, delta, next, np.random.default_rng(seed))


def read_comparisons(
    source: Any, score: str = "auto", argument: str = "votes", **columns: Any
) -> Votes:
    """Votes as ``read_votes`` reads them; ValueError for more or larger ones than can be judged."""
    votes = read_votes(source, score=score, argument=argument, **columns)
    if len(votes.names) > _MOST_OPTIONS:
        got = f"{len(votes.names):,}"
        raise BadArgument(argument, f"at most {_MOST_OPTIONS:,} options in all", got)
    is_large = ~(np.abs(votes.margins) <= _LARGEST_SCORE)
    if is_large.any():
        row = int(np.argmax(is_large))
        expected = f"scores of a size of 2.6e15 at most in line {votes.lines[row]}"
        raise BadArgument(argument, expected, f"{votes.margins[row]:g}")
    return votes


def _answer(
    votes: Votes, rating: Rating, top: int, delta: float, number: int, rng: np.random.Generator
) -> SelectionOfVotes:
    names, expected = votes.names, rating.expected()
    unit = float(np.abs(expected).max() or 1) / 2**40
    expected = np.round(expected / unit) * unit  # what differs by rounding alone is in their order
    places = np.argsort(-expected, kind="stable")
    ranking, (last, first) = places.tolist(), places[top - 1 : top + 1].tolist()
    count = int(np.clip(_MOST_NUMBERS // len(names), _FEWEST_DRAWS, _MOST_DRAWS))
    drawn = rating.draws(count, rng)
    is_right = drawn[:, ranking[:top]].min(1) > drawn[:, ranking[top:]].max(1)
    scores, slopes = rating.scores()
    moved = scores + (drawn - rating.qualities) @ slopes.T
    sides = (1 - _LEVEL) / 2, (1 + _LEVEL) / 2
    moved = chance(moved) if votes.kind == "win" else moved
    ends = np.stack([expected, *np.quantile(moved, sides, 0)])
    low, high = np.quantile(moved[:, last] - moved[:, first], sides)
    is_connected = rating.pairs.is_connected()
    met = rating.pairs.met()
    options = []
    for place, option in enumerate(ranking):
        score, *around = ends[:, option].tolist()
        around = around if is_connected else [None, None]
        times = int(met[option].sum())
        options.append(Ranked(names[option], times, score, *around, selected=place < top))
    ahead = float(ends[0, last] - ends[0, first])
    of_gap = (float(low), float(high)) if is_connected else (None, None)
    pairs, log_chance = advice(rating, top, number, rng)
    proposed = Counter(tuple(sorted(pair, key=ranking.index)) for pair in pairs.tolist())
    notes = list(votes.said)
    if votes.kind == "margin" and len(votes.margins) >= _MANY and (votes.margins > 0).all():
        notes.append(
            "all margins are above 0: the first was better in every row; of a scale, such as 1 to "
            "5, its middle is to be subtracted"
        )
    if not is_connected:
        notes.append("options that no chain of comparisons connects are in no order yet")
    return SelectionOfVotes(
        top=top,
        delta=delta,
        reading=votes.kind,
        comparisons=len(votes.first),
        options=tuple(options),
        confidence=float(is_right.mean()) if is_connected else None,
        gap=Gap(names[last], names[first], ahead, *of_gap),
        next=tuple(
            Proposal(names[i], names[j], int(met[i, j]), n) for (i, j), n in proposed.items()
        ),
        log_chance=log_chance if math.isfinite(log_chance) else None,
        connected=is_connected,
        notes=tuple(notes),
    )
