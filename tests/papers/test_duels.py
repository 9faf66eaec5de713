"""`python -m papers.duels`, and runs of dueling bandits as jobs of a sweep."""

import types
from typing import Any

import jax
import numpy as np
import pytest

from jaxrace import dueling, runs, sweep
from jaxrace.dueling import DuelJob, DuelWork, Rucb, SupKlucb, matrices
from jaxrace.dueling.driver import DuelRecord
from papers.duels import runs as duel_runs
from papers.duels.__main__ import main
from papers.duels.config import ALGORITHMS
from papers.duels.lineup import entrant
from papers.workbench import Workbench

# The cache would stay switched on for the tests that follow.
COMMAND = ["--no-compilation-cache"]

SMALL = ["--horizon", "400", "--repeats", "6"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three algorithms on a matrix of three arms."""
    found = tmp_path_factory.mktemp("runs") / "duel"
    matrix = found.with_name("mine.csv")
    np.savetxt(matrix, [[0.5, 0.1, 0.2], [0.9, 0.5, 0.95], [0.8, 0.05, 0.5]], delimiter=",")
    command = [*COMMAND, *SMALL, "--algorithm", "rucb,savage,uniform", str(matrix)]
    assert main([*command, "--out", str(found)]) == 0
    return found


def test_what_lies_in_the_folder(folder):
    names = {path.name for path in folder.iterdir()}
    figures = {f"{name}.{kind}" for name in ("matrix", "regret") for kind in ("png", "svg")}
    assert names == {"config.json", "log.csv", "summary.json"} | figures
    log = runs.read_log(folder)
    assert set(log["algorithm"]) == {"rucb", "savage", "uniform"}
    assert len(log["duels"]) == 3 * 6 * 100
    assert set(log["duels"]) == set(range(4, 401, 4))
    for algorithm in ("rucb", "savage", "uniform"):
        for repeat in range(6):
            chosen = (log["algorithm"] == algorithm) & (log["repeat"] == repeat)
            for measure in dueling.MEASURES:
                assert (np.diff(log[measure][chosen]) >= -1e-4).all()


def test_the_summary(folder):
    summary = runs.read_summary(folder)
    assert (summary["condorcet"], summary["best"]) == (True, ["1"])
    assert {arm["name"]: arm["played"] for arm in summary["options"]} == {"0": 0, "1": 1, "2": 0}
    found = {one["name"]: one for one in summary["bandits"]}
    # p_1j - 1/2 is .4 and .45 for the others, and a pair holds the winner in two of three cases.
    assert found["uniform"]["strong"] == pytest.approx(400 * (0.4 + 0.45) / 3, rel=0.1)
    assert found["rucb"]["strong"] < found["uniform"]["strong"] / 2
    savage = found["savage"]
    assert (savage["correct"], savage["favourite"], savage["sure"]) == (1, "1", 1)
    assert savage["explored"] < 200
    assert found["rucb"]["explored"] is None


def test_what_a_finished_run_says(folder, capsys):
    matrix = folder.with_name("mine.csv")
    command = [*COMMAND, *SMALL, "--algorithm", "rucb,savage,uniform", str(matrix)]
    assert main([*command, "--out", str(folder), "--resume"]) == 0
    text = capsys.readouterr().out
    assert "\nCondorcet winner 1, Copeland winners 1" in text
    assert max(map(len, text.splitlines())) <= 80 or str(folder) in text
    for name in ("rucb", "savage", "uniform"):
        assert f"\n{name} " in text


def test_an_interrupted_run_goes_on(folder, tmp_path, monkeypatch):
    """Stopped after the first algorithm; the log is the same in the end."""
    played = []
    whole = duel_runs.run_entrant

    def run_entrant(bench, name, *rest):
        if played:
            raise sweep.Interrupted
        played.append(name)
        return whole(bench, name, *rest)

    command = [*COMMAND, *SMALL, "--algorithm", "rucb,savage,uniform"]
    command += [str(folder.with_name("mine.csv")), "--out", str(tmp_path / "run")]
    with monkeypatch.context() as patched:
        patched.setattr("papers.duels.job.run_entrant", run_entrant)
        assert main(command) in (128, 130)
    assert main([*command, "--resume"]) == 0
    for name in ("log.csv", "summary.json"):
        assert (tmp_path / "run" / name).read_bytes() == (folder / name).read_bytes()


def test_what_is_noted_before_the_first_run(capsys, tmp_path, monkeypatch):
    """On stderr: who needs a Condorcet winner that is not there, and another horizon."""
    seen = []

    def run_entrant(*arguments):
        seen.append(capsys.readouterr().err)
        raise sweep.Interrupted

    monkeypatch.setattr("papers.duels.job.run_entrant", run_entrant)
    command = [*COMMAND, "--algorithm", "rucb,uniform", "cyclic", "--horizon", "10007"]
    assert main([*command, "--out", str(tmp_path / "run")]) in (128, 130)
    assert "jaxrace: warning: rucb needs an arm that beats every other one, and" in seen[0]
    assert "jaxrace: warning: horizon: 10,000 duels a run, not 10,007" in seen[0]
    assert "uniform needs" not in seen[0]


@pytest.mark.parametrize(
    ("num_arms", "interval", "horizon", "message"),
    [
        (4, 50, 100, r"^problem: expected probabilities \[3, 3\], got \[4, 4\]"),
        (3, 30, 100, r"^interval: expected a divisor of horizon = 100, got 30"),
        (3, 0, 100, r"^interval: expected an integer of at least 1, got 0"),
        (3, 5, 5, r"^horizon: expected at least 6, in which SupKlucb tries everything once"),
    ],
)
def test_jobs_that_cannot_be_done(num_arms, interval, horizon, message):
    """Nothing is played, be it by a sweep or by hand."""
    algorithm = SupKlucb(3)
    problems = duel_runs.stack_problems([dueling.duels(matrices.flat(num_arms))])
    work = DuelWork(algorithm, interval, horizon, problems, algorithm.params())
    number = np.zeros(2, np.int32)
    jobs = DuelJob(jax.random.split(jax.random.key(0), 2), number)
    with pytest.raises(ValueError, match=message):
        sweep.run(work, sweep.stacked(jobs))
    with pytest.raises(ValueError, match=message):
        work.init(DuelJob(jax.random.key(0), 0))


def test_a_matrix_that_is_not_one_of_many():
    work = DuelWork(Rucb(3), 5, 10, dueling.duels(matrices.flat(3)), Rucb(3).params())
    with pytest.raises(ValueError, match=r"^problem: expected probabilities \[3, 3\], got \[3\]"):
        work.init(DuelJob(jax.random.key(0), 0))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["interleaved-filter", "uniform"])
def test_what_is_not_simulated_is_known(name, tmp_path):
    """Runs that end when exploration does, filled in, are those that go on to the horizon."""
    one = entrant(name, 4, 12_000, 0.01, jax.random.key(0))
    # Arm 1 is the best: what nobody has filled in is 0.
    order = np.ix_([2, 0, 3, 1], [2, 0, 3, 1])
    listed = [np.asarray(matrices.flat(4, p))[order] for p in (0.97, 0.8)]
    problems = duel_runs.stack_problems([dueling.duels(matrix) for matrix in listed])
    bench = Workbench(tmp_path, seed=5)

    found = duel_runs.run_entrant(bench, "run", one, problems, 5, 12_000, 20)

    work = DuelWork(one.algorithm, 600, 12_000, problems, one.params)
    number = np.repeat(np.arange(2, dtype=np.int32), 5)
    keys = jax.random.split(jax.random.key(5), 10)
    log = sweep.run(work, sweep.stacked(DuelJob(keys, number)), width=5)
    row = log.rows.row
    regret = row.regret.reshape(2, 5, 20, -1).cumsum(2)
    np.testing.assert_allclose(found.regret, regret, rtol=1e-5, atol=1e-3)
    np.testing.assert_array_equal(found.recommended, row.recommended.reshape(2, 5, 20))
    np.testing.assert_array_equal(found.decided_at, row.decided_at.reshape(2, 5, 20)[..., -1])
    has_ended = bool((found.decided_at > 0).any())
    assert has_ended == (name != "uniform")
    np.testing.assert_array_equal(found.is_best, found.recommended == 1)


def test_records_after_the_last_row_of_a_run():
    """The last recommendation stays, and costs what it costs; a full run is as it was logged."""
    matrix = np.array([[0.5, 0.9, 0.9], [0.1, 0.5, 0.6], [0.1, 0.4, 0.5]], np.float32)
    problems = duel_runs.stack_problems([dueling.duels(matrix)])
    assert problems.costs is not None
    measures = problems.costs.shape[1]
    columns: dict[str, Any] = {
        "time": np.array([10, 20, 10, 20, 30, 40]),
        "regret": np.ones((6, measures)),
        "recommended": np.array([1, 2, 0, 0, 1, 1]),
        "decided_at": np.array([0, 20, 0, 0, 0, 0]),
    }
    row = DuelRecord(**columns)
    log: Any = types.SimpleNamespace(
        rows=types.SimpleNamespace(row=row, job=np.array([0, 0, 1, 1, 1, 1]))
    )
    bench: Any = types.SimpleNamespace(seed=0, sweep=lambda *_, **named: log)
    rucb = entrant("rucb", 3, 40, 0.5, jax.random.key(0))
    found = duel_runs.run_entrant(bench, "rucb", rucb, problems, 2, 40, 4)
    assert found.recommended.tolist() == [[[1, 2, 2, 2], [0, 0, 1, 1]]]
    assert found.decided_at.tolist() == [[20, 0]]
    stays = 10 * np.asarray(problems.costs)[0, :, 2, 2]
    np.testing.assert_allclose(found.regret[0, 0, 3], 2 + 2 * stays, rtol=1e-6)
    np.testing.assert_allclose(found.regret[0, 1, 3], 4)


@pytest.mark.parametrize(("target", "winner"), [("copeland", 0), ("borda", 1)])
def test_what_is_correct(target, winner):
    """Arm 0 beats both others, hardly; arm 1 has the best rate."""
    matrix = np.array([[0.5, 0.55, 0.55], [0.45, 0.5, 0.99], [0.45, 0.01, 0.5]], np.float32)
    costs, order = jax.numpy.zeros((1, 4, 3, 3)), jax.numpy.arange(3)[None]
    problem = dueling.Problem(jax.numpy.asarray(matrix)[None], costs, None, order)
    found = duel_runs._is_best(problem, np.zeros(1, int), np.arange(3)[None], target)
    assert np.flatnonzero(found[0]).tolist() == [winner]
    name = {"copeland": "sup-klucb", "borda": "sup-klucb-borda"}[target]
    assert duel_runs.target_of(entrant(name, 3, 300, 0.5, jax.random.key(0)).algorithm) == target


def test_every_algorithm_has_a_maker():
    made = [entrant(name, 4, 100, 0.05, jax.random.key(0)) for name in ALGORITHMS]
    assert len({one.algorithm for one in made}) == len(made)
    for one in made:
        one.algorithm.init(one.params)


def test_a_named_matrix_of_wins_is_shown_by_name(tmp_path, capsys):
    (tmp_path / "wins.csv").write_text(",ann,bob,cy\nann,,3,4\nbob,1,,2\ncy,0,2,\n")
    command = [*COMMAND, str(tmp_path / "wins.csv"), "--algorithm", "uniform"]
    command += ["--horizon", "20", "--repeats", "2", "--out", str(tmp_path / "run")]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "wins of the row against the column" in said
    assert "Condorcet winner ann, Copeland winners ann" in said
