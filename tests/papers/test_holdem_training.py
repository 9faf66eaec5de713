"""`python -m papers.holdem`: what it leaves, equal hands, resuming, and bad input."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace import runs, sweep
from jaxrace.commands.job import Job
from jaxrace.envs.holdem import Deals
from jaxrace.runs import tables
from papers.holdem import job
from papers.holdem.__main__ import main
from papers.holdem.config import SELECTIONS, HoldemConfig
from papers.holdem.evolution import RaceSelection
from papers.holdem.job import selection_of, train_holdem
from papers.holdem.matches import OPPONENTS, ShortMatch
from papers.workbench import Workbench

# Small stacks make small trees; 10 pairs of 5 players have 30 matches of 4 hands.
SMALL: dict[str, Any] = {
    "population": 5,
    "matches": 3,
    "decks": 2,
    "hands": 300,
    "stack": 200,
    "pool": 20,
    "block": 4,
    "repeats": 2,
    "test_matches": 3,
    "test_decks": 4,
}
# The cache would stay switched on for the tests that follow.
COMMAND = ["--no-compilation-cache"]


def options(**settings):
    pairs = ((f"--{name.replace('_', '-')}", str(value)) for name, value in settings.items())
    return [word for pair in pairs for word in pair]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a small job."""
    folder = tmp_path_factory.mktemp("runs") / "small"
    job = [*COMMAND, *options(selection="uniform", **SMALL), "--out", str(folder)]
    assert main(job) == 0
    return folder


@pytest.mark.slow
def test_what_a_run_prints(finished, capsys):
    """That of a finished run is printed again when it is to go on."""
    job = [*COMMAND, *options(selection="uniform", **SMALL), "--out", str(finished)]
    assert main([*job, "--resume"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["start", "uniform"]
    assert [line.split("  ")[0] for line in lines[1:6]] == [*OPPONENTS, "generations"]
    assert lines[5].split() == ["generations", "0", "3"]
    assert lines[6].endswith("95 % confidence intervals over 2 searches")
    assert lines[7:] == [
        "uniform: 30 matches per generation",
        f"300 hands by each search; {finished}",
    ]


@pytest.mark.slow
def test_what_a_run_leaves(finished):
    assert {path.name for path in finished.iterdir()} == {
        *("config.json", "log.csv", "evaluation.csv", "summary.json"),
        *("players.npz", "learning_curve.png"),
    }
    log = runs.read_log(finished)
    # 30 matches of 4 hands are 120 hands: the third generation uses up the last of 300.
    assert log["hands"].tolist() == [120, 240, 360] * 2
    assert log["matches"].tolist() == [30] * 6
    table = tables.read_table(finished / "evaluation.csv")
    assert len(table["hands"]) == len(OPPONENTS) * 2 * 10
    first = {name: column[:10].tolist() for name, column in table.items()}
    # After each ninth of the hands, the last generation so far; at the end the last of all.
    assert first["generation"] == [0, 0, 0, 0, 1, 1, 1, 1, 2, 3]
    assert first["hands"] == [0, 0, 0, 0, 120, 120, 120, 120, 240, 360]
    assert set(first["opponent"]) == {"always call"}
    with np.load(finished / "players.npz") as players:
        assert players["uniform"].shape == (2, 1449)
        assert not np.array_equal(*players["uniform"])
    summary = runs.read_summary(finished)
    ends = table["mbb_per_hand"].reshape(len(OPPONENTS), 2, 10)
    for number, opponent in enumerate(OPPONENTS):
        won = summary["selections"]["uniform"]["opponents"][opponent]
        assert won["mean"] == pytest.approx(ends[number, :, -1].mean())
        assert summary["start"][opponent]["mean"] == pytest.approx(ends[number, :, 0].mean())
        assert won["count"] == 2


@pytest.mark.slow
def test_what_is_interrupted_goes_on_to_the_same_end(finished, tmp_path):
    config, folder, seen = HoldemConfig("uniform", **SMALL), tmp_path / "resumed", []

    def on_stage(name, done, total):
        del total
        if name == "uniform" and done:
            seen.append(done)

    with pytest.raises(sweep.Interrupted, match="resumed"):
        train_holdem(Job(config, folder, False, lambda: bool(seen), on_stage))
    assert not (folder / "log.csv").exists()
    assert train_holdem(Job(config, folder, resume=True)) == folder
    for name in ("log.csv", "evaluation.csv", "summary.json"):
        assert (folder / name).read_bytes() == (finished / name).read_bytes()
    assert not (folder / "checkpoint").exists()


@pytest.mark.slow
def test_a_race_has_at_most_as_many_matches(tmp_path, capsys):
    folder = tmp_path / "run"
    settings = SMALL | {"matches": 6, "repeats": 1, "hands": 500, "seed": 3}
    command = [*COMMAND, *options(selection="race", **settings), "--out", str(folder)]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "95 % confidence intervals over 3 matches" in said
    assert "race: 55 matches per generation; the better half was certain in 0% of them" in said
    log = runs.read_log(folder)
    # At most 12 samples of each player, of which there are 11 in the first block.
    assert set(log["matches"]) == {55}
    assert log["hands"].tolist() == [220, 440, 660]
    assert main([*command, "--resume"]) == 0
    assert capsys.readouterr().out == said


def test_the_pool_is_made_of_whole_sets(tmp_path, monkeypatch):
    def numbered_sets(bench, name, sets, num_decks):
        del bench, name
        numbers = jnp.arange(sets * num_decks).reshape(sets, num_decks)
        hands = jnp.arange(8).reshape(1, 4, 2, 1)
        return Deals(numbers, 100 * hands + numbers[:, None, None])

    monkeypatch.setattr(job, "_SET", 4)
    monkeypatch.setattr(job.matches, "deal_sets", numbered_sets)
    pool = job._make_pool(HoldemConfig(pool=10), Workbench(tmp_path))
    assert pool.winner.tolist() == list(range(12))
    assert pool.strengths.shape == (4, 2, 12)
    assert pool.strengths[1, 1].tolist() == list(range(300, 312))


@pytest.mark.parametrize(("matches", "warm_up"), [(2, 2), (4, 3)])
@pytest.mark.parametrize("name", SELECTIONS)
def test_no_selection_plays_more_matches_than_the_others(name, matches, warm_up):
    config = HoldemConfig(matches=matches)
    selection = selection_of(config, name)
    if isinstance(selection, RaceSelection):
        assert name == "race"
        assert selection.race.capacity * config.population <= config.budget
        assert selection.race.top == 16
    else:
        assert selection.budget == config.budget == matches * 496
        assert selection.selector.warm_up == warm_up
        assert (selection.budget - selection.selector.opening) % selection.batch == 0
        assert selection.selector.top == 16
    assert isinstance(selection.compare, ShortMatch)
    assert 2 * selection.compare.decks == config.hands_of_match == 10
