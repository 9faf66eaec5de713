"""The one adapter to evosax: distribution-based evolution strategies by name.

evosax is imported when the first strategy is made, because its import starts a JAX backend.
"""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.validation import require_choice, require_integer, require_positive

# evosax classes that sample around a mean and need nothing but ranks. Left out are those that
# keep the best member of earlier generations (ranks of different races do not compare), those
# that need more arguments, and LM_MA_ES, which gives NaN in few dimensions.
_WITH_STEP_SIZE = (
    "CMA_ES",
    "Sep_CMA_ES",
    "MA_ES",
    "Rm_ES",
    "CR_FM_NES",
    "SNES",
    "xNES",
    "PGPE",
    "ARS",
    "SimpleES",
    "DiscoveredES",
    "LearnedES",
    "EvoTF_ES",
)
# These schedule their step size themselves.
_WITHOUT_STEP_SIZE = ("Open_ES", "GuidedES", "ASEBO", "ESMC")

SUPPORTED: tuple[str, ...] = _WITH_STEP_SIZE + _WITHOUT_STEP_SIZE


@dataclasses.dataclass(frozen=True)
class Strategy:
    """An evolution strategy that is told rankings, never values.

    CMA_ES recombines the best mu = lambda // 2 with positive weights only, as Hansen's tutorial
    and the EDPS papers do (evosax's own default adds negative weights).

    Attributes:
        name: One of ``SUPPORTED``.
        population_size: lambda, at least 2 (and even where the strategy mirrors its samples).

    Raises:
        ValueError: The name is not supported, or the size does not fit.

    >>> import jax, jax.numpy as jnp, numpy as np
    >>> strategy = Strategy("CMA_ES", population_size=7)
    >>> example = np.zeros(3, np.float32)
    >>> params = strategy.params(example, sigma0=10.0)
    >>> state = strategy.init(jax.random.key(0), example, params)
    >>> population, state = strategy.ask(jax.random.key(1), state, params, example)
    >>> ranking = jnp.arange(7)
    >>> state = strategy.tell(jax.random.key(2), population, ranking, state, params, example)
    >>> population.shape, state.mean.shape
    ((7, 3), (3,))
    """

    name: str = "CMA_ES"
    population_size: int = 7

    def __post_init__(self) -> None:
        require_choice("strategy", self.name, SUPPORTED)
        require_integer("population_size", self.population_size, 2)

    @property
    def num_parents(self) -> int:
        """mu = lambda // 2, how many of the best are recombined."""
        return self.population_size // 2

    @property
    def has_step_size(self) -> bool:
        """Does the strategy have an initial step size sigma0?"""
        return self.name in _WITH_STEP_SIZE

    def params(self, example: Any, sigma0: float | None = None) -> Any:
        """evosax's parameters, strongly typed.

        Args:
            example: A solution of the right structure, shapes and dtypes.
            sigma0: Initial step size; the strategy's own default unless given.

        Raises:
            ValueError: sigma0 is not positive, or given to a strategy that has none.
        """
        algorithm = self._algorithm(example)
        # One compiled program; evosax's dozens of small operations take a second one by one.
        params = jax.jit(lambda: _strong(algorithm.default_params))()
        if sigma0 is None:
            return params
        if not self.has_step_size:
            raise ValueError(
                f"sigma0: {self.name} has no initial step size; "
                f"strategies that have one: {', '.join(_WITH_STEP_SIZE)}"
            )
        require_positive("sigma0", sigma0)
        return params.replace(std_init=jnp.asarray(sigma0, params.std_init.dtype))

    def init(self, key: jax.Array, mean: Any, params: Any) -> Any:
        """The state with the search distribution centred at ``mean``."""
        # Strong types once: a state that starts weakly typed would compile everything twice.
        return _strong(self._algorithm(mean).init(key, mean, params))

    def ask(self, key: jax.Array, state: Any, params: Any, example: Any) -> tuple[Any, Any]:
        """A population, leaves [lambda, ...], and the state to hand to ``tell``."""
        return self._algorithm(example).ask(key, state, params)

    def tell(
        self,
        key: jax.Array,
        population: Any,
        ranking: jax.Array,
        state: Any,
        params: Any,
        example: Any,
    ) -> Any:
        """Update the distribution.

        Args:
            key: Used by a few strategies.
            population: From ``ask``.
            ranking: int32 [lambda], members from best to worst.
            state: From ``ask``.
            params: From ``params``.
            example: A solution of the right structure.
        """
        # evosax minimises: the fitness of a member is its rank.
        places = jnp.arange(self.population_size, dtype=jnp.float32)
        fitness = jnp.zeros_like(places).at[ranking].set(places)
        return _strong(self._algorithm(example).tell(key, population, fitness, state, params)[0])

    def _algorithm(self, example: Any) -> Any:
        leaves, structure = jax.tree.flatten(example)
        shapes = tuple((np.shape(x), jnp.result_type(x).name) for x in leaves)
        return _build(self, structure, shapes)


@functools.lru_cache(maxsize=64)
def _build(strategy: Strategy, structure: Any, shapes: tuple) -> Any:
    """The evosax object, made once and outside of any trace: it keeps arrays."""
    from evosax import algorithms

    with jax.ensure_compile_time_eval():
        example = jax.tree.unflatten(
            structure, [jnp.zeros(shape, dtype) for shape, dtype in shapes]
        )
        try:
            algorithm = getattr(algorithms, strategy.name)(
                population_size=strategy.population_size,
                solution=example,
                metrics_fn=_no_metrics,
            )
        except AssertionError as error:
            raise ValueError(
                f"population_size: {strategy.name} does not take {strategy.population_size} "
                f"({error})"
            ) from error
        if strategy.name == "CMA_ES":
            algorithm.use_negative_weights = False
        return algorithm


def _no_metrics(*_: Any) -> dict[str, jax.Array]:
    return {}


def _strong(tree: Any) -> Any:
    return jax.tree.map(lambda x: jax.lax.convert_element_type(x, jnp.result_type(x)), tree)
