"""Matches between hold'em players that have learned nothing. Axes: P populations, K players.

A *score* is what one deck brings a player that is played twice, with players and cards exchanged:
the chips won in both hands, in big blinds. A *pass* is a match over all N decks in their order;
the players remember each other from its first hand to its last.
"""

import itertools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import sweep
from jaxrace.commands.holdem.matches import deal_sets, score_decks
from jaxrace.commands.workbench import Workbench
from jaxrace.envs.holdem import NUM_WEIGHTS, Ashe, Deals

ASHE = Ashe()

# In one pass the player on the button has the first hand of a deck, in the other the second.
PASSES = 2
_WIDTH = 16  # few lanes, so that what the players remember stays in the cache


class Match(NamedTuple):
    """A pass of a pair over a set of decks."""

    population: Any  # int32 []
    decks: Any  # int32 [], number of the set
    first: Any  # int32 [], the players
    second: Any  # int32 []
    side: Any  # int32 [], 0 or 1, see ``PASSES``


class Tables(NamedTuple):
    """What all matches share."""

    weights: jax.Array  # float32 [P, K, 1449]
    deals: Deals  # leaves [sets, ..., N]


def draw_players(seed: int, populations: int, players: int) -> jax.Array:
    """Weights uniform on [-1, 1]: float32 [P, K, 1449]."""
    shape = (populations, players, NUM_WEIGHTS)
    return jax.random.uniform(jax.random.key(np.uint32(seed)), shape, jnp.float32, -1, 1)


def score_pass(shared: Tables, match: Match) -> jax.Array:
    """The scores of the first player, deck by deck: float32 [N], NaN if a player broke a rule."""
    deals = jax.tree.map(lambda leaf: leaf[match.decks], shared.deals)
    own = shared.weights[match.population]
    pair = own[match.first], own[match.second]
    key = jax.random.key(np.uint32(0))  # there is no chance in these players
    return score_decks((ASHE, ASHE), pair, key, deals, ASHE.rules, match.side)


def play_sets(
    bench: Workbench,
    name: str,
    weights: jax.Array,
    population: np.ndarray,
    num_decks: int,
    sides: tuple[int, ...] = (0, 1),
) -> np.ndarray:
    """All pairs of a population [sets] on each set of N decks: float32 [sets, K, K, passes x N].

    Scores are in the order in which they were played; [i, j] is the negative of [j, i].
    """
    deals = deal_sets(bench, f"{name}, decks", len(population), num_decks)
    players = weights.shape[1]
    pairs = list(itertools.combinations(range(players), 2))
    matches = itertools.product(enumerate(population), pairs, sides)
    jobs = np.array([(own, number, *pair, side) for (number, own), pair, side in matches], np.int32)
    work = sweep.Once(score_pass, Tables(weights, deals))
    log = bench.sweep(name, work, sweep.stacked(Match(*jobs.T)), _WIDTH)
    shape = (len(population), len(pairs), len(sides) * num_decks)
    scores = np.zeros((len(population), players, players, shape[-1]), np.float32)
    first, second = np.array(pairs).T
    scores[:, first, second] = log.rows.row.reshape(shape)
    scores[:, second, first] = -scores[:, first, second]
    return scores
