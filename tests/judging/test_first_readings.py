"""Right answers of files that strangers have tried: where the first reading was wrong."""

import warnings
from typing import Any

import numpy as np
import pytest
from command_runs import raced, refused
from right_answers import check, params

import jaxrace
from jaxrace.judging import DependentRunsWarning

rng = np.random.default_rng(21)
SCORES = rng.random((2, 200))
# The first option fails where it is bad: on its first task, too. Both are equally good.
FAILING = [None if place == 0 or x < 0.3 else x for place, x in enumerate(SCORES[0])]
MEAN: Any = {"shared": True, "by": "mean", "low": 0, "high": 1}
QUESTIONS = [f"q{place}" for place in range(200)]


def long_rows():
    """Option by option, without the tasks that failed."""
    both = zip("ab", (FAILING, SCORES[1]), strict=True)
    return [
        {"question": q, "option": name, "score": x}
        for name, scores in both
        for q, x in zip(QUESTIONS, scores, strict=True)
        if x is not None
    ]


def certified(data, **settings: Any):
    found = jaxrace.race(data, **MEAN, **settings)
    return found.certified, next(pair for pair in found.pairs).low <= 0


def untruth(name):
    settings: Any = {name: "no"}
    return jaxrace.race(dict(zip("ab", SCORES, strict=True)), **settings)


def warned(data: Any):
    """Is the best certified, and what is warned of?"""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        is_certified = jaxrace.race(data, **MEAN).certified
    said = " ".join(str(one.message) for one in found)
    return is_certified, said.partition("got ")[2]


# The first sixty of two hundred tasks that are sorted by how much better a is.
HEAD = np.sort(rng.normal(0, 2, 200))[::-1][:60]
SORTED = np.stack([HEAD, np.zeros(60)]) + rng.normal(0, 1, 60)
BY_SECOND = (found := rng.normal(size=(2, 20)))[:, np.argsort(found[1])]
PASTED = np.repeat(rng.random((2, 30)), 5, axis=1)
EPISODES = "agent,seed,return\n" + "".join(
    f"{agent},{seed},{rng.normal(2 * (agent == 'sac') + seed % 3, 1):.3f}\n"
    for _ in range(25)
    for agent, first in (("ppo", 0), ("sac", 10))
    for seed in range(first, first + 4)
)
LABELS = "label,a,b\n" + "".join(f"{x},{y},{z}\n" for x, y, z in rng.integers(0, 2, (60, 3)))
OUTCOMES = "model,score,outcome\n" + "".join(
    f"{model},{rng.random() + (model == 'b'):.3f},{'failed' if place % 5 == 0 else 'ok'}\n"
    for place in range(30)
    for model in "ab"
)
GAPS = "wide table whose first task an option lacks", "rows option by option"

CASES = [
    (
        GAPS[0],
        lambda: certified({"question": QUESTIONS, "a": FAILING, "b": SCORES[1]}),
        (False, True),
    ),
    (GAPS[1], lambda: certified(long_rows()), (False, True)),
    (
        "gaps that are skipped, as before",
        lambda: jaxrace.race(long_rows(), gaps="skip", **MEAN).certified,
        True,
    ),
    (
        "rows pasted five times, by lot",
        lambda: certified(dict(zip("ab", PASTED, strict=True)), order_by_lot=1),
        ValueError("150 rows, of which 30 differ, most of them 5 times each.*: leave the copies"),
    ),
    (
        "ninety-nine of a hundred copies, shuffled",
        lambda: warned(dict(zip("ab", rng.permutation(PASTED.T[:-1]).T, strict=True))),
        ValueError("got 149 rows, of which 30 differ, most of them 5 times each; .*: leave the"),
    ),
    (
        "no copies: grades of many tasks",
        lambda: warned(dict(zip("abcde", rng.integers(0, 2, (5, 400)), strict=True)))[1],
        "",
    ),
    (
        "columns that nothing is made of are named",
        lambda: raced("", OUTCOMES.replace("outcome", "checkpoint").replace("failed", "9"))[
            "notes"
        ][1],
        "not used: 'checkpoint'",
    ),
    (
        "measures side by side",
        lambda: refused(
            "race s.csv", {"s.csv": "acc_x,loss_x,acc_y,loss_y\n" + ".5,1.2,.4,1.4\n" * 9}
        ),
        ValueError("expected columns of one measure in .*, got 'acc_x' and 'loss_x'"),
    ),
    (
        "bootstrap samples",
        lambda: refused("race s.csv", {"s.csv": "model,bootstrap,acc\n" + "a,1,.5\nb,1,.4\n" * 9}),
        ValueError("expected one row for each run in .*, got column 'bootstrap'"),
    ),
    (
        "sorted by differences, by wins",
        lambda: jaxrace.race(dict(zip("ab", SORTED, strict=True)), shared=True),
        DependentRunsWarning("that change along their order"),
    ),
    (
        "sorted by the scores of one option",
        lambda: jaxrace.race(dict(zip("ab", BY_SECOND, strict=True)), shared=True),
        ValueError("expected alike ones, .* got sorted scores of b, as if rows were sorted"),
    ),
    (
        "sorted by the scores of one option, in one look",
        lambda: (
            jaxrace.rank(dict(zip("ab", BY_SECOND, strict=True)), shared=True, final=True).refused
        ),
        "",
    ),
    (
        "episodes of a few seeds",
        lambda: raced("", EPISODES)["certified"],
        False,
    ),
    (
        "what predictions are compared with",
        lambda: refused("race s.csv --shared", {"s.csv": LABELS}),
        ValueError("got 'label', which may be what the others are compared with"),
    ),
    (
        "states below another head",
        lambda: refused("race s.csv", {"s.csv": OUTCOMES}),
        ValueError("expected to be told what a failed run counts as"),
    ),
    (
        "gaps of independent runs",
        lambda: jaxrace.race(dict(zip("ab", SCORES, strict=True)), gaps="skip"),
        ValueError("gaps: expected shared tasks"),
    ),
    (
        "winners 1 and 2",
        lambda: (
            jaxrace.select(
                [{"model_a": "x", "model_b": "y", "winner": w} for w in (2, 2, 2, 1, 2, 2, 2)]
            ).best
        ),
        ["y"],
    ),
    *(
        (
            f"{name} is no truth value",
            lambda name=name: untruth(name),
            ValueError(f"{name}: expected True or False, got 'no'"),
        )
        for name in ("shared", "dependent", "smaller")
    ),
]


@pytest.mark.parametrize(("act", "right"), params(CASES))
def test_right_answers(act, right):
    check(act, right)


@pytest.mark.parametrize("head", ["env,algo,seed,return", "algo,return"])
def test_tasks_one_after_the_other_are_named_as_a_cause(tmp_path, head):
    """Returns of environments of unlike scales, in the order of these, look like a walk."""
    rng, path = np.random.default_rng(0), tmp_path / "returns.csv"
    rows = [(e, a, n) for e in range(3) for a in ("ppo", "sac") for n in range(10)]
    lines = []
    for env, algo, seed in rows:
        cells = {"env": f"e{env}", "algo": algo, "seed": seed, "return": 100 * env + rng.normal()}
        lines.append(",".join(str(cells[name]) for name in head.split(",")))
    path.write_text("\n".join([head, *lines]))
    with pytest.raises(ValueError, match="tasks one after the other look so too"):
        jaxrace.race(path)
