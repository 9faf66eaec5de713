"""What a person reads of searches: weights by name, and how the budget went."""

import json
from typing import Any

import numpy as np

from jaxrace.agents.policies import MLP, Linear, Sigmoid
from jaxrace.search import SearchLog
from jaxrace.search.policy_search import SearchRow

ENDED = np.array([[True, True], [True, True], [True, False]])  # the second search has two


def log(learned, names=()):
    columns: dict[str, Any] = {
        "ran": ENDED,
        "generation": np.array([[1, 1], [2, 2], [3, 2]]),
        "episodes": np.array([[10, 20], [30, 60], [70, 60]]),
        "simulated": np.array([[10, 20], [20, 40], [40, 0]]),
        "max_rounds": np.array([[3, 3], [4, 5], [5, 0]]),
        "options_decided": np.array([[0, 1], [2, 3], [1, 0]]),
        "race_decided": np.array([[False, True], [False, False], [True, False]]),
        "best": None,
        "valid": np.ones((3, 2), bool),
    }
    row, ends = SearchRow(**columns), np.array([3, 2])
    return SearchLog(row, ends, learned, 1.0, 2.0, tuple(names))


def test_generations_are_means_over_the_searches_that_ran_them():
    first, second, third = log(np.ones((2, 3), np.float32)).spent
    assert (first.searches, first.episodes, first.max_rounds) == (2, 15, 3)
    assert (second.max_rounds, second.options_decided, second.race_decided) == (4.5, 2.5, 0)
    assert (third.searches, third.episodes, third.race_decided) == (1, 70, 1)


def test_weights_have_the_names_of_the_policy():
    learned = np.array([[1, 2, 3], [5, 6, 8]], np.float32)
    found = log(learned, Sigmoid(2).weight_names)
    assert {name: each.tolist() for name, each in found.weights.items()} == {
        "s[0]": [1, 5],
        "s[1]": [2, 6],
        "constant": [3, 8],
    }
    assert found.headline() == "2 to 3 generations, 60 to 70 episodes of each search"
    assert "  constant   5.5      3     8" in str(found).splitlines()
    assert json.loads(json.dumps(found.to_dict()))["weights"]["s[1]"] == [2, 6]
    assert "<td>constant</td>" in found._repr_html_()
    assert [len(panel.lines) for panel in found.plot().axes] == [2, 2]
    assert len(Linear(3, outputs=2, bias=True).weight_names) == 8


def test_weights_of_other_policies_are_named_by_their_place():
    policy = MLP((1, 2))
    (one,) = policy.example()
    found = log([tuple(np.stack([x, x + 1]) for x in one)])
    assert [*found.weights] == [
        "theta[0][0][0]",
        "theta[0][0][1]",
        "theta[0][1][0]",
        "theta[0][1][1]",
    ]
    assert found.weights["theta[0][1][1]"].tolist() == [0, 1]
