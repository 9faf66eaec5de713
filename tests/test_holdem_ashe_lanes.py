"""The evolved player as a player of lanes: other opponents, stacks, batches, modes, bad input."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ashe_cases import PLAYER, SHAPE, draw_deals, draw_weights

from jaxrace.envs import holdem
from jaxrace.envs.holdem import pattern_tree, policies
from jaxrace.envs.holdem.ashe import Ashe
from jaxrace.envs.holdem.betting import Rules
from jaxrace.envs.holdem.player import Memoryless
from jaxrace.envs.holdem.table import SEATINGS, Seating

HANDS = 100


@pytest.fixture(scope="module")
def deals():
    return draw_deals(HANDS)


@pytest.mark.parametrize("stack", [100, pytest.param(1_000, marks=pytest.mark.slow)])
def test_other_stacks(deals, stack):
    player = Ashe(Rules(stack=stack))
    found = holdem.play_lane(
        (player, player),
        tuple(draw_weights(6, 2)),
        jax.random.key(0),
        deals,
        Seating(jnp.arange(HANDS, dtype=jnp.int32) % 2, 0),
        player.rules,
    )
    assert not found.illegal.any()
    assert abs(found.winnings).max() <= stack
    reached = [np.asarray(memory.table)[:, 0] for memory in found.memories]
    roots = [row[4 * seat * pattern_tree.shape_of(player.rules).num_nodes] for row in reached
             for seat in (0, 1)]  # fmt: skip
    assert roots == [HANDS / 2] * 4


def test_one_learns_that_the_other_folds(deals):
    """Against who always folds: what has been seen of a raise is that it is folded to."""
    pair = PLAYER, Memoryless(policies.always_fold)
    own = draw_weights(4, 1)[0]
    found = holdem.play_lane(pair, (own, None), jax.random.key(0), deals, SEATINGS[1], Rules())
    memory, _ = found.memories
    frequency = np.asarray(memory.table)[:, pattern_tree.FREQUENCY]
    folded = np.asarray(memory.table)[:, pattern_tree.OPPONENT_FOLDED]
    assert (found.winnings == 50).all()  # the button folds, every time
    root = 4 * SHAPE.num_nodes
    assert frequency[root] == folded[root] == frequency.sum() == HANDS


@pytest.mark.slow
def test_against_a_random_player_on_the_button(deals):
    """What was counted adds up to what was played."""
    pair = PLAYER, Memoryless(policies.play_uniformly)
    own = draw_weights(4, 1)[0]
    found = holdem.play_lane(pair, (own, None), jax.random.key(0), deals, SEATINGS[1], Rules())
    memory, _ = found.memories
    counts = np.asarray(memory.table)[4 * SHAPE.num_nodes]  # before the flop, as big blind
    assert counts[pattern_tree.FREQUENCY] == HANDS
    ends = pattern_tree.OPPONENT_FOLDED, pattern_tree.OWN_FOLDED, pattern_tree.SHOWDOWNS
    assert counts[list(ends)].sum() == HANDS
    assert (counts[list(ends)] > 0).all()
    assert np.asarray(memory.table)[: 4 * SHAPE.num_nodes].sum() == 0  # never on the button
    assert 0 < counts[pattern_tree.MEAN_STRENGTH] < 1


@pytest.mark.slow
def test_a_population_at_once(deals):
    some = jax.tree.map(lambda leaf: leaf[..., :60], deals)
    first, second = draw_weights(7, 6).reshape(2, 3, -1)

    def lane(one, other):
        return holdem.play_lane(
            (PLAYER, PLAYER), (one, other), jax.random.key(0), some, SEATINGS[0], Rules()
        )

    together = jax.vmap(lane)(first, second)
    for number in range(3):
        alone = lane(first[number], second[number])
        assert (together.winnings[number] == alone.winnings).all()
        for many, single in zip(together.memories, alone.memories, strict=True):
            np.testing.assert_allclose(many.table[number], single.table, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["x64", "strict"])
def test_modes_do_not_matter(deals, mode):
    some = jax.tree.map(lambda leaf: leaf[..., :60], deals)
    pair = tuple(draw_weights(5, 2))

    def lane():
        return holdem.play_lane(
            (PLAYER, PLAYER), pair, jax.random.key(0), some, SEATINGS[0], Rules()
        )

    plain = jax.device_get(lane())
    context = jax.enable_x64(True) if mode == "x64" else jax.numpy_dtype_promotion("strict")
    with context:
        found = jax.device_get(lane())
    for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(plain), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_wrong_weights(deals):
    for wrong in (jnp.zeros(815), jnp.zeros((2, 1449)), jnp.zeros(())):
        with pytest.raises(ValueError, match=r"weights: expected shape \(1449,\), got \("):
            PLAYER.begin(wrong)
    pair = jnp.zeros(1449), jnp.zeros(1449).at[3].set(jnp.inf)
    with pytest.raises(ValueError, match=r"weights\[1\]: expected finite numbers"):
        holdem.play_lane(
            (PLAYER, PLAYER), pair, jax.random.key(0), deals, SEATINGS[0], PLAYER.rules
        )
    pair = jnp.zeros(1448), jnp.zeros(1449)
    with pytest.raises(ValueError, match=r"weights: expected shape \(1449,\), got \(1448,\)"):
        holdem.play_lane(
            (PLAYER, PLAYER), pair, jax.random.key(0), deals, SEATINGS[0], PLAYER.rules
        )


def test_a_player_may_be_static():
    assert Ashe() == Ashe(Rules())
    assert hash(Ashe()) == hash(Ashe(Rules()))
    assert Ashe(Rules(stack=500)) != Ashe()


def test_rules_of_other_games(deals):
    """Its trees would have other nodes."""
    pair, other = (jnp.zeros(1449), jnp.zeros(1449)), Rules(stack=15_000)
    with pytest.raises(ValueError, match=r"rules: expected those of players\[1\], Rules\("):
        holdem.play_lane((Ashe(other), PLAYER), pair, jax.random.key(0), deals, SEATINGS[0], other)
