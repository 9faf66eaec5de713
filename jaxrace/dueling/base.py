"""What every dueling and every armed bandit shares. Axes: K arms, d = 2 for duels or 1 for arms."""

import abc
import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from jaxrace.core.compilation import is_traced
from jaxrace.core.protocol import verb
from jaxrace.core.validation import BadArgument, require_integer, require_keys
from jaxrace.dueling.decisions import Decision

Noise = Any
Params = Any
State = Any


@dataclasses.dataclass(frozen=True)
class Algorithm(abc.ABC):
    """Which arm is best, told only who wins duels (or what an arm pays)?

    Subclasses implement the verbs ``init``, ``tell`` and ``recommend``, and for ``ask`` ``draw``
    and ``choose``. The state has ``time``, int32 [], choices told, and may have ``decided_at``.
    """

    num_arms: int  # K

    min_arms: ClassVar[int] = 2
    needs_condorcet_winner: ClassVar[bool] = False  # an arm that beats every other one

    def __post_init__(self) -> None:
        require_integer("num_arms", self.num_arms, self.min_arms)

    @property
    def choice_size(self) -> int:
        """d."""
        return 2

    @property
    def num_decisions(self) -> int:
        """How many different things it may recommend: K where these are arms."""
        return self.num_arms

    @property
    def opening(self) -> int:
        """Choices of a first phase in which everything is tried once."""
        return 1

    @abc.abstractmethod
    def params(self) -> Params:
        """The numbers of the algorithm as a pytree, checked; see the subclass."""

    def of_run(self, params: Params, key: jax.Array) -> Params:
        """The numbers of the run with this key: others where it draws numbers of its own."""
        return params

    @abc.abstractmethod
    def init(self, params: Params) -> State:
        """The state before the first choice."""

    def draw(self, key: jax.Array) -> Noise:
        """The random numbers of one choice, if it needs any; a driver draws many at once."""
        del key

    @abc.abstractmethod
    def choose(self, noise: Noise, state: State, params: Params) -> jax.Array:
        """The next choice, int32 [d]."""

    def decided_at(self, state: State, params: Params) -> jax.Array:
        """Choices until it stopped exploring, int32 []; 0 if it has not, as most never do."""
        return getattr(state, "decided_at", jnp.zeros_like(state.time))

    @verb
    def ask(self, key: jax.Array, state: State, params: Params) -> jax.Array:
        """The next choice, int32 [d]; the key is for ties and randomised choices, used once."""
        return self.choose(self.draw(key), state, params)

    @abc.abstractmethod
    def tell(self, state: State, choice: Any, outcome: Any, params: Params) -> State:
        """Count the outcome of a choice, integers [d]; usually what ``ask`` said.

        The outcome is 1 or True if the first arm has won (the arm has paid), else 0 or False.
        ValueError if the choice names no arms, or a pair that the algorithm has no use for.
        """

    @abc.abstractmethod
    def recommend(self, state: State, params: Params) -> jax.Array:
        """The arm that is best as far as one knows, int32 []."""

    def checked_ask(self, key: jax.Array, *args: Any) -> tuple:
        """What ``ask`` is given."""
        require_keys("key", key, ndim=0)
        return key, *args

    def checked_tell(
        self, state: State, choice: ArrayLike, outcome: ArrayLike, params: Params
    ) -> tuple:
        """Make arrays of what is told; ValueError unless it is possible."""
        if is_traced((choice, outcome)):
            told = jnp.asarray(choice, jnp.int32), jnp.asarray(outcome, bool)
        else:
            arms = np.asarray(choice)
            are_integers = arms.shape == (self.choice_size,) and arms.dtype.kind in "iu"
            if not are_integers or (arms < 0).any() or (arms >= self.num_arms).any():
                expected = f"{self.choice_size} arms from 0 to {self.num_arms - 1}"
                raise BadArgument("choice", expected, repr(choice))
            if np.shape(outcome) != () or np.asarray(outcome) not in (0, 1):
                raise BadArgument("outcome", "0 or 1", repr(outcome))
            # By NumPy: conversions by JAX take as long as the step.
            told = arms.astype(np.int32), np.asarray(outcome, bool)
        if not is_traced((choice, state.time)):
            self._check_wanted(state, np.asarray(choice))
        return state, *told, params

    def _check_wanted(self, state: State, choice: np.ndarray) -> None:
        """Raise ValueError for a choice that ``ask`` would not make, if that matters."""
        del state, choice


@dataclasses.dataclass(frozen=True)
class DecisionAlgorithm(Algorithm):
    """An algorithm that recommends by a decision, and chooses what the decision is about."""

    decision: Decision  # what is wanted: a function f of the estimates, with as many arms

    @property
    def choice_size(self) -> int:
        return self.decision.choice_size

    @property
    def num_decisions(self) -> int:
        return self.decision.num_decisions

    @verb
    def recommend(self, state: State, params: Params) -> jax.Array:
        return self.decision.decide(state.mean)
