"""Small sweeps: steps that are made of small programs leave what one program for all leaves."""

import dataclasses

import jax
import numpy as np
import pytest

from jaxrace import sweep
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.learning import make_search, make_sweep
from jaxrace.commands.train.tasks import TASKS


def both_logs(config, **how):
    """The same searches by small programs, and as one."""
    task = TASKS[config.env](config)
    keys = jax.random.split(jax.random.key(3))
    work, jobs = make_sweep(config, task, make_search(config, task), *keys)
    assert jobs.brief
    fused = dataclasses.replace(jobs, brief=False)
    return sweep.run(work, jobs, **how), sweep.run(work, fused, **how)


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "pb-edps-fast"},
        {"method": "pb-edps", "delta": (0.1, 0.2)},
        {"method": "edps", "max_rounds": 40},
        {"method": "edps-fast"},
    ],
    ids=lambda settings: settings["method"],
)
def test_small_steps_leave_the_rows_of_one_program(settings):
    config = TrainConfig(episodes=2_500, repeats=3, test_patients=40, **settings)
    small, fused = both_logs(config)
    assert (small.width, small.num_devices) == (small.num_jobs, 1)
    for x, y in zip(jax.tree.leaves(small.rows), jax.tree.leaves(fused.rows), strict=True):
        if x.dtype.kind in "biu":
            np.testing.assert_array_equal(x, y)
        else:
            np.testing.assert_allclose(x, y, rtol=2e-3, atol=2e-4)
