"""Small parts of the command that its own runs hardly try out."""

import io
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rich.console import Console
from rich.progress import Progress

from jaxrace.audits.dominance.options import TASKS
from jaxrace.audits.reckoning import Finding, markdown_table
from jaxrace.commands.duel.job import record_count, rounded
from jaxrace.commands.holdem.evolution import random_other
from jaxrace.commands.improve.domains import of_gridworld
from jaxrace.commands.progress import Stages, shown_stages, waiting
from jaxrace.commands.select.curves import Curve, samples_between
from jaxrace.commands.select.tasks import best_by
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.learning import search_budget
from jaxrace.commands.train.summary import describe_failures
from jaxrace.commands.workbench import with_error


def test_records_of_duels_are_evenly_spaced():
    assert [record_count(horizon) for horizon in (10_000, 1_024, 7)] == [100, 64, 7]
    assert [rounded(horizon) for horizon in (10_000, 1_024, 7, 10_007)] == [
        10_000,
        1_024,
        7,
        10_000,
    ]


def test_stages_on_a_pipe_are_lines(capsys):
    with shown_stages(Console(), "episodes", is_timed=True) as on_stage:
        on_stage("compiling", 0, 0)
        on_stage("training", 0, 1_000)
        on_stage("training", 1_000, 1_000)

    assert capsys.readouterr().out == "compiling ...\ntraining on 1,000 episodes ...\n"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_who_waits_on_a_terminal_is_told_why(is_terminal, monkeypatch):
    """After two seconds, here none."""
    monkeypatch.setattr("jaxrace.commands.progress._SECONDS_PER_LINE", 0)
    file = io.StringIO()
    with waiting(Console(file=file, force_terminal=is_terminal), "reading [red]s.csv"):
        time.sleep(0.2)
    assert ("reading [red]s.csv" in file.getvalue()) == is_terminal
    assert is_terminal or file.getvalue() == ""


def test_a_bar_ends_with_its_stage():
    with Progress(disable=True) as progress:
        bar = Stages(Console(), "episodes", bar=progress)
        bar("training", 0, 1_000)
        bar("training", 1_000, 1_000)

    assert progress.finished


def test_every_other_member_may_be_the_opponent():
    keys = jax.random.split(jax.random.key(0), 30)

    drawn = jax.vmap(random_other, (0, None, None))(keys, jnp.int32(1), 3)

    assert set(drawn.tolist()) == {0, 2}


@pytest.mark.parametrize(("ranking", "best"), [("copeland", 0), ("borda", 1)])
def test_rankings_disagree_about_the_best(ranking, best):
    chances = jnp.array([[0.5, 0.6, 0.6], [0.4, 0.5, 1.0], [0.4, 0.0, 0.5]])

    assert np.flatnonzero(best_by(chances, ranking, 1)).tolist() == [best]


def test_samples_between_two_records():
    curve = Curve(np.array([10.0, 20.0]), np.array([[False, True], [True, True]]))

    assert samples_between(curve, 0.8) == 16
    assert samples_between(curve, 0.5) == np.inf  # reached before the first record


def test_the_final_race_is_paid_from_the_budget():
    assert search_budget(10_000, generation=14 * 30) == 7_580
    assert search_budget(100, generation=14 * 30) == 1


def test_failures_are_described_in_a_line(tmp_path):
    failed = [{"sigma": 1.0, "delta": 0.2, "repeat": 4}]

    assert describe_failures(TrainConfig(repeats=5), {"failed": failed}, tmp_path) == (
        "1 of 5 searches failed (NaN or infinite outcomes), first sigma 1.0, delta 0.2, repeat 4; "
        f"{tmp_path.as_posix()} has the others"
    )


def test_the_return_of_random_moves_in_the_gridworld():
    found = of_gridworld(lambda seen: jnp.full((len(seen), 4), 0.25))

    assert round(float(found), 2) == -9.93


def test_a_mean_and_its_error_in_words():
    assert with_error(1331.2, 24.8) == "1,331 ± 25"
    assert with_error(0.99, 0.0021, digits=3) == "0.990 ± 0.002"


def test_findings_of_an_audit_as_a_table():
    table = markdown_table([Finding("coin", "kl", 0.2, 0.2, 12, 1_000)])

    assert table.splitlines() == [
        "| Task | Bound | delta | allowed | races | wrong | rate | 99.9 % interval | verdict |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        "| coin | kl | 0.2 | 0.2 | 1,000 | 12 | 0.01200 | 0.00374 to 0.02798 | upheld |",
    ]


def test_who_is_best_in_a_circle():
    circles = {task.name: task for task in TASKS}
    circle = circles["circle above the boundary"]
    chosen = np.array([[1, 1, 1, 0], [1, 1, 0, 1]], bool)
    assert circle.dominates(chosen).tolist() == [True, False]

    circle = circles["circle at the boundary"]
    assert circle.is_copeland_top(np.eye(3, dtype=bool)).all()
