"""Pattern recognition trees: how an opponent has played after each betting sequence.

A player keeps eight of them, one for each seat of its own and each street. The children of a node
are what can be done next on that street, by whoever is to act, one for each action of
`abstraction` but a fold; their order is call, all-in, raises from the smallest one. All trees have
one shape, known from the rules. The statistics of a player are one table, tree after tree, which
is read during a hand, and written once, at its end. Axes: B = 8 trees, N nodes of a tree, F = 6
statistics, C = 6 children, P places of a hand's nodes.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.envs.holdem import betting
from jaxrace.envs.holdem.abstraction import ALL_IN, CALL, SIZES
from jaxrace.envs.holdem.betting import Rules

# The columns of a table: how often the node has been reached, how those hands have ended, and of
# the opponent's hands that were shown: the mean of their strengths on the street of the node, and
# the sum of squared deviations from it.
FREQUENCY, OPPONENT_FOLDED, OWN_FOLDED, SHOWDOWNS, MEAN_STRENGTH, SQUARES = range(6)
NUM_STATISTICS = 6

NUM_TREES = 2 * len(betting.STREETS)
ROOT = 0

# The place of each action among the children of a node, which begin with the action CALL.
PLACES = (0, *SIZES, 1)
ACTIONS_IN_PLACE = (CALL, ALL_IN, *SIZES)
NUM_CHILDREN = len(PLACES)


class Shape(NamedTuple):
    """The nodes of a tree."""

    num_nodes: int
    first_children: np.ndarray  # int32 [N], 0 for a node without children


class Path(NamedTuple):
    """The nodes that a hand has come through."""

    rows: jax.Array  # int32 [P] in a table, all different
    streets: jax.Array  # int32 [P]
    visited: jax.Array  # bool [P]; elsewhere the place is not used


@functools.cache
def shape_of(rules: Rules) -> Shape:
    """The nodes that a street may come through.

    >>> shape_of(Rules(stack=200))
    Shape(num_nodes=7, first_children=array([1, 3, 5, 0, 6, 0, 0], dtype=int32))
    """
    # What the highest amount is at a node, and whether somebody has acted; None without children.
    nodes: list[tuple[int, bool] | None] = [(rules.big_blind, False)]
    first_children = []
    for node in nodes:  # which grows meanwhile
        first_children.append(len(nodes) if node else 0)
        if node:
            nodes += _children(*node, stack=rules.stack)
    return Shape(len(nodes), np.array(first_children, np.int32))


def _children(highest: int, opened: bool, stack: int) -> list[tuple[int, bool] | None]:
    after_call = None if opened or highest == stack else (highest, True)
    if highest == stack:
        return [after_call]
    sizes = [(size * highest, True) for size in SIZES if size * highest < stack]
    return [after_call, (stack, True), *sizes]


def empty(shape: Shape) -> jax.Array:
    """The table of a player who has seen nothing: float32 [B * N + C - 1, F].

    The last rows belong to no tree: a slice of children may end there.
    """
    return jnp.zeros((NUM_TREES * shape.num_nodes + NUM_CHILDREN - 1, NUM_STATISTICS), jnp.float32)


def row_of(shape: Shape, seat: jax.Array, street: jax.Array, node: jax.Array | int) -> jax.Array:
    """Where the statistics of a node are in a table: int32 [...]."""
    tree = seat * len(betting.STREETS) + street
    return tree * shape.num_nodes + node


def child_of(shape: Shape, node: jax.Array, action: jax.Array) -> jax.Array:
    """Where an action leads to, int32 []; after a fold or a leaf some node, of no meaning."""
    place = jnp.asarray((0, *PLACES), jnp.int32)[action]
    return _first_child(shape, node) + place


def children(table: jax.Array, shape: Shape, tree_row: jax.Array, node: jax.Array) -> jax.Array:
    """The statistics of a node's children, float32 [C, F], in the order `ACTIONS_IN_PLACE`.

    `tree_row` is that of the root. Where an action is not legal, its row means nothing.
    """
    start = tree_row + _first_child(shape, node)
    return jax.lax.dynamic_slice(
        table, (start, jnp.zeros_like(start)), (NUM_CHILDREN, NUM_STATISTICS)
    )


def record(
    table: jax.Array,
    path: Path,
    opponent_folded: jax.Array,
    own_folded: jax.Array,
    shown_strengths: jax.Array,
) -> jax.Array:
    """The table after a hand: every node on its path has been reached once more.

    If neither has folded, hands were shown: then `shown_strengths` float32 [4] are those of the
    opponent's hand on each street.
    """
    shown = ~(opponent_folded | own_folded)
    showdowns = table[path.rows, SHOWDOWNS]
    deviation = shown_strengths[path.streets] - table[path.rows, MEAN_STRENGTH]
    # Welford's update: it keeps the digits that the difference of two sums of squares would lose.
    step = deviation / (showdowns + 1)
    additions = [
        jnp.ones_like(deviation),
        jnp.full_like(deviation, opponent_folded),
        jnp.full_like(deviation, own_folded),
        jnp.full_like(deviation, shown),
        jnp.where(shown, step, 0),
        jnp.where(shown, deviation * (deviation - step), 0),
    ]
    # What was not visited goes beyond the end, where nothing is written.
    rows = jnp.where(path.visited, path.rows, table.shape[0])
    return table.at[rows].add(jnp.stack(additions, axis=-1), mode="drop")


def _first_child(shape: Shape, node: jax.Array) -> jax.Array:
    return jnp.asarray(shape.first_children)[node]
