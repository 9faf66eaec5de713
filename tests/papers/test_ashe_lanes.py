"""The evolved player as a player of lanes: other opponents, stacks, bad input."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ashe_cases import PLAYER, SHAPE, draw_deals, draw_weights

from jaxrace.envs.holdem.betting import Rules
from jaxrace.envs.holdem.table import SEATINGS, Seating
from papers.holdem import pattern_tree, policies
from papers.holdem.ashe import Ashe
from papers.holdem.lanes import Memoryless, play_lane

HANDS = 100


@pytest.fixture(scope="module")
def deals():
    return draw_deals(HANDS)


@pytest.mark.slow
def test_a_stack_of_one_big_blind(deals):
    player = Ashe(Rules(stack=100))
    found = play_lane(
        (player, player),
        tuple(draw_weights(6, 2)),
        jax.random.key(0),
        deals,
        Seating(jnp.arange(HANDS, dtype=jnp.int32) % 2, 0),
        player.rules,
    )
    assert not found.illegal.any()
    assert abs(found.winnings).max() <= 100
    reached = [np.asarray(memory.table)[:, 0] for memory in found.memories]
    roots = [row[4 * seat * pattern_tree.shape_of(player.rules).num_nodes] for row in reached
             for seat in (0, 1)]  # fmt: skip
    assert roots == [HANDS / 2] * 4


def test_one_learns_that_the_other_folds(deals):
    """Against who always folds: what has been seen of a raise is that it is folded to."""
    pair = PLAYER, Memoryless(policies.always_fold)
    own = draw_weights(4, 1)[0]
    found = play_lane(pair, (own, None), jax.random.key(0), deals, SEATINGS[1], Rules())
    memory, _ = found.memories
    frequency = np.asarray(memory.table)[:, pattern_tree.FREQUENCY]
    folded = np.asarray(memory.table)[:, pattern_tree.OPPONENT_FOLDED]
    assert (found.winnings == 50).all()  # the button folds, every time
    root = 4 * SHAPE.num_nodes
    assert frequency[root] == folded[root] == frequency.sum() == HANDS


def test_wrong_weights(deals):
    for wrong in (jnp.zeros(815), jnp.zeros((2, 1449)), jnp.zeros(())):
        with pytest.raises(ValueError, match=r"weights: expected shape \(1449,\), got \("):
            PLAYER.begin(wrong)
    pair = jnp.zeros(1449), jnp.zeros(1449).at[3].set(jnp.inf)
    with pytest.raises(ValueError, match=r"weights\[1\]: expected finite numbers"):
        play_lane((PLAYER, PLAYER), pair, jax.random.key(0), deals, SEATINGS[0], PLAYER.rules)
    pair = jnp.zeros(1448), jnp.zeros(1449)
    with pytest.raises(ValueError, match=r"weights: expected shape \(1449,\), got \(1448,\)"):
        play_lane((PLAYER, PLAYER), pair, jax.random.key(0), deals, SEATINGS[0], PLAYER.rules)


def test_rules_of_other_games(deals):
    """Its trees would have other nodes."""
    pair, other = (jnp.zeros(1449), jnp.zeros(1449)), Rules(stack=15_000)
    with pytest.raises(ValueError, match=r"rules: expected those of players\[1\], Rules\("):
        play_lane((Ashe(other), PLAYER), pair, jax.random.key(0), deals, SEATINGS[0], other)
