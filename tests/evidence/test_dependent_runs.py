"""Runs that depend on each other: nothing is certified of them."""

import warnings

import numpy as np
import pytest
from command_runs import raced, refused
from right_answers import check, params

import jaxrace
from jaxrace import racing
from jaxrace.kernels import total_order

rng = np.random.default_rng(20)
NOISE = rng.normal(size=(2, 50))
BETTER = np.array([[0], [5]])  # the second, whatever the noise
RACE = racing.DominanceRace(2, 1, 60, total_order)


def autoregressive(correlation, number):
    x = NOISE[:, :number].copy()
    for t in range(1, number):
        x[:, t] = correlation * x[:, t - 1] + np.sqrt(1 - correlation**2) * x[:, t]
    return x + BETTER


def common(correlation, number=50):
    """Two options with a part in common, row by row, of which one is better."""
    part = rng.normal(size=number) * np.sqrt(abs(correlation))
    own = np.sqrt(1 - abs(correlation)) * NOISE[:, :number]
    return own + np.stack([part, np.sign(correlation) * part]) + BETTER


def said(columns, **settings):
    """The headline, and what is warned of."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        result = jaxrace.race(dict(zip("ab", columns, strict=True)), **settings)
    return result.headline(), result.certified, len(warned)


def judged(columns, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = racing.judge(total_order, list(columns), **settings)
    return result.certificate, result.meaning()


def written(columns, heads):
    return "\n".join([heads, *(",".join(map(str, row)) for row in np.transpose(columns)), ""])


DOUBTED = ("NOT CERTIFIED, a guess: b", False, 1)
NOTHING = "runs may depend on each other, and nothing is guaranteed"
# Beside one option alone: --options could not name two.
CLOCK = ValueError("got column '.*', which is sorted: a clock or a step. leave it out$")

CASES = [
    ("twenty runs, autocorrelation .8", lambda: said(autoregressive(0.8, 20)), DOUBTED),
    ("fifty runs, autocorrelation .5", lambda: said(autoregressive(0.5, 50)), DOUBTED),
    (
        "a trend of one standard deviation",
        lambda: said(NOISE + np.linspace(-1.7, 1.7, 50) + BETTER),
        ValueError("with a mean (lag-1 rank correlation|rank correlation with time) of 0"),
    ),
    ("rows in common", lambda: said(common(0.7)), DOUBTED),
    (
        "common shocks, one up and one down",
        lambda: said(common(-0.9)),
        ValueError(r"correlation of -0.* by row \(shared=True \(--shared\)"),
    ),
    ("independent runs", lambda: said(NOISE + BETTER), ("CERTIFIED: b", True, 0)),
    (
        "dependent",
        lambda: said(autoregressive(0.9, 50), dependent=True),
        ("NOT CERTIFIED, a guess: b", False, 0),
    ),
    (
        "dependent, nothing is stated",
        lambda: (
            (x := jaxrace.race(dict(zip("ab", NOISE, strict=True)), dependent=True)).certificate,
            {option.verdict for option in x.options},
            x.possible == x.names,
            x.meaning(),
        ),
        (None, {"?"}, True, NOTHING),
    ),
    (
        "judge, dependent",
        lambda: judged(NOISE + BETTER, dependent=True),
        (None, NOTHING),
    ),
    (
        "judge, in doubt",
        lambda: judged(autoregressive(0.8, 20)),
        (None, NOTHING),
    ),
    (
        "so few runs",
        lambda: [
            "too few runs to see whether they depend on each other"
            in jaxrace.race({"a": NOISE[0, :n], "b": NOISE[1, :n] + 5}).notes
            for n in (20, 40)
        ],
        [True, False],
    ),
    *(
        (f"a clock: {head} {' '.join(options)}", act, CLOCK)
        for head in ("t", "time/total_timesteps", "evaluations")
        for options in ([], ["--dependent"], ["--shared"])
        for act in [
            lambda head=head, options=options: refused(
                " ".join(["race s.csv", *options]),
                {"s.csv": written([NOISE[0], np.cumsum(np.exp(NOISE[1]))], f"return_a,{head}")},
            )
        ]
    ),
    (
        "no clock: few runs",
        lambda: jaxrace.race({"a": NOISE[0, :5], "t": np.arange(5) + 9.5}).headline(),
        "NOT CERTIFIED, a guess: t",
    ),
    (
        "a clock names the runs",
        lambda: raced(
            "--task-column t",
            written([*(NOISE + BETTER), np.arange(50) * 9], "a,b,t"),
        )["best"],
        ["b"],
    ),
]


@pytest.mark.parametrize(("act", "right"), params(CASES))
def test_right_answers(act, right):
    check(act, right)
