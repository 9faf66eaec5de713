"""Right answers of races on shared tasks: unlike ones, ties, what contradicts itself."""

import json

import numpy as np
import pytest
from command_runs import raced, ran, refused
from right_answers import check, params

import jaxrace
from jaxrace.tables.runs import Scores

rng = np.random.default_rng(11)
CHANCES = np.repeat([[0.8, 0.5], [0.5, 0.8], [0.4, 0.5]], 200, 0)
BENCHMARKS = (rng.random(CHANCES.shape) < CHANCES) + 0.0
SUBJECTS = np.repeat(rng.normal(0, 0.2, (20, 2)), 30, 0) + rng.normal(0, 0.2, (600, 2))
SORTED = SUBJECTS[np.argsort(SUBJECTS[:, 0] - SUBJECTS[:, 1])]
EQUAL = {"a": [1.0, 0, 1, 0, 1, 1], "b": [0.0, 1, 1, 1, 0, 1], "c": [0.0] * 6}
LIST = {"shared": True, "of": 6}
MEAN = {"by": "mean", "low": 0, "high": 1}
BETTER = rng.random((90, 2)) + np.array([0.5, 0])
UNLIKE = rng.permutation(np.repeat([[9.0, 1.0], [1.0, 2.0], [0.0, 7.0]], 100, 0))
# a wins twelve tasks, then b wins them all.
TURNED = np.r_[np.ones(12), -np.ones(14)]
# Under a preference the first 223 runs are looked at, whether they are independent.
EARLY = np.r_[np.full(225, 1.5), np.full(235, -3.0)] + rng.normal(0, 1, 460)
GAMES = rng.normal(rng.normal(0, 1, 26), 0.3, (10, 26))
# Rows that are there several times, though not all of them as often.
RIGHT = (rng.random((60, 2)) < (0.7, 0.5)) + 0.0
PASTED = {
    "pasted": np.tile(RIGHT, (10, 1)),
    "pasted, less a row": np.tile(RIGHT, (10, 1))[:-1],
    "parts pasted": np.concatenate([RIGHT[: 60 - i] for i in range(5)]),
    "pasted and shuffled, less a row": rng.permutation(np.tile(BETTER[:60], (10, 1)))[1:],
}
AGAIN = "tasks: expected different ones, got .*: leave the copies out"
WIDE = "task,a,b\n" + "".join(f"t{i},{x},{y}\n" for i, (x, y) in enumerate(BENCHMARKS))


def race(table, **settings):
    columns = (
        table if isinstance(table, dict) else dict(zip("ab", np.transpose(table), strict=True))
    )
    return jaxrace.race(columns, shared=True, **settings)


def grouped(table, groups=(), names=None, **settings):
    number = len(table)
    tasks = tuple(np.arange(number) for _ in table.T)
    names = names or tuple(map(str, range(number)))
    scores = Scores(("a", "b"), tuple(table.T), tasks, names, groups=tuple(groups))
    return jaxrace.race(scores, shared=True, **settings)


def pasted(command):
    """Status, are data refused, and are they so in JSON?"""
    rows = "".join(f"t{i},{x},{y}\n" for i, (x, y) in enumerate(PASTED["pasted, less a row"]))
    found = ran(command, {"s.csv": f"task,a,b\n{rows}"})
    told = json.loads(ran(f"{command} --json", {"s.csv": f"task,a,b\n{rows}"}).out)
    return found.status, "jaxrace: DATA REFUSED: tasks: " in found.err, "refused" in told


def compare(x, y):
    return int(x > y) - int(x < y)


def headline(result):
    return result.headline(), result.certified


def notes_with(result, text):
    return [note for note in result.notes if text in note]


def contradicted(command, differences):
    """Status, is it refused, and is what is said the table's own contradiction?"""
    rows = "".join(f"{x},{-x}\n" for x in differences)
    found = ran(command, {"s.csv": f"a,b\n{rows}"})
    early = "that a is better than b was certain at an earlier look"
    assert " enough\n" not in found.out  # nothing is certain, so nothing looks so
    return found.status, "\nDATA REFUSED: " in found.out, early in found.out


def same_by_lot():
    """The order depends on seed and names alone: not on that of the rows, nor on scores."""
    names = tuple(f"q{i}" for i in range(90))
    order = rng.permutation(90)
    turned = tuple(names[i] for i in order)
    one = grouped(BETTER, (), names, order_by_lot=5)
    other = grouped(BETTER[order], (), turned, order_by_lot=5)
    seeds = [grouped(BETTER, (), names, order_by_lot=seed).pairs for seed in (5, 6)]
    return one.pairs == other.pairs, seeds[0] == seeds[1]


CHANGE = r"tasks: expected alike ones, .*differences of a and b that change along"
IN_BLOCKS = "got 3 groups of tasks one after the other: x 30, y 30, z 30. weights='equal'"
NAMED = np.repeat(["x", "y", "z"], 30)
PREFIXED = tuple(f"{name}/{i}" for name in ("math", "code", "law") for i in range(30))

# Three times the same 60 tasks, shuffled, with noise that changes every number.
NOISY = rng.permutation(np.tile(rng.normal(100, 9, (60, 2)), (3, 1))) * rng.normal(
    1, 1e-9, (180, 2)
)
EVEN = np.column_stack([np.full(180, 0.5), rng.random(180)])

CASES = [
    # Tasks that are not alike.
    ("benchmarks one after another", lambda: race(BENCHMARKS), ValueError(CHANGE)),
    ("by mean", lambda: race(BENCHMARKS, **MEAN), ValueError(CHANGE)),
    ("subjects in order", lambda: race(SUBJECTS), ValueError(CHANGE)),
    ("sorted by the difference", lambda: race(SORTED), ValueError(CHANGE)),
    (
        "a list in order",
        lambda: race(BENCHMARKS, of=900),
        ValueError("tasks: expected an order drawn by lot, .*change along their order"),
    ),
    (
        "rows pasted ten times",
        lambda: race(np.repeat(BETTER[:20], 10, 0)),
        UserWarning("200 rows, of which 20 differ, most of them 10 times each"),
    ),
    *[
        (f"{name}{of}", lambda rows=rows, ask=ask: race(rows, **ask), ValueError(AGAIN))
        for name, rows in PASTED.items()
        for of, ask in (("", {}), (", a list", {"of": 900}), (", lot", {"order_by_lot": 1}))
    ],
    (
        "copies with noise",
        lambda: race(NOISY),
        ValueError("180 rows, of which 60 differ, most of them 3 times each, to 5 digits; by"),
    ),
    ("rows of many digits", lambda: notes_with(race(EVEN), "different ones"), []),
    (
        "a whole list is known, whatever it is",
        lambda: notes_with(race(PASTED["pasted"], of=600), "expected different ones") != [],
        True,
    ),
    (
        "copies are data refused",
        lambda: pasted("race s.csv --shared"),
        (4, True, True),
    ),
    ("unlike tasks in a random order", lambda: headline(race(UNLIKE, of=400))[1], True),
    ("all of a list in whatever order", lambda: headline(race(SORTED, of=600))[1], True),
    # Groups of tasks.
    ("groups in blocks", lambda: grouped(BETTER, NAMED), ValueError(IN_BLOCKS)),
    (
        "groups of a list",
        lambda: grouped(BETTER, NAMED, of=100),
        ValueError("tasks: expected an order drawn by lot, .*got 3 groups of tasks one after"),
    ),
    (
        "groups by lot",
        lambda: grouped(BETTER, NAMED, order_by_lot=0).headline(),
        "IN ONE LOOK, CERTIFIED: a",
    ),
    (
        "groups in a random order",
        lambda: (
            notes_with(grouped(BETTER, rng.permutation(NAMED)), "groups of tasks are pooled") != []
        ),
        True,
    ),
    (
        "groups of a whole list are said",
        lambda: notes_with(grouped(BETTER, NAMED, of=90), "pooled"),
        ["groups of tasks are pooled, and each task counts the same: x 30, y 30, z 30"],
    ),
    (
        "names of tasks in blocks",
        lambda: grouped(BETTER, (), PREFIXED),
        UserWarning("got 3 groups of tasks one after the other: math 30, code 30, law 30"),
    ),
    (
        "names of a list in blocks",
        lambda: grouped(BETTER, (), PREFIXED, of=100),
        ValueError("expected an order drawn by lot"),
    ),
    # By lot.
    ("by lot whatever the order of rows", same_by_lot, (True, False)),
    ("by lot it is not certain", lambda: headline(race(BENCHMARKS, order_by_lot=0))[1], False),
    ("by lot nothing is next", lambda: race(BENCHMARKS, order_by_lot=0).next_runs, {}),
    (
        "by lot with gaps",
        lambda: race({"a": [1.0, 0, 1], "b": [1.0, np.nan, 0]}, order_by_lot=0),
        ValueError("order_by_lot: expected a table in which every option has run all 3 .* of b"),
    ),
    (
        "by lot of a list",
        lambda: race(BENCHMARKS, of=900, order_by_lot=0),
        ValueError("order_by_lot: expected no of=N beside it"),
    ),
    (
        "by lot by command",
        lambda: raced("--shared --order-by-lot 3", WIDE)["one_look"],
        True,
    ),
    (
        "by command the option is named",
        lambda: refused("race s.csv --shared", {"s.csv": WIDE}),
        ValueError("change along their order: .*--order-by-lot SEED"),
    ),
    # Ties on a whole list.
    ("a tie", lambda: headline(race(EQUAL, of=6)), ("TIED: a, b", False)),
    ("a tie by mean", lambda: headline(race(EQUAL, of=6, **MEAN)), ("TIED: a, b", False)),
    (
        "no tie for two places",
        lambda: headline(race(EQUAL, of=6, top=2)),
        ("KNOWN on these 6 tasks: a, b", True),
    ),
    (
        "a tie for the last place",
        lambda: headline(race({**EQUAL, "d": [1.0] * 6}, of=6, top=2, **MEAN)),
        ("TIED: a, b, for the last 1 of 2 places; among the best: d", False),
    ),
    ("a tie is good enough", lambda: headline(race(EQUAL, of=6, tolerance=0.1))[1], True),
    (
        "the status of a tie",
        lambda: (
            ran(
                "race s.csv --shared --of 6", {"s.csv": "a,b\n1,0\n0,1\n1,1\n0,0\n1,0\n0,1\n"}
            ).status
        ),
        3,
    ),
    # What contradicts itself.
    (
        "an early verdict that turned",
        lambda: headline(jaxrace.race({"a": EARLY, "b": 0 * EARLY}, compare=compare)),
        ("DATA REFUSED: runs do not look alike", False),
    ),
    (
        "early tasks that turned",
        lambda: contradicted("race s.csv --shared", TURNED),
        (4, True, True),
    ),
    (
        "a list that turned",
        lambda: contradicted("race s.csv --shared --of 500", TURNED),
        (4, True, True),
    ),
    # Axes.
    (
        "runs of games",
        lambda: race({"a": GAMES, "b": GAMES + 0.1}),
        ValueError(r"scores \[T, R\] of a, .*got \[10, 26\] .*array.T has the tasks first"),
    ),
    (
        "games first",
        lambda: notes_with(race({"a": GAMES.T, "b": GAMES.T + 0.1}), "26 tasks, with 10 values"),
        ["scores [26, 10] of a: 26 tasks, with 10 values on each"],
    ),
    (
        "runs of games that are independent",
        lambda: jaxrace.race({"a": GAMES, "b": GAMES}),
        ValueError(r"scores \[n\] of a, got an array \[10, 26\]"),
    ),
]


@pytest.mark.parametrize(("act", "right"), params(CASES))
def test_right_answers(act, right):
    check(act, right)
