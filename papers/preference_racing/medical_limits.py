"""What can be reached in the medical task, exactly: only a patient's start and luck are random.

A patient survives hazards that sum to H with the probability exp(-H), so the survival rate of a
policy is the mean of exp(-H) over the starts. Axes: N starts, P policies, T = 6 months.
"""

import functools
import itertools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy import optimize

from jaxrace import sweep
from jaxrace.agents.policies import Sigmoid
from jaxrace.commands.train.config import TrainConfig
from jaxrace.envs.medical import Hazard, Medical, MedicalParams, MedicalState, hazard_rate, progress
from jaxrace.search import SearchJob, SearchWork
from papers.workbench import Workbench

HAZARDS: tuple[Hazard, ...] = ("A", "B")
# Which of them figures draw, and how they are called.
CONSTANT, CLASS, RULE, FREE = (
    "the best constant dose",
    "the best policy of the class",
    "dose 1 while there is a tumour",
    "each patient's own best doses",
)

_CELLS, _SOME_CELLS, _FEW_CELLS = 200, 100, 20  # of each of S0 and X0
_AT_ONCE = 64  # policies that are evaluated
_STEEP = np.array([1e5, 0.0, -20.0], np.float32)  # a theta whose policy is nearly the rule
_LEVELS, _FINEST = 5, 1e-3  # of doses: on the first grid, and the last step of their search


class Limit(NamedTuple):
    """A row of the table."""

    hazard: str
    policy: str
    survival: float
    how: str  # the dose or the theta


@functools.lru_cache(maxsize=8)
def starts(cells: int = _CELLS) -> MedicalState:
    """Patients in the middles of equal cells of (S0, X0), leaves [cells^2]."""
    env = Medical()
    middles = (np.arange(cells, dtype=np.float32) + np.float32(0.5)) / np.float32(cells)
    middles = middles * np.asarray(env.default_params.initial_limit)
    tumour, toxicity = (jnp.asarray(x.ravel()) for x in np.meshgrid(middles, middles))
    one = env.reset(jax.random.key(0), env.default_params)
    alike = jax.tree.map(lambda x: jnp.broadcast_to(x, tumour.shape), one)
    own = {"initial_tumour": tumour, "initial_toxicity": toxicity}
    return alike._replace(tumour=tumour, toxicity=toxicity, **own)


def hazards(
    treat: Callable[[int, MedicalState], jax.Array], patients: MedicalState, params: MedicalParams
) -> jax.Array:
    """H of each patient, float32 [N]; ``treat`` gives the doses [N] of a month."""
    total = jnp.zeros_like(patients.tumour)
    for month in range(Medical.horizon):
        tumour, toxicity = progress(patients, treat(month, patients), params)
        total = total + hazard_rate(tumour, toxicity, params)
        patients = patients._replace(tumour=tumour, toxicity=toxicity)
    return total


def survival_by_rule(hazard: Hazard, cells: int = _CELLS) -> float:
    """The survival rate of dose 1 while there is a tumour, and none afterwards."""

    def treat(_: int, patients: MedicalState) -> jax.Array:
        return (patients.tumour > 0).astype(jnp.float32)

    total = hazards(treat, starts(cells), Medical.make_params(hazard=hazard))
    return float(jnp.exp(-total).mean())


def survival_of(thetas: np.ndarray, hazard: Hazard, cells: int = _CELLS) -> np.ndarray:
    """The survival rates of policies of the class that is searched: float64 [P], of [P, 3].

    >>> print(survival_of(np.zeros((1, 3)), "A").round(4))  # always the dose 1/2
    [0.1967]
    """
    own = jnp.asarray(thetas, jnp.float32), Medical.make_params(hazard=hazard), starts(cells)
    return np.asarray(_survival_of(*own), np.float64)


@jax.jit
def _survival_of(thetas: jax.Array, params: MedicalParams, patients: MedicalState) -> jax.Array:
    env, policy, key = Medical(), Sigmoid(2), jax.random.key(0)  # it draws nothing

    def of_one(theta: jax.Array) -> jax.Array:
        def dose(patient: MedicalState) -> jax.Array:
            return policy(theta, env.observe(patient, params), key)

        return jnp.exp(-hazards(lambda _, now: jax.vmap(dose)(now), patients, params)).mean()

    return jax.lax.map(of_one, thetas, batch_size=_AT_ONCE)


def best_constant(hazard: Hazard) -> tuple[float, float]:
    """The dose, to a hundredth, with which most survive, and its survival rate."""
    doses = np.linspace(0.01, 0.99, 99)
    found = survival_of(_constant(doses), hazard)
    return float(doses[found.argmax()]), float(found.max())


def _constant(doses: np.ndarray) -> np.ndarray:
    """theta of constant doses, [P, 3]."""
    intercept = np.log(doses / (1 - doses))
    return np.stack([0 * doses, 0 * doses, intercept], -1)


def best_of_class(hazard: Hazard, searches: int, seed: int) -> tuple[np.ndarray, float]:
    """theta [3] and survival rate of the best policy that downhill searches find.

    They begin at random, and near the rule, which is a limit of steep policies: theta_1 and
    theta_1 / -theta_3 without bound.
    """

    def lost(theta: np.ndarray) -> float:
        return -float(survival_of(theta[None], hazard, _FEW_CELLS)[0])

    firsts = [*np.random.default_rng(seed).normal(0, 10, (searches, 3)), _STEEP]
    own = {"xatol": 1e-3, "fatol": 1e-7, "maxiter": 300}
    ends = [optimize.minimize(lost, x, method="Nelder-Mead", options=own).x for x in firsts]
    found = survival_of(np.array(ends), hazard)
    return ends[int(found.argmax())], float(found.max())


def survival_by_free_doses(hazard: Hazard, cells: int = _FEW_CELLS, levels: int = _LEVELS) -> float:
    """The survival rate if each patient has the best six doses for its start.

    By a grid of all sequences of a few doses, and steps of all kinds from the best, ever smaller.
    """
    params, patients = Medical.make_params(hazard=hazard), starts(cells)

    @functools.partial(jax.vmap, in_axes=(0, None))  # over patients
    @functools.partial(jax.vmap, in_axes=(None, 0))  # over sequences
    def on_grid(patient: MedicalState, doses: jax.Array) -> jax.Array:
        return hazards(lambda month, _: doses[month], patient, params)

    @jax.jit
    def begin(grid: jax.Array) -> jax.Array:
        def of_some(some: MedicalState) -> jax.Array:
            return grid[on_grid(some, grid).argmin(1)]

        return jax.lax.map(lambda one: of_some(jax.tree.map(lambda x: x[None], one))[0], patients)

    @jax.jit
    def better(doses: jax.Array, moves: jax.Array) -> jax.Array:
        def of_one(own: tuple[MedicalState, jax.Array]) -> jax.Array:
            patient, now = own
            tried = jnp.clip(now + moves, 0, 1)
            return tried[on_grid(jax.tree.map(lambda x: x[None], patient), tried)[0].argmin()]

        return jax.lax.map(of_one, (patients, doses))

    months = Medical.horizon
    grid = np.array(list(itertools.product(np.linspace(0, 1, levels), repeat=months)), np.float32)
    moves = np.array(list(itertools.product((-1, 0, 1), repeat=months)), np.float32)
    doses, step = begin(grid), np.float32(0.5 / (levels - 1))
    while step > _FINEST:
        before = doses
        doses = better(doses, step * moves)
        if bool((doses == before).all()):
            step = step / 2
    total = hazards(lambda month, _: doses[:, month], patients, params)
    return float(jnp.exp(-total).mean())


def of_hazard(bench: Workbench, hazard: Hazard) -> list[Limit]:
    """The best constant dose, of the class, by the rule, and by each patient's own best doses."""
    bench.job.on_stage(f"limits {hazard}", 0, 1)
    dose, survival = best_constant(hazard)
    theta, of_class = best_of_class(hazard, bench.size(20, 1), bench.seed)
    free = survival_by_free_doses(hazard, bench.size(_FEW_CELLS, 4), bench.size(_LEVELS, 3))
    return [
        Limit(hazard, CONSTANT, survival, f"{dose:g}"),
        Limit(hazard, CLASS, of_class, f"theta {', '.join(f'{x:.3g}' for x in theta)}"),
        Limit(hazard, RULE, survival_by_rule(hazard), ""),
        Limit(hazard, FREE, free, ""),
    ]


def learned(bench: Workbench, name: str, work: SearchWork, config: TrainConfig) -> np.ndarray:
    """The survival rates of the policies that all repeats of a search learn, [R], as ``train``."""
    key = jax.random.split(jax.random.key(config.seed))[0]

    def inputs(numbers: np.ndarray) -> SearchJob:
        keys = jax.vmap(jax.random.fold_in, (None, 0))(key, numbers.astype(np.uint32))
        return SearchJob(keys, np.zeros(len(numbers), np.int32))

    rows = bench.sweep(name, work, sweep.Jobs(config.repeats, inputs)).rows
    return survival_of(np.asarray(rows.row.best)[rows.is_last], config.hazard, _SOME_CELLS)
