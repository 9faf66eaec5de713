"""Jobs for the tests of sweeps: small, and of floats that every rounding would show."""

import dataclasses
import hashlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import sweep
from jaxrace.sweep import lanes as sweep_lanes


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Wander:
    """A chaotic walk of a few numbers, until a given length; some fail on their way."""

    weights: Any  # float32 [5, 5]

    def init(self, job):
        return {"key": job["key"], "job": job, "x": jnp.full(5, 0.3), "step": jnp.int32(0)}

    def step(self, state):
        step = state["step"] + 1
        noise = jax.random.normal(jax.random.fold_in(state["key"], step), (5,))
        x = jnp.tanh(3 * self.weights @ state["x"] + 0.1 * noise)
        x = jnp.where(step == state["job"]["breaks"], jnp.nan, x)
        row = {"x": x, "energy": jnp.exp(x).sum(), "left": state["job"]["length"] - step}
        return {**state, "x": x, "step": step}, row

    def done(self, state):
        return state["step"] >= state["job"]["length"]

    def failed(self, row):
        return jnp.isnan(row["energy"])


WORK = Wander(np.random.default_rng(0).normal(size=(5, 5)).astype(np.float32))
WIDTH = 8


def wanders(lengths, breaks=None):
    """Jobs of these lengths, which fail in these steps: 0 is never."""
    lengths = np.asarray(lengths, np.int32)
    breaks = np.zeros_like(lengths) if breaks is None else np.asarray(breaks, np.int32)
    numbers = np.arange(len(lengths), dtype=np.uint32)
    keys = jax.vmap(jax.random.fold_in, (None, 0))(jax.random.key(1), numbers)
    return {"key": keys, "length": lengths, "breaks": breaks}


def mixed_lengths(count):
    """From no step at all to more than a burst holds."""
    lengths = np.random.default_rng(2).integers(0, 20, count)
    lengths[:: max(count // 3, 1)] = 70
    return lengths


def run(jobs, **arguments):
    """A sweep with few lanes."""
    return sweep.run(WORK, sweep.stacked(jobs), **{"width": WIDTH, **arguments})


def watch(monkeypatch, see):
    """Let ``see(burst, begun, limit, quota)`` see every burst, and what was asked for."""
    program = sweep_lanes.program

    def watched_program(*what):
        lanes, play = program(*what)

        def watched(lanes, *asked):
            lanes, burst = play(lanes, *asked)
            see(burst, *asked)
            return lanes, burst

        return lanes, watched

    monkeypatch.setattr(sweep_lanes, "program", watched_program)


def bits(log):
    """A short name of all rows as they lie in memory."""
    return digest(jax.tree.leaves(log.rows))


def digest(arrays):
    """Of each array, in few letters: a difference is not to print megabytes."""
    return [hashlib.sha256(array.tobytes()).hexdigest()[:12] for array in arrays]
