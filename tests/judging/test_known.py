"""A list of tasks that was run whole: what is known of it is not a claim about other tasks."""

import warnings

import numpy as np
import pytest

import jaxrace
from jaxrace.core.validation import BadArgument

MEAN = {"by": "mean", "low": 0.0, "high": 1.0, "shared": True}
# b is ahead on one task of forty: nothing that a sample could show.
ORDER = np.r_[np.random.default_rng(4).permutation(39), 39]
NEARLY = {name: [float(x < right) for x in ORDER] for name, right in (("a", 20), ("b", 21))}


@pytest.mark.parametrize(
    ("found", "headline"),
    [
        (jaxrace.race(NEARLY, of=40, **MEAN), "KNOWN on these 40 tasks: b"),
        (jaxrace.rank(NEARLY, of=40, **MEAN), "KNOWN on these 40 tasks, 2 TIERS: 1 b; 2 a"),
        (
            jaxrace.gate(NEARLY, baseline="a", of=40, **MEAN),
            "KNOWN on these 40 tasks, PASSED: b",
        ),
        (
            jaxrace.gate(NEARLY, baseline="b", of=40, **MEAN),
            "KNOWN on these 40 tasks, REJECTED: a",
        ),
    ],
)
def test_a_whole_list_is_known_and_not_certified(found, headline):
    assert found.headline() == headline
    assert "nothing is said of other tasks" in found.meaning()
    assert "probability" not in str(found)
    part = {name: scores[:39] for name, scores in NEARLY.items()}
    one_task_is_left = jaxrace.race(part, of=40, **MEAN)
    assert "KNOWN" not in one_task_is_left.headline()
    assert one_task_is_left.meaning().endswith("about these 40 tasks alone")


def test_a_gate_says_which_of_its_candidates_are_known():
    data = NEARLY | {"late": [1.0] * 5}
    found = jaxrace.gate(data, baseline="a", of=40, **MEAN)
    assert found.headline() == "NOT YET: late; PASSED: b; on these 40 tasks only"
    guarantee, known = found.meanings()
    assert "with a probability of at most" in guarantee
    assert known.startswith("known of b, as all 40 tasks were run")


def runs_on(column):
    rng = np.random.default_rng(0)
    return [
        {column: f"{place}", "agent": agent, "score": float(rng.normal())}
        for place in range(12)
        for agent in ("a", "b")
    ]


def test_seeds_are_no_list():
    with pytest.warns(UserWarning, match="column 'seed', a sample of many"):
        found = jaxrace.race(runs_on("seed"), shared=True, of=12)
    assert found.headline().startswith("KNOWN on these 12 tasks")
    with pytest.raises(BadArgument, match="of: expected a list of tasks that is the question"):
        jaxrace.gate(runs_on("seed"), baseline="a", shared=True, of=12)


def test_questions_are_one():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jaxrace.race(runs_on("question"), shared=True, of=12)
