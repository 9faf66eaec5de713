"""Policy searches as the jobs of a sweep. Axes: S settings."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, Protocol

import jax
import numpy as np
from jax.typing import ArrayLike

from jaxrace.agents.policies import Policy
from jaxrace.search import small


class Learner(Protocol):
    """What every way to learn a policy offers: ``PolicySearch``, ``FinalRace``.

    Frozen and hashable; ``params`` is a pytree of its numbers. Its rows have the fields ``ran``,
    ``generation``, ``episodes`` (used so far), ``simulated``, ``best`` (theta) and ``valid``.
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
        """Is there nothing left to do? A bool []."""
        ...


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SearchJob:
    """One search to be made."""

    key: jax.Array
    setting: ArrayLike  # int32 [], its number


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SearchWork:
    """What ``sweep.run`` does with a ``SearchJob``.

    Attributes:
        search: What kind of search.
        settings: The numbers of the searches, leaves [S, ...]; see ``stack_params``.

    >>> import numpy as np
    >>> from jaxrace import racing, sweep
    >>> from jaxrace.envs import medical
    >>> from jaxrace.agents.policies import Sigmoid
    >>> from jaxrace.search import PolicySearch, stack_params
    >>> race = racing.PreferenceRace(num_options=7, top=3, capacity=100, compare=medical.prefer)
    >>> search = PolicySearch(medical.Medical(), Sigmoid(2), medical.TreatmentOutcome(), race)
    >>> settings = stack_params([search.params(sigma0, budget=300) for sigma0 in (1.0, 10.0)])
    >>> jobs = SearchJob(jax.random.split(jax.random.key(0), 4), np.array([0, 0, 1, 1], np.int32))
    >>> sweep.run(SearchWork(search, settings), sweep.stacked(jobs)).rows.row.best.shape[1:]
    (3,)
    """

    search: Learner = dataclasses.field(metadata={"static": True})
    settings: Any

    def init(self, job: SearchJob) -> tuple[Any, ArrayLike]:
        """The state before the first generation, and the number of the setting."""
        return self.search.init(job.key, self._params(job.setting)), job.setting

    def step(self, state: tuple[Any, ArrayLike]) -> tuple[tuple[Any, ArrayLike], Any]:
        """One generation."""
        search_state, setting = state
        search_state, row = self.search.step(search_state, self._params(setting))
        return (search_state, setting), row

    @property
    def step_lanes(self) -> Callable[..., Any] | None:
        """``step`` of B searches by small programs, if they can be made so."""
        return self._step_lanes if small.has_small_steps(self.search) else None

    def _step_lanes(
        self, states: tuple[Any, Any], alive: Any, draw: Any = None
    ) -> tuple[tuple[Any, Any], Any, Any]:
        """States, rows and which of them ran, leaves [B, ...]; ``draw`` as ``small.Draw``."""
        search_states, setting = states
        is_one = jax.tree.leaves(self.settings)[0].shape[0] == 1
        axis, at = (None, 0) if is_one else (0, np.asarray(setting))
        params = jax.tree.map(lambda x: np.asarray(x)[at], self.settings)
        stepped = small.step_lanes(self.search, search_states, params, axis, alive, draw)
        return (stepped[0], setting), stepped[1], stepped[1].ran

    def done(self, state: tuple[Any, ArrayLike]) -> jax.Array:
        """Is the budget used up?"""
        search_state, setting = state
        return self.search.done(search_state, self._params(setting))

    def failed(self, row: Any) -> jax.Array:
        """Was a counted outcome NaN or infinite?"""
        return ~row.valid

    def _params(self, setting: ArrayLike) -> Any:
        take = functools.partial(jax.lax.dynamic_index_in_dim, index=setting, keepdims=False)
        return jax.tree.map(take, self.settings)
