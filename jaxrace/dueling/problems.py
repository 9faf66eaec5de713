"""What an algorithm is run against, and what its choices cost.

Axes: K arms, d = 2 for duels or 1 for arms, M measures of regret: those of ``MEASURES``.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from jaxrace.core.compilation import is_traced
from jaxrace.core.inputs import as_reals
from jaxrace.core.protocol import pytree
from jaxrace.core.validation import BadArgument
from jaxrace.judging.winners import check_matrix


def copeland_scores(matrix: ArrayLike) -> jax.Array:
    """zeta_i = #{j != i : p_ij > 1/2} / (K - 1), float32 [..., K], for matrices [..., K, K].

    >>> copeland_scores(jnp.array([[0.5, 0.6, 0.7], [0.4, 0.5, 0.5], [0.3, 0.5, 0.5]])).tolist()
    [1.0, 0.0, 0.0]
    """
    matrix = jnp.asarray(matrix)
    wins = (matrix > 0.5).sum(-1, dtype=jnp.int32)
    return wins.astype(jnp.float32) / (matrix.shape[-1] - 1)


def borda_scores(matrix: ArrayLike) -> jax.Array:
    """Mean of p_ij over all other j, float32 [..., K], for matrices [..., K, K].

    >>> borda_scores(jnp.array([[0.5, 0.75], [0.25, 0.5]])).tolist()
    [0.75, 0.25]
    """
    matrix = jnp.asarray(matrix, jnp.float32)
    return (matrix.sum(-1) - 0.5) / (matrix.shape[-1] - 1)


# The order of the tables and of everything that is made of them.
MEASURES = ("weak", "strong", "copeland", "borda")


def regret_tables(matrix: jax.Array) -> jax.Array:
    """The regret of every pair by every measure, float32 [M, K, K].

    weak, strong: the smaller one and the mean of p_wi - 1/2 and p_wj - 1/2, w the Condorcet winner
    (Yue et al. 2012); infinite without one. copeland: zeta_* minus the mean of zeta_i and zeta_j
    (Agrawal and Chaporkar 2019, eq. 9); borda likewise.

    >>> regret_tables(jnp.array([[0.5, 0.75], [0.25, 0.5]]))[:, 0, 1].tolist()
    [0.0, 0.125, 0.5, 0.25]
    """
    matrix = jnp.asarray(matrix, jnp.float32)
    copeland, borda = copeland_scores(matrix), borda_scores(matrix)
    winner = jnp.argmax(copeland)
    # By counts: XLA may divide by K - 1 as a product with its rounded reciprocal.
    has_winner = (matrix[winner] > 0.5).sum(dtype=jnp.int32) == matrix.shape[-1] - 1
    loss = jnp.where(has_winner, matrix[winner] - 0.5, jnp.inf)
    return jnp.stack(
        [
            jnp.minimum(loss[:, None], loss),
            (loss[:, None] + loss) / 2,
            copeland.max() - (copeland[:, None] + copeland) / 2,
            borda.max() - (borda[:, None] + borda) / 2,
        ]
    )


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
    """Duels with the chances ``matrix`` [K, K], and what each costs; see ``MEASURES``.

    ValueError unless it is a preference matrix. Under a trace nothing can be raised: all regrets
    are NaN where a chance is no probability.

    >>> problem = duels([[0.5, 0.75], [0.25, 0.5]])
    >>> float(problem.probability(jnp.array([0, 1]))), problem.cost(jnp.array([1, 1])).tolist()
    (0.75, [0.25, 0.25, 1.0, 0.5])
    """
    checked = matrix if is_traced(matrix) else check_matrix(matrix)
    probabilities = jnp.asarray(checked, jnp.float32)
    order = jnp.arange(len(probabilities), dtype=jnp.int32)
    costs = regret_tables(probabilities)
    if is_traced(matrix):
        costs = jnp.where(_are_chances(probabilities), costs, jnp.nan)
    return Problem(probabilities, costs, None, order)


def arms(means: ArrayLike, utilities: ArrayLike) -> Problem:
    """Arms that pay 1 with probability ``means`` [K], else 0; the utility of the advice counts.

    ``utilities`` are those of each decision, finite; [K] if it is an arm, often the means. Under a
    trace all regrets are NaN where a mean is no probability.

    >>> arms([0.75, 0.5], [0.75, 0.5]).losses.tolist()
    [0.0, 0.25]
    """
    if not is_traced(means):
        given = as_reals("means", means, "[K]")
        if given.ndim != 1:
            raise BadArgument("means", "probabilities [K]", str(list(given.shape)))
        for arm in np.flatnonzero(~((given >= 0) & (given <= 1))):
            raise BadArgument("means", "probabilities [K]", f"{given[arm]} for arm {arm}")
    chances = jnp.asarray(means, jnp.float32)
    if not is_traced(utilities):
        with np.errstate(over="ignore"):  # beyond float32 is not finite
            found = as_reals("utilities", utilities, "[K]").astype(np.float32)
        if found.ndim != 1 or not found.size or not np.isfinite(found).all():
            raise BadArgument("utilities", "finite numbers, one of each decision", str(found))
    values = jnp.asarray(utilities, jnp.float32)
    if is_traced(means):
        values = jnp.where(_are_chances(chances), values, jnp.nan)
    return Problem(chances, None, values.max() - values, jnp.arange(len(chances), dtype=jnp.int32))


def _are_chances(chances: jax.Array) -> jax.Array:
    """Is each a probability, and not NaN? bool []."""
    return ((chances >= 0) & (chances <= 1)).all()


def shuffled(key: jax.Array, problem: Problem) -> Problem:
    """The same duels with the arms in a random order; what is reported keeps their numbers.

    ValueError for a problem of ``arms``: what is recommended there has no such order.

    >>> problem = shuffled(jax.random.key(0), duels([[0.5, 0.75], [0.25, 0.5]]))
    >>> sorted(problem.order.tolist())
    [0, 1]
    """
    if not problem.has_costs:
        raise BadArgument("problem", "a problem of duels", "a problem of arms")
    order = jax.random.permutation(key, problem.order)
    return dataclasses.replace(problem, order=order)


def step_keys(key: jax.Array, time: int | jax.Array) -> tuple[jax.Array, jax.Array]:
    """The keys of choice number ``time`` of a run: for ``ask``, and for ``draw_outcome``."""
    own = jax.random.fold_in(key, time)
    # Both at once: each call of the generator compiles a loop.
    both = jax.vmap(jax.random.fold_in, (None, 0))(own, jnp.arange(2))
    return both[0], both[1]


def uniform_of(key: jax.Array) -> jax.Array:
    """What the key of an outcome decides it by: float32 [] in [0, 1)."""
    return jax.random.uniform(key, (), jnp.float32)


def uniform_at(key: jax.Array, time: jax.Array) -> jax.Array:
    """``uniform_of`` the second of ``step_keys``, without the first."""
    return uniform_of(jax.random.fold_in(jax.random.fold_in(key, time), 1))


def draw_outcome(key: jax.Array, problem: Problem, choice: ArrayLike) -> jax.Array:
    """Does the first arm win (the arm pay)? A bool [], as ``run`` draws it."""
    return uniform_of(key) < problem.probability(jnp.asarray(choice, jnp.int32))
