"""Which options are the best by comparisons, by name: the front door. Axes: K options.

Scores are what the model expects against the average other option, drawn towards the middle where
there are few comparisons: the share of wins (a tie is half a win), or the margin.
"""

import math
from collections import Counter
from typing import Any, Literal

import numpy as np

from jaxrace.core import validation
from jaxrace.core.validation import BadArgument
from jaxrace.judging.rating.advice import advice
from jaxrace.judging.rating.certified import prove
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
    """Say which options are the best by comparisons of two, how sure, and what to compare next.

    There are two answers. What is certified is proven by the games alone, at all looks: the best,
    tiers, and who may be among the best. The ranking is an estimate by a model, for one look: that
    of Bradley and Terry for wins, with normal noise for margins (docs/theory/votes.md).

    Args:
        data: Votes, games or margins, as ``jaxrace.tables.read_votes`` takes them: a data frame,
            columns by name, a list of rows, or the path of a file.
        top: How many of the best options are wanted, k.
        delta: The error probability of what is certified. The estimate is sure from a probability
            of 1 - delta on, after ten comparisons of each option at the boundary.
        next: How many comparisons to propose, until the best are certified.
        score: margin: by how much the first was better, or 1, -1 and 0 for won, lost and tied. win:
            its share of a win, 1, 0 or .5. auto: win if all are 0, .5 or 1, margin if some are
            negative; else refused.
        seed: The seed of all random numbers.
        argument: What messages begin with.
        **columns: ``first_column``, ``second_column``, ``score_column``, ``cluster_column``,
            ``decimal`` and ``delimiter`` of ``read_votes``.

    Raises:
        ValueError: An argument is out of its range, or data are no comparisons, or may be read in
            two ways.

    >>> games = [{"winner": "ann", "loser": "bob"}] * 12 + [{"winner": "bob", "loser": "cy"}] * 12
    >>> result = select(games)
    >>> result.best, result.certificate, result.sure
    (['ann'], None, True)
    """
    validation.require_integer("top", top, 1)
    validation.require_probability("delta", delta)
    validation.require_integer("next", next, 1, _MOST_PROPOSED)
    validation.require_integer("seed", seed, 0, _MOST_SEED)
    votes = read_comparisons(data, score, argument, **columns)
    return select_votes(votes, top, delta=delta, next=next, seed=seed)


def select_votes(
    votes: Votes, top: int = 1, *, delta: float = 0.05, next: int = 5, seed: int = 0
) -> SelectionOfVotes:
    """The answer of ``select`` to votes, also about options that none of them is about."""
    validation.require_top(top, len(votes.names))
    return _answer(votes, rate(votes), top, delta, next, np.random.default_rng(seed))


def read_comparisons(
    source: Any, score: str = "auto", argument: str = "votes", **columns: Any
) -> Votes:
    """Votes as ``read_votes`` reads them; ValueError for more or larger ones than can be judged."""
    votes = read_votes(source, score=score, argument=argument, **columns)
    if (count := len(votes.names)) > _MOST_OPTIONS:
        raise BadArgument(argument, f"at most {_MOST_OPTIONS:,} options in all", f"{count:,}")
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
    proven = prove(votes, top, delta)._asdict()
    refused = proven.pop("refused")
    leads = {*proven["leads"]} if proven["certificate"] else set()
    met = rating.pairs.met()
    options, elos = [], np.full((3, len(names)), np.nan)
    if votes.kind == "win":
        elos = _elos(rating, drawn, sides)
    for place, option in enumerate(ranking):
        score, *around = ends[:, option].tolist()
        around = around if is_connected else [None, None]
        times = int(met[option].sum())
        elo, *of_elo = (None if math.isnan(x) else x for x in elos[:, option].tolist())
        of_elo = of_elo if is_connected else [None, None]
        numbers = score, *around, elo, *of_elo
        is_best = names[option] in leads if leads else place < top
        options.append(Ranked(names[option], times, *numbers, level=_LEVEL, selected=is_best))
    ahead = float(expected[last] - expected[first])
    of_gap = (float(low), float(high)) if is_connected else (None, None)
    # Once all that was asked is certified, no comparison is needed for it.
    pairs, log_chance = (
        (np.zeros((0, 2), int), -math.inf) if leads else advice(rating, top, number, rng)
    )
    proposed = Counter(tuple(sorted(pair, key=ranking.index)) for pair in pairs.tolist())
    notes = list(votes.said)
    if votes.kind == "margin" and len(votes.margins) >= _MANY and (votes.margins > 0).all():
        notes.append(
            "all margins are above 0: the first was better in every row; from a scale such as 1 to "
            "5 subtract its middle"
        )
    if not is_connected:
        notes.append("options that no chain of comparisons connects have no order yet")
    notes += proven.pop("notes")
    proposals = [Proposal(names[i], names[j], int(met[i, j]), n) for (i, j), n in proposed.items()]
    answered = SelectionOfVotes(
        top=top,
        delta=delta,
        reading=votes.kind,
        comparisons=len(votes.first),
        options=tuple(options),
        confidence=float(is_right.mean()) if is_connected else None,
        gap=Gap(names[last], names[first], ahead, *of_gap, level=_LEVEL),
        next=tuple(proposals),
        log_chance=log_chance if math.isfinite(log_chance) else None,
        connected=is_connected,
        notes=tuple(notes),
        of_games=votes.sided,
        **proven,
    )
    return answered.without_verdicts(refused) if refused else answered


def _elos(rating: Rating, drawn: np.ndarray, sides: tuple[float, float]) -> np.ndarray:
    """Elo of the qualities, which are log-odds, above their mean, and its interval: [3, K]."""
    found = np.concatenate([rating.qualities[None], drawn]) * 400 / math.log(10)
    found -= found.mean(1, keepdims=True)
    return np.stack([found[0], *np.quantile(found[1:], sides, 0)])
