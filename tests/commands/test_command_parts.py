"""Small parts of the command that its own runs hardly try out."""

import io
import re

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console

from jaxrace.commands.printing import name_column, print_table, verdict_column
from jaxrace.commands.progress import shown_stages
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.learning import search_budget
from jaxrace.commands.train.summary import describe_failures
from papers.audits.dominance.options import TASKS
from papers.duels.job import record_count, rounded
from papers.holdem.evolution import random_other
from papers.improvements.domains import of_gridworld
from papers.workbench import with_error


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


def test_every_other_member_may_be_the_opponent():
    keys = jax.random.split(jax.random.key(0), 30)

    drawn = jax.vmap(random_other, (0, None, None))(keys, jnp.int32(1), 3)

    assert set(drawn.tolist()) == {0, 2}


def test_the_final_race_is_paid_from_the_budget():
    assert search_budget(10_000, generation=28 * 10, final_rounds=100) == 8_720
    assert search_budget(100, generation=28 * 10, final_rounds=100) == 1


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


def test_who_is_best_in_a_circle():
    circles = {task.name: task for task in TASKS}
    circle = circles["circle above the boundary"]
    chosen = np.array([[1, 1, 1, 0], [1, 1, 0, 1]], bool)
    assert circle.dominates(chosen).tolist() == [True, False]

    circle = circles["circle at the boundary"]
    assert circle.is_copeland_top(np.eye(3, dtype=bool)).all()


def test_a_narrow_terminal_cuts_no_name_and_no_number():
    told = io.StringIO()
    console = Console(force_terminal=True, width=50, file=told)
    heads = [name_column("option"), "better by", "interval", verdict_column()]
    rows = [["large", "0.122", "0.0358 to 0.203", "too few: about 270 more"]]
    print_table(console, heads, rows)
    printed = re.sub(r"\x1b\[\d*m", "", told.getvalue())
    assert max(map(len, printed.splitlines())) <= 50
    assert re.search("large +0.122 +0.0358 to 0.203 +too few", printed)
