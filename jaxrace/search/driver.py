"""Many policy searches: as one compiled program, or as the jobs of a sweep. Axes: S settings."""

import dataclasses
import functools
import time
from collections.abc import Callable
from typing import Any, Protocol

import jax
import numpy as np
from jax.typing import ArrayLike

from jaxrace.agents.policies import Policy
from jaxrace.core.compilation import LARGE, jit
from jaxrace.core.programs import compile_ahead
from jaxrace.core.protocol import pytree
from jaxrace.core.validation import BadArgument, require_keys
from jaxrace.racing.checks import raise_if_invalid
from jaxrace.search import small
from jaxrace.search.log import SearchLog
from jaxrace.search.policy_search import PolicySearch, SearchParams, SearchRow, SearchState


def run(
    search: PolicySearch,
    keys: jax.Array,
    params: SearchParams,
    on_generation: Callable[[np.ndarray], None] | None = None,
) -> SearchLog:
    """Run B searches, one for each key, to their ends as one program under vmap.

    Args:
        search: What to run.
        keys: B keys, all on one device.
        params: One for all searches, or a batch with leaves [B, ...] (``stack_params``).
        on_generation: Called with the episodes used so far, int32 [B], after every generation.

    Raises:
        ValueError: Params and keys are of other lengths, or an outcome was NaN or infinite.

    >>> from jaxrace import racing
    >>> from jaxrace.envs import medical
    >>> from jaxrace.agents.policies import Sigmoid
    >>> race = racing.PreferenceRace(num_options=7, top=3, capacity=100, compare=medical.prefer)
    >>> search = PolicySearch(medical.Medical(), Sigmoid(2), medical.TreatmentOutcome(), race)
    >>> keys = jax.random.split(jax.random.key(0), 5)
    >>> run(search, keys, search.params(sigma0=10.0, budget=300)).learned.shape
    (5, 3)
    """
    require_keys("keys", keys, ndim=1)
    if not keys.size:
        raise BadArgument("keys", "at least one key", "none")
    if not keys.sharding.is_fully_replicated:
        got, hint = len(keys.sharding.device_set), "jaxrace.sweep.run shares searches out"
        raise BadArgument("keys", "all on one device", f"them on {got}", f"; {hint} among devices")
    if not isinstance(params, SearchParams):
        raise BadArgument("params", "what search.params() makes", type(params).__name__)
    if params.budget.ndim and params.budget.shape != keys.shape:
        wanted = f"{keys.shape[0]} of them, one per key"
        raise BadArgument("params", wanted, str(params.budget.shape[0]))
    started = time.perf_counter()
    states = _init_all(search, keys, params)
    step_all = compile_ahead(_step_all, search, states, params, work=LARGE)
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
    ended = time.perf_counter()
    stacked = jax.tree.map(lambda *x: np.stack(x), *rows)
    learned = jax.tree.map(lambda x: x[-1], stacked.best)
    seconds = compiled - started, ended - compiled
    names = tuple(getattr(search.policy, "weight_names", ()))
    return SearchLog(stacked, stacked.generation[-1], learned, *seconds, names)


def _axis(params: SearchParams) -> int | None:
    """The axis of the searches, if each has params of its own."""
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
    """Name the search and the generation, and, by another race, the policy and the round."""
    number = int(np.argmin(row.valid))
    state = jax.tree.map(lambda x: x[number], before)
    own = jax.tree.map(lambda x: x[number], params) if params.budget.ndim else params
    invalid = jax.jit(search.invalid_outcomes)(state, own)
    where = f" of search {number}, generation {int(row.generation[number])}"
    raise_if_invalid(search.race, invalid, where)
    # Another program: it may round differently.
    raise BadArgument("outcomes", "finite numbers", f"NaN or infinity in a race{where}")


class Learner(Protocol):
    """A way to learn a policy, frozen and hashable: ``PolicySearch``, ``FinalRace``.

    Its rows have ``ran``, ``generation``, ``episodes`` (so far), ``simulated``, ``best`` (theta)
    and ``valid``.
    """

    @property
    def policy(self) -> Policy:
        """The class of the policies."""
        ...

    def init(self, key: jax.Array, params: Any) -> Any:
        """The state before the first generation."""
        ...

    def step(self, state: Any, params: Any) -> tuple[Any, Any]:
        """The next state, and a row of the log."""
        ...

    def done(self, state: Any, params: Any) -> jax.Array:
        """Is the search over? A bool []."""
        ...


@pytree
class SearchJob:
    """One search to be made."""

    key: jax.Array
    setting: ArrayLike  # int32 [], its number


_State = tuple[Any, ArrayLike]  # of a search, and the number of its setting


@pytree
class SearchWork:
    """What ``sweep.run`` does with a ``SearchJob``."""

    search: Learner = dataclasses.field(metadata={"static": True})
    settings: Any  # the params of the searches, leaves [S, ...]; see ``stack_params``

    def init(self, job: SearchJob) -> _State:
        """The state before the first generation, and the number of the setting."""
        return self.search.init(job.key, self._params(job.setting)), job.setting

    def step(self, state: _State) -> tuple[_State, Any]:
        """One generation."""
        search_state, setting = state
        search_state, row = self.search.step(search_state, self._params(setting))
        return (search_state, setting), row

    def host_step(self, jobs: Any) -> Callable[..., Any] | None:
        """``step`` of B searches side by side, for a learner that has that: see ``small``."""
        return self._step_lanes if small.has_small_steps(self.search) else None

    def _step_lanes(self, states: _State, alive: Any) -> tuple[_State, Any, Any]:
        """States, rows and which of them ran, leaves [B, ...]."""
        search_states, setting = states
        is_one = jax.tree.leaves(self.settings)[0].shape[0] == 1
        axis, at = (None, 0) if is_one else (0, np.asarray(setting))
        params = jax.tree.map(lambda x: np.asarray(x)[at], self.settings)
        search_states, row = small.step_lanes(self.search, search_states, params, axis, alive)
        return (search_states, setting), row, row.ran

    def done(self, state: _State) -> jax.Array:
        """Is the search over?"""
        return self.search.done(state[0], self._params(state[1]))

    def failed(self, row: Any) -> jax.Array:
        """Was a counted outcome NaN or infinite?"""
        return ~row.valid

    def _params(self, setting: ArrayLike) -> Any:
        take = functools.partial(jax.lax.dynamic_index_in_dim, index=setting, keepdims=False)
        return jax.tree.map(take, self.settings)
