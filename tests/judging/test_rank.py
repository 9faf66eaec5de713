"""Tiers, ranks, ties and costs of a table."""

import itertools
import json
import math

import numpy as np
import pytest

import jaxrace
from jaxrace.commands.cli import main
from jaxrace.core.validation import BadArgument
from jaxrace.evidence.boundaries import board_levels, board_of, tied_groups
from jaxrace.judging import GateOfTable

MEAN = {"by": "mean", "low": 0, "high": 1}


def coins(chances, number, seed=0):
    """Scores of 0 and 1 by name, shared tasks: the best is called a."""
    rng = np.random.default_rng(seed)
    draws = rng.random((len(chances), number)) < np.array(chances)[:, None]
    return {name: x.astype(float) for name, x in zip("abcdefgh", draws, strict=False)}


def within(one):
    """Is the score of an option strictly inside of its interval?"""
    return one.low < one.score < one.high


def is_beginning(over, chosen):
    """Has each of the chosen a verdict over each of the rest? By loops."""
    rest = [j for j in range(len(over)) if j not in chosen]
    return all(over[i, j] for i in chosen for j in rest)


def test_boundaries_are_all_sets_that_dominate():
    """Against all subsets, with verdicts that are sparse, dense and in circles."""
    rng, seen = np.random.default_rng(0), set()
    for trial in range(300):
        size = 2 + trial % 5
        order = rng.permutation(size)
        over = np.zeros((size, size), bool)
        for place, i in enumerate(order):
            for j in order[place + 1 :]:
                side = rng.random()
                over[i, j], over[j, i] = side < 0.85, side > 0.98
        mean = np.where(over, 0.2, np.where(over.T, -0.2, 0.0))
        board = board_of(over, over, mean)
        sets = [
            set(chosen)
            for number in range(1, size)
            for chosen in itertools.combinations(range(size), number)
            if is_beginning(over, chosen)
        ]
        assert [set(board.ranking[:end]) for end in board.ends] == sets
        seen.add(len(sets))
        for i in range(size):
            ahead = {j for j in range(size) if board.tier[j] < board.tier[i]}
            assert board.lowest[i] == 1 + max(len(ahead), over[:, i].sum())
            alike = int((board.tier == board.tier[i]).sum())
            assert board.highest[i] == min(len(ahead) + alike, size - over[i].sum())
    assert seen == {0, 1, 2, 3, 4, 5}


def test_levels():
    """By mean tiers cost what the best alone costs; two options have two nulls, or one."""
    assert board_levels("mean", 20, 0.1)[:2] == pytest.approx(np.log([190, 1900]))
    assert board_levels("wins", 20, 0.1)[:2] == pytest.approx(np.log([30 / 0.095, 3800]))
    assert board_levels("wins", 2, 0.05).verdict == pytest.approx(math.log(40))
    assert board_levels("mean", 2, 0.05).verdict == pytest.approx(math.log(20))


@pytest.mark.parametrize("settings", [{"shared": True}, {"shared": True, "of": 300}, {}])
def test_by_mean_a_boundary_is_what_a_race_certifies(settings):
    data = coins([0.9, 0.85, 0.6, 0.5, 0.2], 295)
    found = jaxrace.rank(data, **MEAN, **settings)
    ends = np.cumsum([len(tier) for tier in found.tiers])[:-1]
    races = [jaxrace.race(data, top, **MEAN, **settings) for top in range(1, 5)]
    assert [race.top for race in races if race.certified] == ends.tolist() != []
    assert all(race.tiers == found.tiers for race in races)
    for race in races:
        if race.certified:
            assert sorted(race.best) == sorted(found.names[: race.top])


def test_an_option_has_its_mean_with_an_interval():
    """Of shared tasks by loops over lambda and mu; the interval holds all mu that stand."""
    data = coins([0.8, 0.3], 60, seed=4)
    first = jaxrace.rank(data, **MEAN, shared=True).options[0]
    bets = [0.95 / 2.2**k for k in range(6)]

    def stands(mu, scores):
        product, largest = dict.fromkeys(bets, 1.0), 0.0
        for score in scores:
            for bet in bets:
                product[bet] *= 1 + min(bet, 0.99 / max(1 + mu, 1e-6)) * (score - mu)
            largest = max(largest, sum(product.values()) / 6)
        return largest < 4 / 0.05

    assert first.score == data["a"].mean()
    assert first.low is not None
    assert first.high is not None
    for end, step in ((first.low, 1e-3), (first.high, -1e-3)):
        sign = 1 if step > 0 else -1
        values = data["a"] * sign
        assert stands(sign * end + 1e-3, values)
        assert not stands(sign * end - 1e-3, values)


def test_wins_over_all_others():
    """The mean over the others, on the tasks that all have; and the same whoever compares."""
    data = coins([0.8, 0.5, 0.4], 200)
    data["c"][150:] = np.nan
    found = jaxrace.rank(data, shared=True)
    for one in found.options:
        others = [name for name in data if name != one.name]
        signs = [np.sign(data[one.name] - data[other])[:150] for other in others]
        assert one.score == pytest.approx((1 + np.mean(signs)) / 2)
        assert within(one)
    runs = jaxrace.rank({name: x[:100] for name, x in coins([0.8, 0.5, 0.4], 100).items()})
    wins = [np.sign(np.subtract.outer(data["a"][:5], data[x][:5])) for x in "bc"]
    short = jaxrace.rank({name: x[:5] for name, x in data.items()})
    assert {one.name: one.score for one in short.options}["a"] == (1 + np.mean(wins)) / 2
    assert (runs.options[0].low or 0) > 0.5


def test_ties_within_a_tolerance():
    data = coins([0.7, 0.7, 0.3, 0.3], 6_000, seed=1)
    found = jaxrace.rank(data, **MEAN, shared=True, tolerance=0.05, pairs="all")
    assert [sorted(tier) for tier in found.tiers] == [["a", "b"], ["c", "d"]]
    assert [sorted(names) for names in found.tied] == [["a", "b"], ["c", "d"]]
    assert found.is_answered
    assert found.next_runs == {}
    assert "TIED within 0.05: " in found.meaning()
    for pair in found.pairs:
        is_tied = pair.verdict == "tied"
        assert is_tied == ({pair.option, pair.other} in ({"a", "b"}, {"c", "d"}))
        assert is_tied == (pair.low > -0.05 and pair.high < 0.05)
        assert (pair.verdict == "better") == (pair.low > 0)
    assert tied_groups(np.ones((3, 3), bool), np.array([2, 0, 1])) == [[2, 0, 1]]
    near = jaxrace.rank(data, **MEAN, shared=True, tolerance=0.02)
    assert near.tied == []
    assert not near.is_answered
    assert near.next_runs != {}


def test_next_runs_split_a_tier():
    """Followed until there are so many tiers, they come, and need less than all tasks."""
    chances, number = [0.8, 0.78, 0.5, 0.48, 0.2], 3_000
    data = coins(chances, number, seed=2)
    shown = {name: x[:20] for name, x in data.items()}
    settings = {**MEAN, "shared": True, "of": number, "tiers": 3}
    found = None
    for _ in range(200):
        padded = {name: np.full(number, np.nan) for name in data}
        for name, scores in shown.items():
            padded[name][: len(scores)] = scores
        found = jaxrace.rank(padded, **settings)
        if found.is_answered:
            break
        assert found.next_runs
        for name, tasks in found.next_runs.items():
            assert isinstance(tasks, list)
            shown[name] = data[name][: len(shown[name]) + len(tasks)]
    assert found is not None
    assert [sorted(tier) for tier in found.tiers] == [["a", "b"], ["c", "d"], ["e"]]
    assert sum(map(len, shown.values())) < number


def test_what_is_not_alike_has_no_tiers():
    halves = np.repeat([1.0, 0.0], 500)
    data = {"a": halves, "b": 1 - halves, "c": np.full(1_000, 0.5)}
    with pytest.raises(BadArgument, match="tasks: expected alike ones"):
        jaxrace.rank(data, **MEAN, shared=True)
    runs = coins([0.9, 0.1], 50)
    with pytest.warns(jaxrace.judging.DependentRunsWarning):
        doubted = jaxrace.rank({name: np.convolve(x, [1, 1]) for name, x in runs.items()})
    assert not doubted.is_answered
    assert doubted.tiers == [doubted.names]
    assert "nothing is guaranteed" in doubted.meaning()


def test_costs(tmp_path):
    data = coins([0.8, 0.79, 0.5], 500)
    prices = tmp_path / "prices.csv"
    prices.write_text("model,dollars\nc,1\nb,2.5\na,4\n")
    found = jaxrace.rank(data, **MEAN, shared=True, cost=prices)
    assert found.cheapest == "b"
    assert {one.name: one.cost for one in found.options} == {"a": 4, "b": 2.5, "c": 1}
    assert (
        found.to_dict()
        == jaxrace.rank(data, **MEAN, shared=True, cost={"a": 4, "b": 2.5, "c": 1}).to_dict()
    )
    assert jaxrace.rank(data, **MEAN, shared=True, cost=prices, tolerance=0.5).cheapest == "c"
    with pytest.raises(BadArgument, match="cost: expected a number for c, got those of 'a', 'b'"):
        jaxrace.rank(data, **MEAN, shared=True, cost={"a": 4, "b": 2.5})


def test_a_table_of_one_look_asks_for_no_more():
    data = coins([0.8, 0.78, 0.3], 300)
    found = jaxrace.rank(data, **MEAN, shared=True, order_by_lot=1)
    assert found.one_look
    assert "in this one look" in found.meaning()
    assert found.next_runs == {}
    assert jaxrace.rank(data, **MEAN, shared=True).next_runs != {}
    passed = jaxrace.gate(data, baseline="b", **MEAN, shared=True, order_by_lot=1)
    assert isinstance(passed, GateOfTable)
    assert passed.next_runs == {}


def test_smaller_is_better():
    data = coins([0.8, 0.3, 0.3], 400)
    found = jaxrace.rank(data, **MEAN, shared=True, smaller=True)
    assert found.tiers[-1] == ["a"]
    last = found.options[-1]
    assert last.score == data["a"].mean()
    assert within(last)


def test_bad_arguments():
    data = coins([0.8, 0.3], 50)
    with pytest.raises(BadArgument, match="tiers: expected at most 2, got 3"):
        jaxrace.rank(data, tiers=3)
    with pytest.raises(BadArgument, match="pairs: expected"):
        jaxrace.rank(data, pairs="some")  # pyright: ignore[reportArgumentType]
    with pytest.raises(BadArgument, match="runs: expected at most 300 options, got 301"):
        jaxrace.rank(np.random.default_rng(0).random((6, 301)))
    with pytest.raises(TypeError, match="top"):
        jaxrace.rank(data, top=2)


def test_a_list_that_was_run_whole_is_known():
    data = coins([0.8, 0.5, 0.5], 100)
    data["c"] = data["b"][::-1]
    found = jaxrace.rank(data, **MEAN, shared=True, of=100)
    assert [sorted(tier) for tier in found.tiers] == [["a"], ["b", "c"]]
    assert found.whole
    assert found.next_runs == {}
    assert all(one.low == one.score == one.high for one in found.options)
    assert "nothing is said of other tasks" in found.meaning()


def test_command(tmp_path, capsys):
    table = tmp_path / "scores.csv"
    data = coins([0.9, 0.6, 0.2, 0.22], 200)
    rows = [",".join(map(str, row)) for row in zip(*data.values(), strict=True)]
    table.write_text("a,b,c,d\n" + "\n".join(rows) + "\n")
    given = ["rank", str(table), "--shared", "--pairs", "all", "--out", str(tmp_path / "out")]
    assert main([*given, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["tiers"] == [["a"], ["b"], ["d", "c"]]
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"rank.png", "pairs.png", "options.csv", "pairs.csv"} <= names
    report = tmp_path / "board.md"
    assert main(["rank", str(table), "--shared", "--tiers", "3", "--report", str(report)]) == 0
    assert "3 TIERS: 1 a; 2 b; 3 d, c" in report.read_text()
    assert main(["rank", str(table), "--shared", "--tolerance", "0.01"]) == 3
