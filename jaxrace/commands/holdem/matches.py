"""Decks that are played by two players, twice each: what they bring, and short matches of them.

A deck that is played twice, with players and cards exchanged, brings the better player the more and
the luckier one nothing. Players remember the hands of a match, and nothing of other matches: so
matches are independent of each other. Axes: N decks, P decks of a pool.
"""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels, sweep
from jaxrace.commands.workbench import Workbench
from jaxrace.envs import holdem
from jaxrace.envs.holdem.player import Player

# Random boards and hands of the opponent, from which strengths before the turn are estimated.
STRENGTH_SAMPLES = 1024

# The most that the standard error of a strength can be, a share of hands.
STRENGTH_ERROR = 0.5 / STRENGTH_SAMPLES**0.5


def score_decks(
    players: tuple[Player, Player],
    weights: tuple[Any, Any],
    key: jax.Array,
    deals: holdem.Deals,
    rules: holdem.Rules,
    side: jax.Array | int = 0,
) -> jax.Array:
    """What each deck brings the first player, in big blinds: float32 [N]; NaN if one broke a rule.

    The player on the button has the first hand of a deck, or the second if ``side`` is 1, int32 [].
    """
    num_decks = deals.winner.shape[-1]
    twice = jax.tree.map(lambda leaf: jnp.repeat(leaf, 2, axis=-1), deals)
    button = jnp.arange(2 * num_decks, dtype=jnp.int32) % 2
    played = holdem.play_lane(
        players, weights, key, twice, holdem.Seating(button, button ^ side), rules
    )
    chips = played.winnings.reshape(num_decks, 2).sum(1, dtype=jnp.int32)
    score = chips.astype(jnp.float32) / np.float32(rules.big_blind)
    return jnp.where(played.illegal.any(), jnp.nan, score)


@dataclasses.dataclass(frozen=True)
class ShortMatch:
    """A ``compare`` of ``jaxrace.selection``: two members of a population play some decks."""

    player: holdem.Ashe  # what plays with the weights of the members; leaves nothing to chance
    decks: int  # N, drawn at random from the pool; twice as many hands
    # Matches that are played side by side: few on a CPU, whose cache then holds what the players
    # remember, and many on other devices.
    block: int

    def __call__(
        self,
        key: jax.Array,
        problem: tuple[jax.Array, holdem.Deals],
        first: jax.Array,
        second: jax.Array,
    ) -> jax.Array:
        """What the first one wins, in big blinds per hand, on decks of a pool: float32 []."""
        weights, pool = problem
        places = jax.random.randint(key, (self.decks,), 0, pool.winner.shape[-1], jnp.int32)
        deals = jax.tree.map(lambda leaf: leaf[..., places], pool)
        return kernels.in_blocks(self._score, self.block)(weights[first], weights[second], deals)

    def _score(self, first: jax.Array, second: jax.Array, deals: holdem.Deals) -> jax.Array:
        players, key = (self.player, self.player), jax.random.key(np.uint32(0))
        scores = score_decks(players, (first, second), key, deals, self.player.rules)
        return scores.mean() / 2


@functools.partial(jax.jit, static_argnums=(1, 2))
def draw_deals(seed: int, num_decks: int, samples: int) -> holdem.Deals:
    """A set of decks, with the strengths of its hands."""
    deck_key, strength_key = jax.random.split(jax.random.key(seed))
    decks = holdem.deal(deck_key, num_decks)
    return holdem.prepare(decks, holdem.strengths(strength_key, decks, samples))


def deal_sets(bench: Workbench, name: str, sets: int, num_decks: int) -> holdem.Deals:
    """Several sets of decks, as a stage whose name they depend on: leaves [sets, ..., N]."""
    seeds = np.random.SeedSequence(bench.seed, spawn_key=tuple(name.encode())).generate_state(sets)
    samples = bench.size(STRENGTH_SAMPLES, 16)
    work = sweep.Once(lambda _, seed: draw_deals(seed, num_decks, samples), None)
    log = bench.sweep(name, work, sweep.stacked(seeds), 1)
    return jax.tree.map(jnp.asarray, log.rows.row)
