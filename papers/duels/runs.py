"""Runs of a bandit on many problems. Axes: G problems, R runs of each, T records, M regrets."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import sweep
from jaxrace.dueling import (
    Algorithm,
    BordaWinner,
    DuelJob,
    DuelWork,
    Problem,
    borda_winners,
    copeland_winners,
)
from papers.duels.lineup import Entrant
from papers.savage.borda import BordaElimination
from papers.workbench import Workbench, rows_of_jobs

# Runs of a block: their arrays stay in the processor's cache; of few runs, so many blocks. What
# the runs come to may depend on it, so it does not depend on the number of cores.
_WIDTH, _BLOCKS = 256, 4
_FEW_DUELS = 10_000_000  # run as long as what is saved by compiling them in less time


class Runs(NamedTuple):
    """What the runs have come to."""

    time: np.ndarray  # int64 [T], choices so far
    regret: np.ndarray  # float64 [G, R, T, M], so far
    recommended: np.ndarray  # int32 [G, R, T]
    decided_at: np.ndarray  # int32 [G, R], choices until exploration ended, 0 if it did not
    is_best: np.ndarray  # bool [G, R, T], recommended is what the algorithm looks for


def stack_problems(problems: list[Problem]) -> Problem:
    """Problems of one size, leaves [G, ...]."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *problems)


def run_entrant(
    bench: Workbench,
    name: str,
    entrant: Entrant,
    problems: Problem,
    repeats: int,
    horizon: int,
    records: int,
) -> Runs:
    """Run an algorithm on every problem: R runs of T choices, with so many records, which divide T.

    Run r of problem g has the same key whatever the algorithm. What follows exploration is known,
    and not simulated.
    """
    count = problems.probabilities.shape[0]
    interval = horizon // records
    work = DuelWork(
        entrant.algorithm, interval, horizon, problems, entrant.params, ends_when_decided=True
    )
    problem = np.repeat(np.arange(count, dtype=np.int32), repeats)
    keys = jax.random.split(jax.random.key(np.uint32(bench.seed)), len(problem))
    brief = len(problem) * horizon <= _FEW_DUELS
    jobs = sweep.stacked(DuelJob(keys, problem), brief=brief)
    width = min(_WIDTH, -(-len(problem) // _BLOCKS))
    log = bench.sweep(name, work, jobs, width, rows_per_job=records)
    row, lengths = rows_of_jobs(log, len(problem), records)
    # What was not simulated costs as much as the last choice, again and again: [jobs, M].
    decision = row.recommended[:, -1]
    if problems.costs is not None:
        rate = np.asarray(problems.costs)[problem, :, decision, decision]
    else:
        rate = np.asarray(problems.losses)[problem, decision][:, None]
    later = np.arange(records) >= lengths[:, None]
    regret = np.where(later[..., None], interval * rate[:, None], row.regret.astype(float))
    shape = (count, repeats, records)
    return Runs(
        interval * np.arange(1, records + 1),
        regret.cumsum(1).reshape(*shape, -1),
        row.recommended.reshape(shape),
        row.decided_at.max(1).reshape(shape[:2]),
        _is_best(problems, problem, row.recommended, target_of(entrant.algorithm)).reshape(shape),
    )


def target_of(algorithm: Algorithm) -> str:
    """By which score the arm that it looks for is best: copeland or borda."""
    is_borda = isinstance(algorithm, BordaElimination)
    is_borda |= isinstance(getattr(algorithm, "decision", None), BordaWinner)
    is_borda |= getattr(algorithm, "score", None) == "borda"
    return "borda" if is_borda else "copeland"


def _is_best(
    problems: Problem, problem: np.ndarray, decision: np.ndarray, target: str
) -> np.ndarray:
    """Is a decision [jobs, T] without regret, of duels by the score of the ``target``?"""
    if problems.costs is None:
        return np.asarray(problems.losses)[problem[:, None], decision] == 0
    winners = {"copeland": copeland_winners, "borda": borda_winners}[target]
    is_winner = np.stack([winners(matrix) for matrix in np.asarray(problems.probabilities)])
    return is_winner[problem[:, None], decision]
