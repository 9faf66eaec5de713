"""Which options are the best by comparisons: the front door. Axes: K options."""

import math
from collections import Counter
from typing import Any, Literal

import numpy as np

from jaxrace import validation
from jaxrace.data import Votes, read_votes
from jaxrace.selection.comparisons import LARGEST_SCORE
from jaxrace.selection.votes.judgement import LEAST_OF_A_PAIR, MAKERS, Judgement, judgement_of
from jaxrace.selection.votes.linked import counts_and_means
from jaxrace.selection.votes.result import Gap, Proposal, Ranked, SelectionOfVotes

_MOST_PROPOSED = 10_000
_MOST_SEED = 2**32 - 1
_MOST_OPTIONS = 2_000  # matrices of all pairs must have room


def select(
    data: Any,
    top: int = 1,
    *,
    delta: float = 0.05,
    next: int = 5,
    score: Literal["auto", "win", "margin"] = "auto",
    method: str = "pkg",
    pooled_samples: float = 2.0,
    seed: int = 0,
    argument: str = "data",
    **columns: Any,
) -> SelectionOfVotes:
    """Say which options are the best by comparisons of two, how likely, and what to compare next.

    Nothing is guaranteed: it is an estimate by a model (docs/top_k_selection.md).

    Args:
        data: Votes, games or margins, as ``jaxrace.data.read_votes`` takes them: a data frame,
            columns by name, a list of rows, or the path of a file.
        top: How many of the best are wanted, k.
        delta: The selection is ``sure`` once it is right with an estimated probability of at least
            1 - delta, and those at the boundary were compared ten times each.
        next: How many comparisons to propose.
        score: What numbers are: "win", the share of a win of the first; "margin", by how much it
            was better; "auto", what they can only be.
        method: What judges and proposes where every pair was compared twice or more: pkg, pocbam,
            ml-pocbam, ml-pocbam-stationary, hybrid or uniform.
        pooled_samples: The variance of every pair is mixed with so many samples of that of all.
        seed: Of the draws.
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
    validation.require_choice("method", method, tuple(MAKERS))
    validation.require_number("pooled_samples", pooled_samples, 0)
    validation.require_integer("seed", seed, 0, _MOST_SEED)
    votes = read_comparisons(data, score, argument, **columns)
    validation.require_top(top, len(votes.names))
    judged = judgement_of(votes, top, method, next, pooled_samples, seed)
    return _answer(votes, judged, top, delta)


def read_comparisons(
    source: Any, score: str = "auto", argument: str = "votes", **columns: Any
) -> Votes:
    """Votes as ``read_votes`` reads them; ValueError for more or larger ones than can be judged."""
    votes = read_votes(source, score=score, argument=argument, **columns)
    if len(votes.names) > _MOST_OPTIONS:
        got = f"{len(votes.names):,}"
        raise ValueError(
            f"{argument}: expected at most {_MOST_OPTIONS:,} options in all, got {got}"
        )
    is_large = ~(np.abs(votes.margins) <= LARGEST_SCORE)
    if is_large.any():
        row = int(np.argmax(is_large))
        raise ValueError(
            f"{argument}: expected scores of a size of 2.6e15 at most in line {votes.lines[row]}, "
            f"got {votes.margins[row]:g}"
        )
    return votes


def _answer(votes: Votes, judged: Judgement, top: int, delta: float) -> SelectionOfVotes:
    names, ranking = votes.names, judged.ranking.tolist()
    counts = counts_and_means(votes)[0]
    # S_i is the sum over the others of a margin, of votes from -1 to 1.
    is_win = votes.kind == "win"
    scale = (0.5 if is_win else 1.0) / (len(names) - 1)
    scores, halves = scale * judged.scores, scale * judged.intervals.scores
    scores[np.abs(scores) <= 1e-12 * np.abs(scores).max()] = 0.0
    last, first = ranking[top - 1 : top + 1]
    ahead = float(scores[last] - scores[first])
    ends = np.stack([scores, scores - halves, scores + halves]) + (0.5 if is_win else 0.0)
    # One model of all comparisons is linear: it may expect more than all wins.
    ends = np.clip(ends, 0, 1) if is_win else ends
    options = []
    for place, option in enumerate(ranking):
        score, low, high = ends[:, option].tolist()
        number = int(counts[option].sum())
        around = score, _known(low), _known(high)
        options.append(Ranked(names[option], number, *around, selected=place < top))
    wide = scale * judged.intervals.gap
    gap = Gap(names[last], names[first], ahead, _known(ahead - wide), _known(ahead + wide))
    places = np.argsort(judged.ranking)
    pairs = Counter(tuple(sorted(map(int, pair), key=places.__getitem__)) for pair in judged.pairs)
    notes = list(votes.said)
    if not judged.is_connected:
        notes.append("options that no chain of comparisons connects are in no order yet")
    if judged.model == "linked":
        notes.append(
            f"some pairs have fewer than {LEAST_OF_A_PAIR} comparisons: ranking, probability and "
            "advice are of one model of all of them, score = quality of the first - quality of the "
            "second + noise of one variance (least squares)"
        )
    return SelectionOfVotes(
        top=top,
        delta=delta,
        reading=votes.kind,
        comparisons=len(votes.first),
        model=judged.model,
        options=tuple(options),
        confidence=_known(judged.confidence),
        gap=gap,
        next=tuple(
            Proposal(names[i], names[j], int(counts[i, j]), n) for (i, j), n in pairs.items()
        ),
        log_chance=judged.log_chance if math.isfinite(judged.log_chance) else None,
        connected=judged.is_connected,
        notes=tuple(notes),
    )


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number
