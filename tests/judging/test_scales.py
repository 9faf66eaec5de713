"""Options whose scores are on unlike scales are asked about; honest ones are not."""

import numpy as np
import pytest

import jaxrace

RNG = np.random.default_rng(0)
HALF = RNG.integers(2, size=200)
SHARES = RNG.uniform(0.4, 0.9, 200)
FIVE, TEN = RNG.integers(1, 6, 200), RNG.integers(1, 11, 200)
OF_TEN = np.clip(np.rint(RNG.normal(4, 1.2, 200)), 1, 10).astype(int)
DRAWN = RNG.integers(-1, 2, 200)

UNLIKE = {
    "right is 100 of one": ({"a": HALF, "b": 100 * HALF}, "got 0 and 1 of a, 0 and 100 of b: "),
    "percents and shares": ({"a": 100 * SHARES, "b": SHARES[::-1], "c": SHARES}, "of b, "),
    "percents with zeros": ({"a": 100 * SHARES * HALF, "b": SHARES * HALF[::-1]}, "of b, "),
    "1 to 5 and 1 to 10": ({"a": TEN, "b": FIVE}, "got 1 to 5 of b, 1 to 10 of a: "),
}
HONEST = {
    "all right and all wrong": {"a": 0 * HALF + 1, "b": 0 * HALF, "c": HALF},
    "grades of one scale": {"a": TEN, "b": OF_TEN},
    "right, half right and wrong": {"a": DRAWN / 2 + 0.5, "b": HALF},
    "won, drawn and lost": {"a": DRAWN, "b": DRAWN[::-1]},
    "few tasks": {"a": 100 * HALF[:10], "b": HALF[:10]},
    "rewards far apart": {"a": 10 + 20 * SHARES, "b": SHARES},
    "counts": {"a": RNG.binomial(20, 0.9, 200), "b": RNG.binomial(20, 0.5, 200)},
}


def table(columns, layout):
    if layout == "wide":
        return {"task": [f"t{n}" for n in range(len(columns["a"]))], **columns}
    return [
        {"task": f"t{n}", "model": name, "score": float(x)}
        for name, column in columns.items()
        for n, x in enumerate(column)
    ]


@pytest.mark.parametrize("layout", ["wide", "long"])
@pytest.mark.parametrize("name", UNLIKE)
def test_unlike_scales_are_refused_until_the_options_are_named(name, layout):
    columns, got = UNLIKE[name]
    data, names = table(columns, layout), ",".join(columns)
    with pytest.raises(ValueError, match=f"on one scale, .*{got}.*--options {names} says"):
        jaxrace.race(data, shared=True)
    named = jaxrace.race(data, shared=True, options=names)
    assert len(named.options) == len(columns)


@pytest.mark.parametrize("name", HONEST)
def test_honest_scales_are_not_refused(name):
    assert not any("scale" in x for x in jaxrace.race(HONEST[name], shared=True).notes)


def test_times_may_differ_by_any_factor():
    times = {"a": 100 * SHARES, "b": SHARES}
    assert jaxrace.race(times, shared=True, smaller=True).best == ["b"]


def test_few_grades_are_noted():
    few = {"a": TEN[:30], "b": FIVE[:30]}
    said = "are scores of all options on one scale? 1 to 5 of b, 1 to 10 of a"
    assert said in jaxrace.race(few, shared=True).notes


@pytest.mark.parametrize("layout", ["wide", "long"])
@pytest.mark.parametrize("wrong", [0, 1])
def test_minus_one_beside_right_and_wrong_of_others_is_asked_about(layout, wrong):
    """Option a has -1 and 1, or -1, 0 and 1; b has 0 and 1."""
    odd = HALF - (HALF < 1) * (1 - wrong * (np.arange(200) % 2))
    data = table({"a": odd, "b": HALF[::-1]}, layout)
    with pytest.raises(ValueError, match=r"got '?-1.*--failed -1 keeps it"):
        jaxrace.race(data, shared=True)
    counted = jaxrace.race(data, shared=True, failed=0)
    plain = jaxrace.race(table({"a": HALF, "b": HALF[::-1]}, layout), shared=True)
    assert counted.options == plain.options
    assert jaxrace.race(data, shared=True, failed=-1).best == ["b"]
