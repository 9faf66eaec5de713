"""Which policy is worth testing? Axes: L candidates of a generation, n trajectories.

Source: Thomas et al. 2015 (ICML), section 4, Algorithms 5 to 7.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.core.validation import require_choice, require_integer, require_kind
from jaxrace.improvement.bounds import LowerBound, Used, random_order
from jaxrace.improvement.weights import (
    KnownTrajectories,
    Mixed,
    log_weights,
    weighted_estimate,
    weighted_returns,
)
from jaxrace.judging.policies.candidates import KINDS, MOST_FOLDS, NUM_ALPHAS
from jaxrace.search.strategies import Strategy


class StrategyParams(NamedTuple):
    """Of a search, and of those in cross-validation."""

    of_search: Any
    of_folds: Any


@dataclasses.dataclass(frozen=True)
class CandidateSearch:
    """How candidates are looked for.

    Of kind "none" (Algorithm 5), or "k-fold": against overfitting, mixtures with the initial policy
    in a proportion found by cross-validation (Algorithms 6 and 7), for which it is enough to learn
    variances.
    """

    kind: str = "none"
    evaluations: int = 2000  # of policies in a search
    fold_evaluations: int = 300  # in each of the up to 200 searches of a cross-validation
    strategy: Strategy = dataclasses.field(
        default_factory=lambda: Strategy("CMA_ES", population_size=16)
    )
    fold_strategy: Strategy = dataclasses.field(
        default_factory=lambda: Strategy("Sep_CMA_ES", population_size=16)
    )

    def __post_init__(self) -> None:
        require_choice("kind", self.kind, KINDS)
        require_kind("strategy", self.strategy, Strategy)
        require_kind("fold_strategy", self.fold_strategy, Strategy)
        require_integer("evaluations", self.evaluations, self.strategy.population_size)
        least = self.fold_strategy.population_size
        require_integer("fold_evaluations", self.fold_evaluations, least)

    def strategy_params(self, example: Any, sigma0: float) -> StrategyParams:
        """Of both strategies, for a theta like the example and an initial step size."""
        strategies = self.strategy, self.fold_strategy
        return StrategyParams(*(one.params(example, sigma0) for one in strategies))


class SearchTask(NamedTuple):
    """What a candidate must be good for, and what is known."""

    bound: LowerBound  # of the safety test
    known: KnownTrajectories
    delta: jax.Array  # error probability of the safety test
    floor: jax.Array  # rho_-, float32 []
    tested_on: jax.Array  # m, trajectories of the safety test, int32 []
    initial: jax.Array  # theta of pi_0, where the search begins
    is_cold: jax.Array  # bool [], is alpha to be chosen by cross-validation? Else it is 1


def objective(task: SearchTask, drawn: Any, policies: Mixed) -> jax.Array:
    """f of each policy, float32 [L]: g if the bound is predicted to reach rho_-, else the bound."""

    def judge(policy: Mixed) -> jax.Array:
        weights = jnp.exp(log_weights(policy, task.known))
        values = weighted_returns(weights, task.known)
        needs = task.known.rows, task.delta, task.tested_on
        lower = task.bound.predict(drawn, values, *needs).lower
        worth = jnp.where(lower >= task.floor, weighted_estimate(weights, task.known), lower)
        # Neither can be told where weights or their squares leave the range of float32.
        return jnp.where(jnp.isfinite(worth), worth, -jnp.inf)

    return jax.vmap(judge)(policies)


def maximise(
    strategy: Strategy,
    strategy_params: Any,
    generations: int,
    key: jax.Array,
    worth: Callable[[jax.Array], jax.Array],  # of a population: [L, ...] -> float32 [L]
    start: jax.Array,
) -> tuple[jax.Array, jax.Array]:
    """The best of all that an evolution strategy looks at, ``start`` included, and its worth."""

    def generation(carry: tuple, number: jax.Array) -> tuple[tuple, None]:
        state, best, value = carry
        ask_key, tell_key = jax.random.split(jax.random.fold_in(key, number))
        population, state = strategy.ask(ask_key, state, strategy_params, start)
        # With the start, whose worth alone would be the whole program once more.
        found = worth(jnp.concatenate([start[None], population]))
        value, found = jnp.maximum(value, found[0]), found[1:]
        ranking = jnp.argsort(-found, stable=True).astype(jnp.int32)
        state = strategy.tell(state, population, ranking, strategy_params, tell_key, start)
        first = ranking[0]
        is_better = found[first] > value
        best = jnp.where(is_better, population[first], best)
        return (state, best, jnp.where(is_better, found[first], value)), None

    begin = strategy.init(jax.random.fold_in(key, generations), start, strategy_params)
    carry = begin, start, jnp.float32(-jnp.inf)
    numbers = jnp.arange(generations, dtype=jnp.uint32)
    (_, best, value), _ = lax.scan(generation, carry, numbers)
    return best, value


def find_candidate(
    search: CandidateSearch, params: StrategyParams, key: jax.Array, task: SearchTask
) -> Mixed:
    """The policy to be tested."""
    alpha_key, draw_key, search_key = jax.random.split(key, 3)
    alpha = jnp.ones((), jnp.float32)
    if search.kind == "k-fold":
        scores = _cross_validate(search, params, alpha_key, task)
        best = jnp.argmax(scores).astype(jnp.float32) / NUM_ALPHAS
        alpha = jnp.where(task.is_cold, best, alpha)
    worth = _worth(task, task.bound.draw(draw_key, task.known.rows, task.tested_on), alpha)
    generations = search.evaluations // search.strategy.population_size
    strategy = search.strategy, params.of_search, generations
    theta, _ = maximise(*strategy, search_key, worth, task.initial)
    return Mixed(theta, alpha)


def _worth(task: SearchTask, drawn: Any, alpha: jax.Array) -> Callable[[jax.Array], jax.Array]:
    """The objective of thetas, [L, A, p], mixed in one proportion."""
    return lambda thetas: objective(
        task, drawn, Mixed(thetas, jnp.broadcast_to(alpha, thetas.shape[:1]))
    )


def _cross_validate(
    search: CandidateSearch, params: StrategyParams, key: jax.Array, task: SearchTask
) -> jax.Array:
    """The mean f on folds left out, for alpha = 0, 0.1, ..., 1: float32 [11]."""
    rows = task.known.rows
    order = random_order(jax.random.fold_in(key, 0), rows)
    num_folds = jnp.clip(rows.total // 2, 1, MOST_FOLDS)
    size = order.shape[0]
    fold = jnp.zeros(size, jnp.int32).at[order].set(jnp.arange(size, dtype=jnp.int32) % num_folds)
    alphas = jnp.arange(1, NUM_ALPHAS + 1, dtype=jnp.float32) / NUM_ALPHAS

    def add_fold(number: jax.Array, scores: jax.Array) -> jax.Array:
        fit_key, score_key, own_key = jax.random.split(jax.random.fold_in(key, number + 1), 3)
        is_out = fold == number
        fit, out = (
            task._replace(known=task.known._replace(rows=Used(rows.present & part, rows.behaviour)))
            for part in (~is_out, is_out)
        )
        of_fit = task.bound.draw(fit_key, fit.known.rows, task.tested_on)
        of_out = task.bound.draw(score_key, out.known.rows, task.tested_on)

        def search_with(number: jax.Array, alpha: jax.Array) -> jax.Array:
            generations = search.fold_evaluations // search.fold_strategy.population_size
            strategy = search.fold_strategy, params.of_folds, generations
            own, worth = jax.random.fold_in(own_key, number), _worth(fit, of_fit, alpha)
            return maximise(*strategy, own, worth, task.initial)[0]

        numbers = jnp.arange(NUM_ALPHAS, dtype=jnp.uint32)
        thetas = jax.vmap(search_with)(numbers, alphas)
        # With alpha = 0 any theta will do.
        alpha = jnp.concatenate([jnp.zeros(1, jnp.float32), alphas])
        tried = Mixed(jnp.concatenate([task.initial[None], thetas]), alpha)
        return scores + objective(out, of_out, tried)

    scores = jnp.zeros(NUM_ALPHAS + 1, jnp.float32)
    # In a batch some items may need no folds: those only wait.
    used = jnp.where(task.is_cold, num_folds, 0)
    return lax.fori_loop(0, used, add_fold, scores) / num_folds.astype(jnp.float32)
