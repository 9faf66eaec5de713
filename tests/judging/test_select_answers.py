"""Right answers of `select`: files, scores, advice."""

import functools
import itertools

import jax
import numpy as np
import pytest
from in_files import command, in_file
from right_answers import check, params

from jaxrace import selection
from jaxrace.judging.rating.advice import advice
from jaxrace.judging.rating.front import read_comparisons
from jaxrace.judging.rating.model import rate
from jaxrace.tables import Votes

Table = functools.partial(Votes, kind="margin", lines=np.zeros(0))

rng = np.random.default_rng(0)


def read(rows, score="auto", head="first,second,score"):
    return in_file(f"{head}\n{rows}\n", lambda path: read_comparisons(path, score))


def scores(*arguments, **more):
    table = read(*arguments, **more)
    return table.margins.tolist(), table.kind


def judged(rows, top=1, **settings):
    """Who is selected."""
    table = read(rows, settings.get("score", "auto"))
    ranking = np.argsort(-rate(table).qualities)
    return [table.names[i] for i in ranking[:top]]


def votes(count=3_000, players=8):
    """Of players of whom the first are the best; of the two worst there is the least."""
    low, high = np.array([*itertools.combinations(range(players), 2)]).T
    pair = rng.integers(len(low) - 1, size=count)
    pair = np.concatenate([pair, np.full(count // 100, len(low) - 1)])
    first, second = low[pair], high[pair]
    chance = 1 / (1 + np.exp(0.5 * (first - second)))
    names = tuple(f"m{i}" for i in range(players))
    won = np.where(rng.random(len(pair)) < chance, 1.0, -1.0)
    return Table(names, first.astype(np.int32), second.astype(np.int32), won)


def sparse(games=80, players=12):
    """Every game a player's place tells, but for a little noise; some pairs never met."""
    pairs = [*itertools.pairwise(range(players)), (0, players - 1)]
    pairs += [rng.choice(players, 2, replace=False) for _ in range(games - len(pairs))]
    first, second = np.array(pairs, np.int32).T
    margins = second - first + rng.normal(0, 0.5, games)
    return Table(tuple(map(str, range(players))), first, second, margins)


VOTES, SPARSE = votes(), sparse()


def crosses(table, top=3):
    """Is every proposal a pair of one who is selected and one who is not, near the boundary?"""
    rating = rate(table)
    pairs, _ = advice(rating, top, 5, np.random.default_rng(0))
    places = np.argsort(np.argsort(-rating.qualities))[pairs]
    return bool(((places < top).sum(1) == 1).all() and (abs(places - top + 0.5) < 3).all())


def of_sparse():
    rating = rate(SPARSE)
    drawn = np.argsort(-rating.draws(1_000, np.random.default_rng(0)), 1)[:, :3]
    best = np.argsort(-rating.qualities)[:3]
    return sorted(best.tolist()), float((np.sort(drawn, 1) == np.sort(best)).all(1).mean()) > 0.95


def told(*numbers):
    """The mean of what a selector was told of a pair."""
    selector = selection.Uniform(2, 1)
    params = selector.params()
    state = selector.init(params)
    for number in numbers:
        state = selector.tell(state, [0, 1], number, params)
    return float(state.scores.means[0, 1])


def told_at_once(numbers):
    selector = selection.Uniform(2, 1)
    params = selector.params()
    selector.tell_many(selector.init(params), [[0, 1]] * len(numbers), numbers, params)


def compared(problem):
    """Selected by differences of what is in the problem."""
    selector = selection.Uniform(3, 1)
    key, params = jax.random.key(0), selector.params()
    log = selection.run(selector, key, lambda _, p, i, j: p[i] - p[j], problem, 12, params)
    return log.selected[-1].tolist()


def of_table(rows, *options):
    return in_file(
        f"first,second,score\n{rows}",
        lambda path: command(path.parent, "select", str(path), *options),
    )


def chosen(matrix):
    return np.flatnonzero(selection.borda_top(matrix, 1)).tolist()


ALPHABETICAL = "".join(f"a,b,{won}\na,c,{won}\nb,c,{won}\n" for won in [0] * 8 + [1] * 2)
BEYOND_FLOAT32 = "".join(
    f"a,b,{-1 + e}\na,c,{1e9 + e}\nb,c,{1e9 + 1 + e}\n" for e in (-0.25, 0, 0.25)
)

CASES = [
    # What scores are.
    ("votes 1, 0, .5", lambda: scores("a,b,1\na,b,0\nb,a,0.5"), ([1, -1, 0], "win")),
    ("votes as margins", lambda: scores("a,b,1\na,b,0\nb,a,.5", "margin"), ([1, 0, 0.5], "margin")),
    ("signs", lambda: scores("a,b,1\na,b,0\nb,a,-1"), ([1, 0, -1], "margin")),
    ("margins", lambda: scores("a,b,2.5\na,b,-.5"), ([2.5, -0.5], "margin")),
    ("five steps of a scale", lambda: scores("a,b,1\na,b,.5\nb,a,-.5")[1], "margin"),
    ("won by those named first", lambda: scores("a,b,1\nb,a,1"), ([1, 1], "win")),
    (
        "votes of two ways",
        lambda: scores("a,b,1\na,b,-1\nb,a,0.5"),
        ValueError("one way to write votes .* line 3, .* got -1: .* 0.5 in line 4"),
    ),
    (
        "votes of two ways, margins",
        lambda: scores("a,b,-1\nb,a,0.5", "margin"),
        ([-1, 0.5], "margin"),
    ),
    (
        "a scale from 1 to 5",
        lambda: scores("a,b,1\na,b,5\nb,a,3"),
        ValueError("expected win or margin as --score .* line 3, .* got 5: no score is neg"),
    ),
    (
        "shares of a win",
        lambda: scores("a,b,.75\na,b,.25"),
        ValueError("expected win or margin as --score"),
    ),
    ("shares, said so", lambda: scores("a,b,.75\na,b,.25", "win"), ([0.5, -0.5], "win")),
    (
        "signs are no shares",
        lambda: scores("a,b,1\na,b,-1", "win"),
        ValueError("expected shares of a win, .* line 3, .* got -1"),
    ),
    ("who lost is not first", lambda: judged(ALPHABETICAL), ["c"]),
    ("with margins the first is", lambda: judged(ALPHABETICAL, score="margin"), ["a"]),
    # Cells and rows.
    ("spaces", lambda: read("x,y,1\nx, y, 1\n x ,y,1").names, ("x", "y")),
    (
        "spaces and capitals of heads",
        lambda: read("1,x,y", head=" Score ,first, Second").names,
        ("x", "y"),
    ),
    ("empty rows", lambda: read("\nx,y,1\n\n,,\ny,x,1").names, ("x", "y")),
    (
        "a ragged row",
        lambda: read("x,y,1\nx,y\nx,y,1"),
        ValueError("expected 3 cells .*, line 3, got 2"),
    ),
    (
        "an open quote",
        lambda: read('x,y,1\n"x,y,1\nx,y,0'),
        ValueError("expected a table in .* got other text"),
    ),
    ("complex scores", lambda: read("x,y,1+2j"), ValueError(r"expected a number .* got '1\+2j'")),
    (
        "two columns of scores",
        lambda: read("x,y,1,2", head="first,second,score,score"),
        ValueError("expected different names of columns .* 'score' twice"),
    ),
    (
        "too many options",
        lambda: read("\n".join(f"{i},{i + 1},1" for i in range(3_000))),
        ValueError("expected at most 2,000 options .*, got 3,001"),
    ),
    (
        "a file of 10 GB",
        lambda: in_file(lambda path: truncate(path, 10**10), read_comparisons),
        ValueError("expected at most .* bytes .*, got 10,000,000,000"),
    ),
    ("differences below float32", lambda: judged(BEYOND_FLOAT32), ["b"]),
    # Advice.
    ("advice on votes", lambda: crosses(VOTES), True),
    ("a table with gaps", of_sparse, ([0, 1, 2], True)),
    ("advice on a table with gaps", lambda: crosses(SPARSE), True),
    # What selectors are told.
    ("told", lambda: told(1, 0.5, np.float32(-0.75)), 0.25),
    ("told a truth value", lambda: told(True), ValueError("score: expected a number .* got bool")),
    ("told complex", lambda: told(1j), ValueError("score: expected a number .* got .1j")),
    ("told 2^24 + 1", lambda: told(2**24 + 1), ValueError("float32 tells apart, got .16777217")),
    ("told 2^24", lambda: told(2**24), 2.0**24),
    ("told 1e-50", lambda: told(1e-50), ValueError("float32 tells apart, got .1e-50")),
    (
        "told 1 and 1 + 1e-9",
        lambda: told_at_once([1.0, 1 + 1e-9]),
        ValueError("float32 tells apart"),
    ),
    (
        "a problem of 2^32",
        lambda: compared(np.array([2**32, 1, 2])),
        ValueError("problem: expected numbers that an int32 holds, got 4294967296"),
    ),
    (
        "a problem of 1e39",
        lambda: compared(np.array([1e39, 1, 2])),
        ValueError(r"problem: expected numbers that a float32 holds, got 1e\+39"),
    ),
    (
        "borda below float32",
        lambda: chosen(np.array([[0, 1, 1], [1, 0, 1 + 1e-9], [0, 0, 0]])),
        [1],
    ),
    ("borda, complex", lambda: chosen(np.zeros((2, 2), complex)), ValueError("means: expected")),
    (
        "recorded truth values",
        lambda: selection.recorded([0], [1], [False]),
        ValueError("scores: expected numbers, got bool"),
    ),
    (
        "a largest score of 1e20",
        lambda: selection.ActiveRanking(3, 1, outcome="scores").params(max_score=1e20),
        ValueError(r"max_score: expected a number of at most 2.6e\+15, got 1e\+20"),
    ),
    (
        "a confidence that is 1 in float32",
        lambda: selection.Pocbam(3, 1).params(confidence=1 - 1e-12),
        ValueError("confidence: expected a number between 0 and 1 that float32 tells from both"),
    ),
    # What is left.
    ("a ragged file leaves nothing", lambda: of_table("a,b,1\na,b\n"), (2, False)),
    ("too many proposals", lambda: of_table("a,b,1\n", "--next", "100000"), (2, False)),
]


def truncate(path, size):
    """A file of that size, which takes up no room."""
    with path.open("wb") as file:
        file.truncate(size)


@pytest.mark.parametrize(("act", "right"), params(CASES))
def test_right_answers(act, right):
    check(act, right)
