"""What an algorithm is played against, and what its choices cost.

Axes: K arms, d = 2 for duels or 1 for arms, M measures of regret.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from numpy.typing import ArrayLike

from jaxrace.core.protocol import pytree
from jaxrace.core.validation import as_reals
from jaxrace.dueling.decisions import Counting, NextBest
from jaxrace.dueling.regret import regret_tables
from jaxrace.judging.winners import check_matrix

# Of the 100 arms of Urvoy et al. 2013, section 5.1.
URVOY_MEANS = (0.95, *3 * (0.9,), 0.55, *5 * (0.5,), *90 * (0.0,))


@pytree
class Problem:
    """Chances, and regrets of choices or of recommendations; make it with ``duels`` or ``arms``."""

    probabilities: jax.Array  # float32 [K, K], i beats j; or [K], arm i pays
    costs: jax.Array | None  # float32 [M, K, K], of playing a pair
    losses: jax.Array | None  # float32 [K], of recommending an arm, where nothing else counts
    order: jax.Array  # int32 [K], of duels: the arm that an algorithm knows by each number

    @property
    def num_measures(self) -> int:
        return 1 if self.costs is None else self.costs.shape[-3]

    def probability(self, choice: jax.Array) -> jax.Array:
        """Of the outcome 1, float32 []; of a pair of the same arm 1/2."""
        return self.probabilities[tuple(self.order[choice])]

    @property
    def has_costs(self) -> bool:
        """Is it what one plays that costs, and not what one recommends?"""
        return self.costs is not None

    def cost(self, choice: jax.Array) -> jax.Array:
        """Regret of playing, float32 [M]."""
        assert self.costs is not None
        first, second = self.order[choice]
        return self.costs[:, first, second]

    def loss(self, recommended: jax.Array) -> jax.Array:
        """Regret of recommending, float32 [M] with M = 1."""
        assert self.losses is not None
        return self.losses[recommended][None]

    def named(self, recommended: jax.Array) -> jax.Array:
        """What an algorithm recommends, in the problem's own numbers, int32 []."""
        return self.order[recommended] if self.has_costs else recommended


def duels(matrix: ArrayLike) -> Problem:
    """Duels with the chances ``matrix`` [K, K], and what each costs; see ``regret.MEASURES``.

    ValueError if it is no preference matrix; not checked under a trace.

    >>> problem = duels([[0.5, 0.75], [0.25, 0.5]])
    >>> float(problem.probability(jnp.array([0, 1]))), problem.cost(jnp.array([1, 1])).tolist()
    (0.75, [0.25, 0.25, 1.0, 0.5])
    """
    checked = matrix if isinstance(matrix, Tracer) else check_matrix(matrix)
    probabilities = jnp.asarray(checked, jnp.float32)
    order = jnp.arange(len(probabilities), dtype=jnp.int32)
    return Problem(probabilities, regret_tables(probabilities), None, order)


def arms(means: ArrayLike, utilities: ArrayLike) -> Problem:
    """Arms that pay 1 with probability ``means`` [K], else 0; the utility of the advice counts.

    ``utilities`` are those of each decision, finite; [K] if it is an arm, often the means.

    >>> arms([0.75, 0.5], [0.75, 0.5]).losses.tolist()
    [0.0, 0.25]
    """
    chances = _chances(means)
    if not isinstance(utilities, Tracer):
        with np.errstate(over="ignore"):  # what float32 does not hold is not finite
            found = as_reals("utilities", utilities, "[K]").astype(np.float32)
        if found.ndim != 1 or not found.size or not np.isfinite(found).all():
            raise ValueError(
                f"utilities: expected finite numbers, one of each decision, got {found}"
            )
    values = jnp.asarray(utilities, jnp.float32)
    return Problem(chances, None, values.max() - values, jnp.arange(len(chances), dtype=jnp.int32))


def rigged_bandit(means: ArrayLike = URVOY_MEANS, skipped: int = 4) -> Problem:
    """Arms of which the best few are worth nothing (Urvoy et al. 2013, sections 3.1 and 5.1).

    For algorithms that look for ``NextBest(K, skipped)``: regret is how much less the recommended
    arm is worth than the best one that counts. Arms pay with probability ``means`` [K], those of
    the paper's figure 3 unless given; the ``skipped`` best are worth nothing.

    >>> rigged_bandit([0.75, 0.25, 0.5], skipped=1).losses.tolist()
    [0.5, 0.25, 0.0]
    """
    chances = _chances(means)
    return arms(chances, NextBest(len(chances), skipped).utilities(chances))


def counting_bandit(
    means: ArrayLike = URVOY_MEANS, above: float = 0.4, below: float = 0.6
) -> Problem:
    """Arms of which one wants to know how many pay with a probability between two limits.

    For algorithms that look for ``Counting(K, above, below)`` (Urvoy et al. 2013, supplement B.5):
    regret is by how much the recommended count is wrong, one loss for each of 0 to K. The ``means``
    [K] are those of the paper's figure 3 unless given.

    >>> counting_bandit([0.75, 0.5, 0.25]).losses.tolist()
    [1.0, 0.0, 1.0, 2.0]
    """
    chances = _chances(means)
    right = Counting(len(chances), above, below).decide(chances).astype(jnp.float32)
    return arms(chances, -abs(jnp.arange(len(chances) + 1, dtype=jnp.float32) - right))


def _chances(means: ArrayLike) -> jax.Array:
    """Float32 [K], checked unless they are traced."""
    if not isinstance(means, Tracer):
        found = as_reals("means", means, "[K]")
        bad = np.flatnonzero(~((found >= 0) & (found <= 1)))
        if found.ndim != 1:
            raise ValueError(f"means: expected probabilities [K], got {list(found.shape)}")
        if bad.size:
            raise ValueError(
                f"means: expected probabilities [K], got {found[bad[0]]} for arm {bad[0]}"
            )
    return jnp.asarray(means, jnp.float32)


def shuffled(key: jax.Array, problem: Problem) -> Problem:
    """The same duels with the arms in a random order; what is reported keeps their numbers.

    ValueError if the problem is one of ``arms``: what they recommend has no such order.

    >>> problem = shuffled(jax.random.key(0), duels([[0.5, 0.75], [0.25, 0.5]]))
    >>> sorted(problem.order.tolist())
    [0, 1]
    """
    if not problem.has_costs:
        raise ValueError("problem: expected one of duels, got one of arms")
    order = jax.random.permutation(key, problem.order)
    return dataclasses.replace(problem, order=order)


def step_keys(key: jax.Array, time: int | jax.Array) -> tuple[jax.Array, jax.Array]:
    """The keys of choice number ``time`` of a run: for ``ask``, and for ``draw_outcome``."""
    own = jax.random.fold_in(key, time)
    # Both at once: the generator is a loop of its own wherever it is called, also for the compiler.
    both = jax.vmap(jax.random.fold_in, (None, 0))(own, jnp.arange(2))
    return both[0], both[1]


def draw_uniform(key: jax.Array, time: int | jax.Array) -> jax.Array:
    """What decides choice number ``time`` of the run with this key: float32 [] in [0, 1)."""
    # The second of `step_keys`, without drawing the first.
    return uniform_of(jax.random.fold_in(jax.random.fold_in(key, time), 1))


def uniform_of(key: jax.Array) -> jax.Array:
    """What the key of an outcome decides it by: float32 [] in [0, 1)."""
    return jax.random.uniform(key, (), jnp.float32)


def draw_outcome(key: jax.Array, problem: Problem, choice: ArrayLike) -> jax.Array:
    """Does the first arm win (the arm pay)? A bool [], as ``play`` draws it."""
    return uniform_of(key) < problem.probability(jnp.asarray(choice, jnp.int32))
