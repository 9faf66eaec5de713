"""Short matches of hold'em, as comparisons: what a score is, and that a stronger player wins."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.envs.holdem import SEATINGS, Deals, Rules
from papers.holdem import networks
from papers.holdem.ashe import Ashe
from papers.holdem.lanes import Memoryless, play_lane
from papers.holdem.matches import ShortMatch, score_decks
from papers.holdem.networks import NUM_WEIGHTS
from papers.holdem.policies import always_call, always_fold

# Small stacks make small trees.
ASHE = Ashe(Rules(stack=400))
# One block and half of another.
LANES = 6
MATCH = ShortMatch(ASHE, decks=3, block=4)
POPULATION = jax.random.uniform(jax.random.key(0), (4, NUM_WEIGHTS), jnp.float32, -1, 1)


@pytest.fixture(scope="module")
def pool():
    """Decks of which each hand is as strong from the first street on as it is in the end."""
    strengths = np.random.default_rng(1).random((2, 40), np.float32)
    winner = np.sign(strengths[0] - strengths[1]).astype(np.int32)
    return Deals(jnp.asarray(winner), jnp.asarray(np.broadcast_to(strengths, (4, 2, 40))))


@jax.jit
def scores_of(keys, population, pool, first, second):
    compare = jax.vmap(MATCH, (0, None, 0, 0))
    return compare(keys, (population, pool), first, second)


@pytest.mark.slow
def test_a_score_is_what_the_hands_of_a_match_bring(pool):
    key = jax.random.key(3)
    twos, ones = jnp.full(LANES, 2), jnp.ones(LANES, int)
    keys = jnp.broadcast_to(key, LANES)
    score, *others = scores_of(keys, POPULATION, pool, twos, ones).tolist()
    assert others == [score] * (LANES - 1)
    places = jax.random.randint(key, (3,), 0, 40, jnp.int32)
    # Each deck with both seatings, one after the other, without a break between the decks.
    deals = jax.tree.map(lambda leaf: leaf[..., places.repeat(2)], pool)
    seating = jax.tree.map(lambda *leaves: jnp.tile(jnp.array(leaves), 3), *SEATINGS[:2])
    pair = POPULATION[2], POPULATION[1]
    hands = play_lane((ASHE, ASHE), pair, jax.random.key(0), deals, seating, ASHE.rules)
    assert hands.winnings.shape == (6,)
    assert score == pytest.approx(float(hands.winnings.sum()) / 100 / 6, rel=1e-6)
    assert score != 0


@pytest.mark.slow
def test_matches_are_the_same_in_any_block_and_from_the_other_side(pool):
    keys = jax.random.split(jax.random.key(1), LANES)
    first, second = jnp.array([0, 0, 0, 1, 1, 2]), jnp.array([1, 2, 3, 2, 3, 3])
    together = scores_of(keys, POPULATION, pool, first, second)
    # In another block, and in another place of it, networks are rounded otherwise.
    backwards = scores_of(keys[::-1], POPULATION, pool, first[::-1], second[::-1])
    np.testing.assert_allclose(together, backwards[::-1], atol=1e-6)
    exchanged = scores_of(keys, POPULATION, pool, second, first)
    assert np.ptp(together) > 0
    np.testing.assert_allclose(np.asarray(exchanged), -np.asarray(together), atol=1e-6)


def test_who_folds_all_hands_loses_to_who_plays_them(pool):
    """Planted: a win rate estimator that always says 0 makes a player that always folds."""
    # The last weight of the estimator is the bias of its output.
    folder = jnp.zeros(NUM_WEIGHTS).at[networks.NUM_SHOWDOWN_WEIGHTS - 1].set(-20.0)
    folder = folder.at[-1].set(20.0)
    population = jnp.zeros((4, NUM_WEIGHTS)).at[1].set(folder)
    keys = jax.random.split(jax.random.key(2), LANES)
    zeros, ones = jnp.zeros(LANES, int), jnp.ones(LANES, int)
    scores = scores_of(keys, population, pool, zeros, ones)
    assert (np.asarray(scores) > 0).all()


def test_a_deck_is_played_by_both_from_both_seats(pool):
    pair = Memoryless(always_call), Memoryless(always_fold)
    deals = jax.tree.map(lambda leaf: leaf[..., :10], pool)
    for side in (0, 1):
        scores = score_decks(pair, (None, None), jax.random.key(0), deals, Rules(), side)
        # The small blind is folded; from the big blind both check, and one hand wins a big blind.
        winner = np.asarray(deals.winner) * (1 - 2 * side)
        np.testing.assert_array_equal(scores, 0.5 + winner)
