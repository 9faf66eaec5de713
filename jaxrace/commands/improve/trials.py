"""Trials of Daedalus in a domain, and how good their policies really are.

Axes: J trials, B batches of a trial.
"""

from typing import NamedTuple

import jax
import numpy as np

from jaxrace import sweep
from jaxrace.commands.improve.domains import Domain, performances
from jaxrace.commands.improve.performance import Worth, is_worse
from jaxrace.commands.workbench import Workbench
from jaxrace.improvement import Daedalus, DaedalusJob, DaedalusRow, DaedalusWork


class Trials(NamedTuple):
    """What the trials of a variant have come to."""

    trajectories: np.ndarray  # int64 [B], so far
    performance: np.ndarray  # float64 [J, B], of the policy that is then in use
    is_worse: np.ndarray  # bool [J, B], is that policy worse than the floor?
    is_error: np.ndarray  # bool [J, B], is the candidate declared safe, and worse than the floor?
    row: DaedalusRow  # leaves [J, B, ...]


def run_trials(
    bench: Workbench,
    name: str,
    domain: Domain,
    daedalus: Daedalus,
    delta: float,
    floor: Worth,
    start: Worth,
    trials: int,
) -> Trials:
    """Run Daedalus J times from the domain's initial policy, whose performance is ``start``.

    A candidate must perform like the floor, rho_-; delta is the error probability of a test.
    """
    batches = daedalus.num_batches
    params = daedalus.improvement.params(floor.mean, delta, domain.initial())
    work = DaedalusWork(daedalus, domain.env, domain.env.default_params, params)
    keys = jax.random.split(jax.random.key(np.uint32(bench.seed)), trials)
    jobs = sweep.stacked(DaedalusJob(keys))
    log = bench.sweep(name, work, jobs, width=1, rows_per_job=batches)
    shape = trials, batches
    row = jax.tree.map(lambda x: np.asarray(x).reshape(*shape, *x.shape[1:]), log.rows.row)
    found = jax.tree.map(lambda x: x[row.is_found], row.candidate)
    worth = performances(bench, f"{name}, performance", domain, found)
    is_error = np.zeros(shape, bool)
    is_error[row.is_found] = is_worse(worth, floor)
    # The policy in use is the initial one, or that which was added as number so many.
    trial, batch = np.nonzero(row.is_added)
    places = trial, row.is_added.cumsum(1)[trial, batch]

    def of_current(first: float, added: np.ndarray) -> np.ndarray:
        of_number = np.full((trials, batches + 1), first)
        of_number[places] = added[row.is_added]
        return np.take_along_axis(of_number, np.asarray(row.current_number), 1)

    performance = np.zeros(shape)
    performance[row.is_found] = worth.mean
    return Trials(
        np.asarray(row.trajectories[0], np.int64),
        of_current(start.mean, performance),
        of_current(float(is_worse(start, floor)), is_error).astype(bool),
        is_error,
        row,
    )
