"""Right answers of files that strangers have tried: where the first reading was wrong."""

import numpy as np
from right_command import raced, refused

import jaxrace

rng = np.random.default_rng(21)
SCORES = rng.random((2, 200))
# The first option fails where it is bad: on its first task, too. Both are equally good.
FAILING = [None if place == 0 or x < 0.3 else x for place, x in enumerate(SCORES[0])]
MEAN = {"shared": True, "by": "mean", "low": 0, "high": 1}
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


def certified(data, **settings):
    found = jaxrace.race(data, **MEAN, **settings)
    return found.certified, next(pair for pair in found.pairs).low <= 0


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
        ValueError("30 tasks, each of them 5 times .leave the copies out"),
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
        ValueError("expected to be told what a run that failed counts as"),
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
            lambda name=name: jaxrace.race(dict(zip("ab", SCORES, strict=True)), **{name: "no"}),
            ValueError(f"{name}: expected True or False, got 'no'"),
        )
        for name in ("shared", "dependent", "smaller")
    ),
]
