"""Trials of Daedalus in a domain, and how good their policies really are.

Axes: J trials, B batches of a trial.
"""

from typing import NamedTuple

import jax
import numpy as np

from jaxrace import sweep
from jaxrace.experiments.hcpi_domains import Domain, performances
from jaxrace.experiments.workbench import Workbench
from jaxrace.improvement import Daedalus, DaedalusJob, DaedalusRow, DaedalusWork


class Trials(NamedTuple):
    """What the trials of a variant have come to."""

    trajectories: np.ndarray  # int64 [B], so far
    performance: np.ndarray  # float64 [J, B], of the policy that is then in use
    added: np.ndarray  # float64 [number of policies added], their performance
    row: DaedalusRow  # leaves [J, B, ...]

    @property
    def num_tests(self) -> int:
        """Candidates that were tested."""
        return self.row.is_found.size


def run_trials(
    bench: Workbench,
    name: str,
    domain: Domain,
    daedalus: Daedalus,
    delta: float,
    floor: float,
    trials: int,
) -> Trials:
    """Run Daedalus many times from the domain's initial policy.

    Args:
        bench: Where.
        name: Of the stage.
        domain: The task.
        daedalus: How.
        delta: Error probability of a test.
        floor: rho_-, taken for the performance of the initial policy.
        trials: J.
    """
    batches = daedalus.num_batches
    params = daedalus.improvement.params(floor, delta, domain.initial())
    work = DaedalusWork(daedalus, domain.env, domain.env.default_params, params)
    keys = jax.random.split(jax.random.key(np.uint32(bench.seed)), trials)
    jobs = sweep.stacked(DaedalusJob(keys))
    log = bench.sweep(name, work, jobs, width=1, rows_per_job=batches)
    shape = trials, batches
    row = jax.tree.map(lambda x: np.asarray(x).reshape(*shape, *x.shape[1:]), log.rows.row)
    added = jax.tree.map(lambda x: x[row.is_added], row.candidate)
    worth = performances(bench, f"{name}, performance", domain, added)
    # The policy in use is the initial one, or that which was added as number so many.
    of_number = np.full((trials, batches + 1), floor)
    trial, batch = np.nonzero(row.is_added)
    of_number[trial, row.is_added.cumsum(1)[trial, batch]] = worth
    current = np.take_along_axis(of_number, np.asarray(row.current_number), 1)
    return Trials(np.asarray(row.trajectories[0], np.int64), current, worth, row)
