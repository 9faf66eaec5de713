"""Many policy searches side by side: one compiled program, one generation per call."""

import dataclasses
import time
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.core.compilation import compile_ahead, jit, stack
from jaxrace.core.validation import require_keys
from jaxrace.racing import base
from jaxrace.search.policy_search import PolicySearch, SearchParams, SearchRow, SearchState

Params = TypeVar("Params")


@dataclasses.dataclass(frozen=True)
class SearchLog:
    """What a batch of B searches leaves: NumPy arrays over G generations."""

    rows: SearchRow  # leaves [G, B, ...]; ``ran`` is False after the last generation of a search
    generations: Any  # int32 [B], of each search
    learned: Any  # theta of the learned policies, leaves [B, ...]
    compile_seconds: float  # to trace and compile the program
    run_seconds: float  # to run it, with the first progress report at its end


def run_searches(
    search: PolicySearch,
    keys: jax.Array,
    params: SearchParams,
    on_generation: Callable[[np.ndarray], None] | None = None,
) -> SearchLog:
    """Run B searches, one for each key, to their ends as one program under vmap.

    Args:
        search: What to run.
        keys: B keys, all on one device.
        params: One for all searches, or a batch with leaves [B, ...] (``stack_params``), which may
            differ in any number.
        on_generation: Called with the episodes used so far, int32 [B], when the program is
            compiled (all zero) and after every generation.

    Raises:
        ValueError: A batch of params has another length than the keys, or a counted outcome of a
            search was NaN or infinite.

    >>> from jaxrace import racing
    >>> from jaxrace.envs import medical
    >>> from jaxrace.agents.policies import Sigmoid
    >>> race = racing.PreferenceRace(num_options=7, top=3, capacity=100, compare=medical.prefer)
    >>> search = PolicySearch(medical.Medical(), Sigmoid(2), medical.TreatmentOutcome(), race)
    >>> keys = jax.random.split(jax.random.key(0), 5)
    >>> run_searches(search, keys, search.params(sigma0=10.0, budget=300)).learned.shape
    (5, 3)
    """
    require_keys("keys", keys, ndim=1)
    if not keys.size:
        raise ValueError("keys: expected at least one key, got none")
    if not keys.sharding.is_fully_replicated:
        raise ValueError(
            f"keys: expected all on one device, got them on {len(keys.sharding.device_set)}; "
            "jaxrace.sweep.run shares searches out among devices"
        )
    if not isinstance(params, SearchParams):
        raise ValueError(
            f"params: expected what search.params() makes, got {type(params).__name__}"
        )
    if params.budget.ndim and params.budget.shape != keys.shape:
        raise ValueError(
            f"params: expected {keys.shape[0]} of them, one per key, got {params.budget.shape[0]}"
        )
    started = time.perf_counter()
    states = _init_all(search, keys, params)
    step_all = compile_ahead(_step_all, search, states, params)
    compiled = time.perf_counter()
    budgets = np.asarray(params.budget)
    episodes = np.zeros(keys.shape[0], np.int32)
    rows: list[SearchRow] = []
    report = on_generation or (lambda episodes: None)
    report(episodes)
    while (episodes < budgets).any():
        before = states
        states, row = step_all(before, params)
        row = jax.tree.map(np.asarray, row)
        if not row.valid.all():
            _raise_for_invalid(search, before, params, row)
        rows.append(row)
        episodes = row.episodes
        report(episodes)
    finished = time.perf_counter()
    stacked = jax.tree.map(lambda *x: np.stack(x), *rows)
    return SearchLog(
        rows=stacked,
        generations=stacked.generation[-1],
        learned=jax.tree.map(lambda x: x[-1], stacked.best),
        compile_seconds=compiled - started,
        run_seconds=finished - compiled,
    )


def _axis(params: SearchParams) -> int | None:
    """That of the searches, if each has params of its own."""
    return 0 if params.budget.ndim else None


@jit(1)
def _init_all(search: PolicySearch, keys: jax.Array, params: SearchParams) -> SearchState:
    return jax.vmap(search.init, (0, _axis(params)))(keys, params)


@jit(1)
def _step_all(search: PolicySearch, states: SearchState, params: SearchParams) -> Any:
    return jax.vmap(search.step, (0, _axis(params)))(states, params)


def _raise_for_invalid(
    search: PolicySearch, before: SearchState, params: SearchParams, row: SearchRow
) -> None:
    """Name the search, the generation, and by running the race again the policy and the round."""
    number = int(np.argmin(row.valid))
    state = jax.tree.map(lambda x: x[number], before)
    own = jax.tree.map(lambda x: x[number], params) if params.budget.ndim else params
    invalid = jax.jit(search.invalid_outcomes)(state, own)
    where = f" of search {number}, generation {int(row.generation[number])}"
    base.raise_if_invalid(invalid, where)
    # Another program: it may round differently.
    raise ValueError(f"outcomes: expected finite numbers, got NaN or infinity in a race{where}")


def stack_params(params: list[Params]) -> Params:
    """One batch from the params of single searches; ValueError unless they are alike.

    >>> stack_params([jnp.float32(1.0), jnp.float32(2.0)]).shape  # any pytrees of equal shape
    (2,)
    """
    if not params:
        raise ValueError("params: expected at least one, got none")
    kinds = [(jax.tree.structure(p), *map(jnp.shape, jax.tree.leaves(p))) for p in params]
    if len(set(kinds)) != 1:
        raise ValueError("params: expected those of one search, got some that differ in shape")
    return jax.tree.map(stack, *params)
