"""The adapter to evosax: distribution-based evolution strategies by name.

evosax is imported when the first strategy is made: its import starts a JAX backend.
"""

import contextlib
import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxrace.core.compilation import options_for
from jaxrace.core.strategy_names import WITH_STEP_SIZE, WITHOUT_STEP_SIZE
from jaxrace.core.validation import (
    BadArgument,
    require_choice,
    require_integer,
    require_positive,
)

SUPPORTED: tuple[str, ...] = WITH_STEP_SIZE + WITHOUT_STEP_SIZE

_GAP = 0.5  # between decompositions of C, in generations times n (c_1 + c_mu)


@dataclasses.dataclass(frozen=True)
class Strategy:
    """An evolution strategy that is told rankings, never values.

    CMA_ES recombines the best mu = lambda // 2 with positive weights only, as Hansen's tutorial and
    the EDPS papers do; evosax's default adds negative ones. ``example`` is a solution, a pytree of
    the right structure, shapes and dtypes.

    Attributes:
        name: One of ``SUPPORTED``.
        population_size: lambda, at least 2 (and even where the strategy mirrors its samples).

    >>> strategy, example = Strategy("CMA_ES", population_size=7), np.zeros(3, np.float32)
    >>> params = strategy.params(example, sigma0=10.0)
    >>> state = strategy.init(jax.random.key(0), example, params)
    >>> population, state = strategy.ask(jax.random.key(1), state, params, example)
    >>> ranking, key = jnp.arange(7), jax.random.key(2)
    >>> strategy.tell(state, population, ranking, params, key, example).mean.shape
    (3,)
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
        return self.name in WITH_STEP_SIZE

    def params(self, example: Any, sigma0: float | None = None) -> Any:
        """evosax's parameters, strongly typed, with an initial step size unless that is None.

        ValueError if the strategy has none.
        """
        params = self._algorithm(example).defaults
        if sigma0 is None:
            return params
        if not self.has_step_size:
            wanted = f"none for {self.name}, which has no initial step size"
            have_one = f"; strategies that have one: {', '.join(WITH_STEP_SIZE)}"
            raise BadArgument("sigma0", wanted, repr(sigma0), have_one)
        require_positive("sigma0", sigma0)
        return params.replace(std_init=jax.device_put(np.asarray(sigma0, params.std_init.dtype)))

    def init(self, key: jax.Array, mean: Any, params: Any) -> Any:
        """The state with the search distribution centred at ``mean``."""
        algorithm = self._algorithm(mean)
        mean = jax.tree.map(lambda x: jnp.asarray(x, _narrow(x)), mean)
        # Strong types once: a state that starts weakly typed would compile everything twice.
        with _modes_of_evosax():
            return _begun(algorithm.init(key, mean, params))

    def ask(self, key: jax.Array, state: Any, params: Any, example: Any) -> tuple[Any, Any]:
        """A population, leaves [lambda, ...], and the state to hand to ``tell``."""
        with _modes_of_evosax():
            population, state = self._algorithm(example).ask(key, state, params)
            if self.name == "GuidedES":
                state = state.replace(grad=jnp.zeros_like(state.grad))  # NaN, which it takes for 0
            return population, state

    def tell(
        self,
        state: Any,
        population: Any,
        ranking: jax.Array,
        params: Any,
        key: jax.Array,
        example: Any,
    ) -> Any:
        """The state after a ``ranking``, int32 [lambda], of the members from best to worst.

        ``population`` and ``state`` are from ``ask``. ValueError if a length is not lambda, or if a
        ``ranking`` that is not traced is not an order of the members.
        """
        size = self.population_size
        for leaf in jax.tree.leaves(population):
            if jnp.shape(leaf)[:1] != (size,):
                got = str(list(jnp.shape(leaf)))
                raise BadArgument("population", f"leaves with leading axis {size}", got)
        dtype, shape = jnp.result_type(ranking), jnp.shape(ranking)
        if shape != (size,) or not jnp.issubdtype(dtype, jnp.integer):
            raise BadArgument("ranking", f"integers [{size}]", f"{dtype}{list(shape)}")
        is_known = not isinstance(ranking, Tracer)
        if is_known and sorted(np.asarray(ranking).tolist()) != list(range(size)):
            wanted = f"0 to {size - 1} in some order"
            raise BadArgument("ranking", wanted, str(ranking.tolist()))
        # evosax minimises: the fitness of a member is its rank.
        ranks = jnp.arange(size, dtype=jnp.float32)
        fitness = jnp.zeros_like(ranks).at[ranking].set(ranks)
        with _modes_of_evosax():
            told, _ = self._algorithm(example).tell(key, population, fitness, state, params)
            return _strong(told)

    def _algorithm(self, example: Any) -> Any:
        leaves, structure = jax.tree.flatten(example)
        return _build(self, structure, tuple((np.shape(x), _narrow(x).name) for x in leaves))


@functools.lru_cache(maxsize=64)
def _build(strategy: Strategy, structure: Any, shapes: tuple) -> Any:
    """The evosax object, made once and outside of any trace: it keeps arrays."""
    from evosax import algorithms
    from evosax.core.fitness_shaping import weights_fitness_shaping_fn

    with jax.ensure_compile_time_eval(), _modes_of_evosax():
        example = structure.unflatten(
            [jax.device_put(np.zeros(shape, dtype)) for shape, dtype in shapes]
        )
        kind, size = getattr(algorithms, strategy.name), strategy.population_size
        if strategy.name in ("CMA_ES", "Sep_CMA_ES"):
            kind = _with_stall_indicator_of_the_tutorial(kind)
        if strategy.name == "CMA_ES":
            kind = _with_few_decompositions(kind)
        try:
            algorithm = kind(population_size=size, solution=example, metrics_fn=lambda *_: {})
        except AssertionError as error:
            wanted = f"a size that {strategy.name} takes"
            raise BadArgument("population_size", wanted, str(size), f" ({error})") from error
        if strategy.name == "ESMC" and size % 2:  # evosax fails in the first generation
            raise BadArgument("population_size", "an even one for ESMC", str(size))
        if algorithm.fitness_shaping_fn is weights_fitness_shaping_fn:
            algorithm.fitness_shaping_fn = _weights_of_ranks
    if strategy.name == "CMA_ES":
        algorithm.use_negative_weights = False
    with _modes_of_evosax():
        # Compiled: evosax's dozens of small operations take a second one by one.
        made = jax.jit(lambda: _strong(algorithm.default_params)).lower()
        algorithm.defaults = made.compile(compiler_options=options_for(0))()  # under a trace, too
    if strategy.name == "CMA_ES":
        rates = np.asarray(algorithm.defaults.c_1) + np.asarray(algorithm.defaults.c_mu)
        algorithm.gap = max(1, int(_GAP / (algorithm.num_dims * rates)))
    return algorithm


def _with_stall_indicator_of_the_tutorial(kind: Any) -> Any:
    """evosax 0.3.2 counts one generation too many in h_sigma (Hansen 2016, page 28).

    With g + 1 for g it hardly ever stalls the rank-one update in the first generations.
    """

    def h_std(self: Any, norm_p_std: jax.Array, generation_counter: Any, params: Any) -> jax.Array:
        return kind.h_std(self, norm_p_std, generation_counter - 1, params)

    return type(kind.__name__, (kind,), {"h_std": h_std})


def _with_few_decompositions(kind: Any) -> Any:
    """CMA_ES that decomposes the covariance matrix C = B D^2 B' only after it has changed enough.

    The gap is that of Hansen's purecma.py, .5 / (n (c_1 + c_mu)) generations: 1 in few dimensions,
    4 for n = 64, lambda = 16. Replaces ``_ask`` of evosax 0.3.2, and leaves out a product with
    C^-1/2 that only negative weights need.
    """
    from evosax.algorithms.distribution_based.cma_es import eigen_decomposition

    def ask(self: Any, key: jax.Array, state: Any, params: Any) -> tuple[jax.Array, Any]:
        C, B, D = jax.lax.cond(
            state.generation_counter % self.gap == 0,
            eigen_decomposition,
            lambda C: (C, state.B, state.D),
            state.C,
        )
        z = jax.random.normal(key, (self.population_size, self.num_dims), jnp.float32)
        population = state.mean + state.std * ((z * D) @ B.T)
        return population, state.replace(C=C, B=B, D=D)

    def rank_mu(self: Any, weights: jax.Array, y: jax.Array, _: jax.Array) -> jax.Array:
        return jnp.einsum("i,ij,ik->jk", weights, y, y)

    return type(kind.__name__, (kind,), {"_ask": ask, "rank_mu": rank_mu})


def _weights_of_ranks(_: Any, fitness: jax.Array, __: Any, params: Any) -> jax.Array:
    """The fitness is the ranks already: nothing to sort."""
    return params.weights[fitness.astype(jnp.int32)]


@contextlib.contextmanager
def _modes_of_evosax() -> Iterator[None]:
    """Float32, int32 and standard promotion whatever JAX's modes are: evosax writes out no dtypes.

    Its NaN stand for what is not known yet, and must not leave this block.
    """
    x64, promotion = jax.enable_x64(False), jax.numpy_dtype_promotion("standard")
    with x64, promotion, jax.debug_nans(False):
        yield


def _narrow(leaf: Any) -> np.dtype:
    """The dtype of a leaf for evosax: of 32 bits, with x64 too."""
    with jax.enable_x64(False):
        return jax.dtypes.canonicalize_dtype(jnp.result_type(leaf))


def _strong(tree: Any) -> Any:
    return jax.tree.map(lambda x: jax.lax.convert_element_type(x, jnp.result_type(x)), tree)


@jax.jit
def _begun(tree: Any) -> Any:
    """Strongly typed, with 0 for what is not known yet."""

    def known(x: jax.Array) -> jax.Array:
        return jnp.where(jnp.isnan(x), 0, x) if jnp.issubdtype(x.dtype, jnp.floating) else x

    return _strong(jax.tree.map(known, tree))
