"""What ``jaxrace.race`` says of tables: as the dominance race does, and by hand."""

import collections
import itertools
import math
import time
import warnings

import numpy as np
import pandas
import polars
import pytest

import jaxrace
from jaxrace.evidence import levels
from jaxrace.evidence.decision import Seen, perhaps_best
from jaxrace.evidence.table_decision import decide
from jaxrace.judging import DependentRunsWarning
from jaxrace.kernels import total_order
from jaxrace.racing import DominanceRace


def normal_tables(number, num_options=5, spread=1.0):
    rng = np.random.default_rng(0)
    for _ in range(number):
        counts = rng.integers(5, 60, num_options)
        yield [rng.normal(spread * i, 1, n).astype(np.float32) for i, n in enumerate(counts)]


def test_it_is_the_dominance_race_decision_by_decision(unchecked):
    """Drawn sample by sample by the JAX race, and judged after every block that anybody has."""
    race = DominanceRace(5, 2, 300, total_order, first_block=5)
    params = race.params(0.05)
    ends = collections.Counter()
    rng = np.random.default_rng(3)
    for place in range(4):
        samples = rng.normal(0.45 * np.arange(5)[:, None] + place / 10, 1, (5, 300))
        samples = samples.astype(np.float32)
        state = race.init(np.float32(0), params)
        while np.asarray(asked := race.ask(state, params)).any():
            counts = np.asarray(state.simulated)
            table = [own[:n] for own, n in zip(samples, counts, strict=True)]
            said = jaxrace.race(table, 2)
            rounds = race.rounds_to_tell(state)
            wanted = {f"option {i}": rounds for i in np.flatnonzero(asked)}
            assert said.next_runs == wanted
            assert not said.certified
            at = np.minimum(counts[:, None] + np.arange(rounds), 299)
            state = race.tell(state, np.take_along_axis(samples, at, 1), params)
        drawn = race.result(state, params)
        ends[drawn.certificate] += 1
        if drawn.decided:
            counts = np.asarray(state.simulated)
            table = [own[:n] for own, n in zip(samples, counts, strict=True)]
            said = jaxrace.race(table, 2)
            assert said.certificate == drawn.certificate
            assert said.best == [f"option {i}" for i in drawn.best]
    assert ends["dominance"] >= 2


def sixty_tasks():
    """Tasks differ far more than models do; b is better than a and c on 56 of 60."""
    tasks = np.random.default_rng(0).normal(0, 3, 60)
    better = np.where(np.arange(60) % 15 == 3, -0.2, 0.2)
    return {"a": tasks, "b": tasks + better, "c": tasks - 0.01}


def test_shared_tasks_show_what_independent_runs_cannot():
    table = sixty_tasks()
    with pytest.warns(DependentRunsWarning, match=r"correlation of 1.00 by row \(shared=True"):
        assert not jaxrace.race(table).certified
    for num_tasks in (None, 60, 1000):
        result = jaxrace.race(table, shared=True, of=num_tasks)
        assert (result.best, result.certified) == (["b"], True)
        (pair,) = [pair for pair in result.pairs if pair.worse == "a"]
        assert pair.estimate == pytest.approx(56 / 60)
        assert 0.5 < pair.low <= pair.estimate <= pair.high <= 1
    assert not jaxrace.race({name: x[:5] for name, x in table.items()}, shared=True).certified


def test_ten_runs_certify_and_nine_do_not():
    """(1 + .95)^10 .3 = 238 and more is enough for K / (.95 delta) = 42."""
    rng = np.random.default_rng(1)
    a, b = rng.normal(9, 1, 10), rng.normal(0, 1, 10)
    result = jaxrace.race({"a": a, "b": b})
    assert (result.best, result.certificate) == (["a"], "dominance")
    early = jaxrace.race({"a": a[:9], "b": b[:9]})
    assert not early.certified
    assert early.next_runs == {"a": 1, "b": 1}
    assert early.at_least == 2
    none = jaxrace.race({"a": [], "b": [1.0, 2.0]})
    assert none.next_runs == {"a": 5, "b": 3}
    assert none.at_least == 18
    assert jaxrace.compare_next({"a": [], "b": [1.0, 2.0]}) == none.next_runs


def test_equal_options_end_within_a_tolerance():
    rng = np.random.default_rng(2)
    same = {name: rng.random(600) < 0.5 for name in "ab"}
    by_mean = {"by": "mean", "low": 0, "high": 1, "shared": True}
    assert not jaxrace.race(same, **by_mean).certified
    result = jaxrace.race(same, **by_mean, tolerance=0.2)
    assert result.certified
    assert "CERTIFIED within 0.2" in str(result)
    assert result.possible == result.names  # though one of the two may be better
    assert jaxrace.race(same, shared=True, tolerance=0.2).certified


def test_ties_on_a_whole_list_are_said():
    """Everything is known, and nothing is left to run; with more tasks it is open."""
    table = {"a": [1.0, 0, 1], "b": [1.0, 1, 0], "c": [0.0, 0, 0]}
    for by in ({"by": "mean", "low": 0, "high": 1}, {}):
        result = jaxrace.race(table, shared=True, of=3, **by)
        assert (result.tied, result.certified, result.next_runs) == (["a", "b"], False, {})
        assert [option.verdict for option in result.options] == ["tied", "tied", "out"]
        open_yet = jaxrace.race(table, shared=True, of=4, **by)
        assert (open_yet.tied, open_yet.certified) == ([], False)


def test_losers_are_out_before_anything_is_decided():
    rng = np.random.default_rng(4)
    table = {name: rng.normal(mean, 1, 40) for name, mean in zip("abc", (3, 3, 0), strict=True)}
    result = jaxrace.race(table)
    assert not result.certified
    assert sorted(result.possible) == ["a", "b"]
    assert {option.name: option.verdict for option in result.options}["c"] == "out"
    assert "c" not in result.next_runs


def short_of(table):
    return {**table, "b": table["b"][:4]}


def test_frames_and_files_are_read(tmp_path):
    runs = {"a": [3.1, 2.9, 3.4, 3.3, 3.0, 3.2, 2.8, 3.6, 3.5, 3.7], "b": [1.1, 1.4, 0.9] * 3}
    rows = [(name, x) for name, column in runs.items() for x in column]
    columns = {"option": [row[0] for row in rows], "score": [row[1] for row in rows]}
    (tmp_path / "s.csv").write_text("\n".join(["option,score", *(f"{n},{x}" for n, x in rows)]))
    expected = jaxrace.race(runs, dependent=True).to_dict()
    for source in (pandas.DataFrame(columns), polars.DataFrame(columns), tmp_path / "s.csv"):
        assert jaxrace.race(source, dependent=True).to_dict() == expected
    odd = polars.DataFrame({"x": columns["option"], "y": columns["score"], "z": columns["score"]})
    found = jaxrace.race(odd, dependent=True, option_column="x", score_column="y")
    assert found.to_dict()["options"] == expected["options"]


def test_tasks_in_common_are_no_independent_runs(tmp_path):
    runs = np.random.default_rng(0).normal([2.0, 0.0], 0.5, (30, 2))
    rows = [f"q{i},{a},{b}" for i, (a, b) in enumerate(runs)]
    text = "\n".join(["question,a,b", *rows])
    (tmp_path / "s.csv").write_text(text)
    with pytest.warns(DependentRunsWarning, match="options have tasks in common"):
        assert not jaxrace.race(tmp_path / "s.csv").certified
    assert jaxrace.race(tmp_path / "s.csv", shared=True).certified
    lines = [line.split(",", 1)[1] for line in text.splitlines()]
    (tmp_path / "s.csv").write_text("\n".join(lines))
    assert jaxrace.race(tmp_path / "s.csv").certified


def test_values_on_a_task_are_averaged_and_options_may_lag():
    rng = np.random.default_rng(5)
    base = rng.normal(0, 3, (40, 1))
    table = {
        "a": base + rng.normal(0.8, 0.3, (40, 3)),
        "b": (base + rng.normal(0, 0.3, (40, 2)))[:25],
        "c": base[:, 0],
    }
    result = jaxrace.race(table, shared=True)
    assert result.certified
    short = jaxrace.race(short_of(table), shared=True)
    assert short.next_runs == {"b": [str(task) for task in range(5, 15)]}
    # At the end of a list no more tasks are asked for than there are.
    ended = {name: x[:8] for name, x in short_of(table).items()}
    assert jaxrace.race(ended, shared=True, of=8).next_runs == {"b": ["5", "6", "7", "8"]}


def test_any_preference():
    """Alive first, then the smaller dose."""

    def compare(x, y):
        return (x[0] > y[0]) - (x[0] < y[0]) or (x[1] < y[1]) - (x[1] > y[1])

    rng = np.random.default_rng(6)
    table = {
        name: [(int(rng.random() < chance), rng.random()) for _ in range(60)]
        for name, chance in (("a", 0.9), ("b", 0.2))
    }
    assert jaxrace.race(table, compare=compare).best == ["a"]
    assert jaxrace.race(table, compare=compare, shared=True).certified
    with pytest.raises(ValueError, match="the opposite of the reverse"):
        jaxrace.race(table, compare=lambda x, y: 1)


def by_size(x, y):
    """A preference between outcomes that are no numbers."""
    return (x["size"] > y["size"]) - (x["size"] < y["size"])


def sized(numbers):
    return [{"size": x} for x in numbers.tolist()]


NOISE = np.random.default_rng(12).normal(size=(3, 300))
WALK = np.cumsum(NOISE[0]) / 10


@pytest.mark.parametrize(
    ("runs", "refused"),
    [
        (np.sort(NOISE[0]), "sorted runs of a"),
        (-np.sort(NOISE[0, :40]), "sorted runs of a"),
        (np.tile(NOISE[0, :150], 2), "the 150 rows from 1 on again from 151 on"),
        (WALK, "223 runs of a with a lag-1 rank correlation"),
        (WALK[:60], "60 runs of a with a lag-1 rank correlation"),
    ],
)
def test_runs_that_depend_on_each_other_are_seen_under_a_preference(runs, refused):
    table = {"a": sized(runs), "b": sized(NOISE[1] + 9)}
    with pytest.raises(ValueError, match=f"{refused}.*--dependent"):
        jaxrace.race(table, compare=by_size)
    result = jaxrace.race(table, compare=by_size, dependent=True)
    assert not result.certified
    assert sum("sorted" in note for note in result.notes) == ("sorted" in refused)


def test_independent_runs_under_a_preference_are_hardly_doubted():
    """One table in a hundred, with ties as without them."""
    rng, doubted = np.random.default_rng(13), 0
    for place in range(200):
        numbers = rng.normal(size=(2, 25))
        runs = (numbers if place % 2 else numbers.round()) + [[0], [9]]
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            result = jaxrace.race(dict(zip("ab", map(sized, runs), strict=True)), compare=by_size)
        doubted += len(warned)
        assert result.certified == (not warned)
    assert doubted <= 6


def test_what_hardly_is_independent_is_doubted_under_a_preference():
    together = {"a": sized(NOISE[0, :40]), "b": sized(NOISE[0, :40] + 9)}
    few = {name: sized(x[180:200]) for name, x in (("a", WALK), ("b", NOISE[1] + 9))}
    for table, doubt in (
        (together, "40 runs of all options with a rank correlation of 1.00 by row"),
        (few, "20 runs of a with a lag-1 rank correlation"),
    ):
        with pytest.warns(DependentRunsWarning, match=doubt):
            assert not jaxrace.race(table, compare=by_size).certified


def test_copied_tasks_are_seen_under_a_preference():
    table = {name: sized(np.tile(x[:20], 2)) for name, x in zip("abc", NOISE, strict=True)}
    with pytest.raises(ValueError, match="got the 20 rows from 1 on again from 21 on"):
        jaxrace.race(table, compare=by_size, shared=True)


def test_smaller_is_the_mirror_image():
    rng = np.random.default_rng(7)
    x = rng.random((80, 4)) * [1, 0.8, 0.5, 0.9]
    for more in ({}, {"by": "mean", "low": 0, "high": 1}):
        one, other = jaxrace.race(x, 2, smaller=True, **more), None
        mirrored = {"low": -1, "high": 0} if more else {}
        other = jaxrace.race(-x, 2, **{**more, **mirrored})
        assert one.best == other.best
        estimates = [pair.estimate for pair in other.pairs]
        assert [pair.estimate for pair in one.pairs] == pytest.approx(estimates, rel=1e-12)


def test_circles_put_nobody_out():
    """Three dice, each better than the next; a fourth loses to all of them."""
    faces = {"a": [2, 4, 9], "b": [1, 6, 8], "c": [3, 5, 7], "d": [0, 0, 0]}
    rng = np.random.default_rng(9)
    table = {name: rng.choice(own, 4000) + 0.0 for name, own in faces.items()}
    early = jaxrace.race({name: own[:1500] for name, own in table.items()})
    assert not early.certified
    assert early.at_least > 0
    one = jaxrace.race(table)
    assert one.certificate == "counts"  # each of the three beats two others
    beats = np.array([[0, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 0, 0, 0]], bool)
    possible, sure = perhaps_best(beats, 1)
    assert possible.all()
    assert not sure.any()
    assert perhaps_best(beats, 3)[0].tolist() == [True, True, True, False]
    # The first is over two, and two are over it: in and out at once, which is neither.
    both = np.array([[0, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]], bool)
    assert [x.tolist() for x in perhaps_best(both, 2)] == [[True] * 4, [False] * 4]


@pytest.mark.slow
def test_tables_are_quick():
    """Processor seconds, on one core of anything."""
    rng = np.random.default_rng(10)

    def seconds(*arguments, **settings):
        start = time.process_time()
        jaxrace.race(*arguments, **settings)
        return time.process_time() - start

    assert seconds(rng.normal(np.linspace(0, 1, 10), 1, (300, 10)), 3) < 1
    assert seconds(rng.normal(0, 1, (15, 2000)) + 9 * (np.arange(2000) < 50), 50) < 20
    answers = (rng.random((14_000, 12)) < np.linspace(0.4, 0.6, 12)).astype(float)
    by_mean = {"by": "mean", "low": 0, "high": 1, "shared": True}
    assert seconds(answers, 3, **by_mean, of=14_000) < 5


def test_many_options():
    """Only pairs across the boundary have evidence, and they decide."""
    rng = np.random.default_rng(8)
    table = rng.normal(0, 1, (25, 400)) + 9 * (np.arange(400) < 2)
    result = jaxrace.race(table, 2)
    assert sorted(result.best) == ["option 0", "option 1"]
    assert result.certified
    assert len(str(result).splitlines()) < 60


def test_levels_by_hand():
    found = levels.levels("wins", 10, 3, 0.05)
    assert found.verdict == pytest.approx(math.log(10 / (0.95 * 0.05)))
    assert found.strong == pytest.approx(math.log(90 / (0.05 * 0.05)))
    assert found.possible == pytest.approx(math.log(21 / 0.05))
    assert levels.levels("mean", 10, 3, 0.05).verdict == pytest.approx(math.log(9 / 0.05))
    within = levels.levels("mean", 10, 3, 0.05, has_tolerance=True)
    assert within.verdict == pytest.approx(math.log(21 / 0.05))
    within = levels.levels("wins", 10, 3, 0.05, has_tolerance=True)
    assert within.verdict == pytest.approx(math.log(45 / 0.05))


def test_the_certificates_are_those_of_the_theorems():
    """All tournaments of four options, and all their verdicts that are no error: no wrong set."""
    pairs = list(itertools.combinations(range(4), 2))
    for winners in itertools.product((0, 1), repeat=6):
        over = np.zeros((4, 4), bool)
        for (i, j), first in zip(pairs, winners, strict=True):
            over[(i, j) if first else (j, i)] = True
        scores = over.sum(1)
        seen = Seen(np.where(over, 9.0, -9.0), over, over, np.where(over, 1.0, 0) - over.T)
        found = decide(seen, 2, 5.0, 1.0)
        assert found.certificate is not None
        inside, outside = scores[found.leads], scores[~found.leads]
        assert inside.min() >= outside.max()
        if found.certificate == "dominance":
            assert over[found.leads][:, ~found.leads].all()
        possible, sure = perhaps_best(over, 2)
        assert not (sure & ~possible).any()
        if found.certificate == "dominance":
            assert (found.leads <= possible).all()


@pytest.mark.parametrize(
    ("data", "settings", "message"),
    [
        ([1.0, 2.0], {}, "scores \\[n\\] of option 0, got an array"),
        (np.zeros(3), {}, "a column for each option, got an array \\[3\\]"),
        ({"a": [1.0, math.nan], "b": [2.0]}, {}, "got NaN for run 2 of a"),
        ({"a": [1.0], 1: [2.0], "1": [3.0]}, {}, "different names, got a, 1, 1"),
        ({"a": [1.0], "b": [2.0]}, {"top": 2}, "top: expected less than the 2 options"),
        ({"a": [1.0], "b": [2.0]}, {"by": "mean"}, "low, high: expected the range"),
        ({"a": [1.0], "b": [2.0]}, {"by": "mean", "low": 1, "high": 1}, "low < high, got 1, 1"),
        (
            {"a": [[0.5]], "b": [[3.0]]},
            {"by": "mean", "low": 0, "high": 1, "shared": True},
            "low 0 to high 1, got 3 for b on task 1",
        ),
        ({"a": [1.0], "b": [2.0]}, {"of": 3}, "of: expected shared tasks"),
        ({"a": [1.0, 2], "b": [2.0]}, {"shared": True, "of": 1}, "of: expected an integer of at"),
        ({"a": [1.0], "b": [2.0]}, {"horizon": 4}, "horizon: expected an integer of at least 5"),
        (
            {"a": [1.0], "b": [2.0]},
            {"compare": lambda x, y: 0, "smaller": True},
            "compare: expected a race by wins",
        ),
        ({"a": np.arange(20.0) ** 2, "b": [2.0]}, {}, "runs: expected independent ones .* sorted"),
    ],
)
def test_what_cannot_be_raced_is_named(data, settings, message):
    with pytest.raises(ValueError, match=message):
        jaxrace.race(data, **settings)


def test_what_no_array_holds_is_named():
    mixed = {"b": [2, 2, 4, 1], "a": [1, None, 0, math.nan]}
    assert [option.runs for option in jaxrace.race(mixed, shared=True).options] == [4, 2]
    with pytest.raises(ValueError, match="as many values on each task as scores of a"):
        jaxrace.race({"a": [[1], [2, 3]], "b": [1.0]}, shared=True)
    with pytest.raises(ValueError, match="numbers as scores of a, got a masked array"):
        jaxrace.race({"a": np.ma.masked_equal([1.0, 2.0], 1.0), "b": [1.0]})


def test_what_a_reader_takes_is_read(tmp_path):
    """Paths, rows, scores by task and columns with words are no lists of scores."""
    expected = [("a", 2, 1.5), ("b", 2, 0.5)]
    for name, numbers in {"a": (1, 2), "b": (0, 1)}.items():
        (tmp_path / f"{name}.csv").write_text(f"seed,return\n0,{numbers[0]}\n1,{numbers[1]}\n")
    models, scores = ["a", "a", "b", "b"], [1, 2, 0, 1]
    for data in (
        {name: tmp_path / f"{name}.csv" for name in "ab"},
        {"a": {"x": 1, "y": 2}, "b": {"x": 0, "y": 1}},
        [{"model": m, "acc": x} for m, x in zip(models, scores, strict=True)],
        {"model": models, "acc": scores},
        {"model": np.array(models), "acc": np.array(scores)},
    ):
        result = jaxrace.race(data, by="mean", low=0, high=2, dependent=True)
        assert [(one.name, one.runs, one.score) for one in result.options] == expected


def test_of_a_whole_list_nothing_is_left_open_by_counts():
    """Who beats the most others is known then, and an option that ties with it beats fewer."""
    rng, seen = np.random.default_rng(4), set()
    for _ in range(300):
        scores = rng.integers(0, 3, (4, 5))
        names = dict(zip("abcd", scores.tolist(), strict=True))
        found = jaxrace.race(names, shared=True, of=5)
        if found.certificate != "counts":
            continue
        beats = (np.sign(scores[:, None] - scores).sum(2) > 0).sum(1)
        best = {"abcd"[option] for option in np.flatnonzero(beats == beats.max())}
        assert set(found.possible) == best
        seen.add(len(found.possible))
    assert seen >= {1, 2}
