"""Matches of evolved players: with each other, and with fixed opponents, to see what they win.

A deck that is played twice, with players and cards exchanged, brings the better player the more and
the luckier one nothing. Players remember the hands of a match, and nothing of other matches: so
matches are independent of each other. Axes: N decks, P decks of a pool, R repeats, T generations,
S matches of an evaluation.
"""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import sweep
from jaxrace.envs import holdem
from jaxrace.envs.holdem.table import Policy
from papers.holdem import policies, strength
from papers.holdem.ashe import Ashe
from papers.holdem.config import HoldemConfig
from papers.holdem.lanes import Memoryless, Player, play_lane
from papers.lanes import in_blocks
from papers.workbench import Columns, Workbench, mean_and_error

# Random boards and hands of the opponent, from which strengths before the turn are estimated.
STRENGTH_SAMPLES = 1024

# The most that the standard error of a strength can be, a share of hands.
STRENGTH_ERROR = 0.5 / STRENGTH_SAMPLES**0.5

OPPONENTS: dict[str, Policy] = {
    "always call": policies.always_call,
    "always fold": policies.always_fold,
    "random": policies.play_uniformly,
    "pot odds": policies.by_pot_odds,
}

_WIDTH = 16  # lanes, few enough for what the players remember to stay in the cache


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
    played = play_lane(players, weights, key, twice, holdem.Seating(button, button ^ side), rules)
    chips = played.winnings.reshape(num_decks, 2).sum(1, dtype=jnp.int32)
    score = chips.astype(jnp.float32) / np.float32(rules.big_blind)
    return jnp.where(played.illegal.any(), jnp.nan, score)


@dataclasses.dataclass(frozen=True)
class OneOf:
    """A player that plays by one of several policies; its weights are the number of that one.

    So matches against different opponents are lanes of one program.

    >>> from papers.holdem.policies import always_call, always_fold
    >>> players = OneOf((always_call, always_fold)), Memoryless(always_call)
    >>> deals = holdem.prepare(holdem.deal(jax.random.key(0), 1))
    >>> rest = jax.random.key(1), deals, holdem.SEATINGS[0], holdem.Rules()
    >>> [play_lane(players, (number, None), *rest).winnings.tolist() for number in range(2)]
    [[100], [-50]]
    """

    policies: tuple[Policy, ...]

    begin = begin_hand = look = watch = end_hand = Memoryless.begin

    def decide(
        self, key: jax.Array, weights: jax.Array, view: Any, observation: holdem.Observation
    ) -> jax.Array:
        """The action of policy number ``weights``, int32 []."""
        del view
        return jax.lax.switch(weights, self.policies, key, observation)


@dataclasses.dataclass(frozen=True)
class ShortMatch:
    """A ``compare`` of ``jaxrace.selection``: two members of a population play some decks."""

    player: Ashe  # what plays with the weights of the members; leaves nothing to chance
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
        return in_blocks(self._score, self.block)(weights[first], weights[second], deals)

    def _score(self, first: jax.Array, second: jax.Array, deals: holdem.Deals) -> jax.Array:
        players, key = (self.player, self.player), jax.random.key(np.uint32(0))
        scores = score_decks(players, (first, second), key, deals, self.player.rules)
        return scores.mean() / 2


@functools.partial(jax.jit, static_argnums=(1, 2))
def draw_deals(seed: int, num_decks: int, samples: int) -> holdem.Deals:
    """A set of decks, with the strengths of its hands."""
    deck_key, strength_key = jax.random.split(jax.random.key(seed))
    decks = holdem.deal(deck_key, num_decks)
    return holdem.prepare(decks, strength.strengths(strength_key, decks, samples))


def deal_sets(bench: Workbench, name: str, sets: int, num_decks: int) -> holdem.Deals:
    """Several sets of decks, as a stage whose name they depend on: leaves [sets, ..., N]."""
    seeds = np.random.SeedSequence(bench.seed, spawn_key=tuple(name.encode())).generate_state(sets)
    samples = bench.size(STRENGTH_SAMPLES, 16)
    work = sweep.Once(lambda _, seed: draw_deals(seed, num_decks, samples), None)
    log = bench.sweep(name, work, sweep.stacked(seeds), 1)
    return jax.tree.map(jnp.asarray, log.rows.row)


class Course(NamedTuple):
    """How searches have gone, from their start to their end."""

    generation: np.ndarray  # int64 [R, T], 0 is the start
    hands: np.ndarray  # int64 [R, T], so far
    players: np.ndarray  # float32 [R, T, D], means of the search distributions


class Evaluation(NamedTuple):
    """What the players of a course win."""

    course: Course
    scores: dict[str, np.ndarray]  # by opponent, milli big blinds per hand: float64 [R, T, S]


def evaluate(
    config: HoldemConfig, bench: Workbench, key: jax.Array, courses: dict[str, Course]
) -> dict[str, Evaluation]:
    """Play S matches of every player against every opponent.

    Other repeats have other decks: so intervals over them cover the luck of the cards as well.
    """
    means = np.stack([course.players for course in courses.values()])
    *shape, size = means.shape
    count, sets = means[..., 0].size, config.test_matches
    deals = deal_sets(bench, "test decks", config.repeats * sets, config.test_decks)
    number, opponent, match = np.indices((count, len(OPPONENTS), sets), np.int32)
    repeat = np.broadcast_to(np.arange(config.repeats, dtype=np.int32)[:, None], shape).ravel()
    jobs = (leaf.ravel() for leaf in (number, opponent, repeat[number] * sets + match))
    players = Ashe(holdem.Rules(stack=config.stack)), OneOf(tuple(OPPONENTS.values()))
    shared = jnp.asarray(means.reshape(-1, size), jnp.float32), deals, key
    work = sweep.Once(functools.partial(_play, players), shared)
    log = bench.sweep("evaluation", work, sweep.stacked(tuple(jobs)), _WIDTH)
    scores = log.rows.row.astype(float).reshape(*shape, len(OPPONENTS), sets)
    return {
        name: Evaluation(course, dict(zip(OPPONENTS, np.moveaxis(own, -2, 0), strict=True)))
        for (name, course), own in zip(courses.items(), scores, strict=True)
    }


def _play(players: tuple[Ashe, OneOf], shared: Any, trial: Any) -> jax.Array:
    """What a player wins with a set of decks, in milli big blinds per hand: float32 []."""
    (weights, deals, key), (number, opponent, decks) = shared, trial
    own_deals = jax.tree.map(lambda leaf: leaf[decks], deals)
    pair, key = (weights[number], opponent), jax.random.fold_in(key, decks)
    return 1000 * score_decks(players, pair, key, own_deals, players[0].rules).mean() / 2


def table_of(name: str, evaluation: Evaluation) -> Columns:
    """An evaluation as columns: a row for every opponent, repeat and generation."""
    course, scores = evaluation
    repeats, points = course.hands.shape
    mean, error = mean_and_error(np.stack(list(scores.values())))
    several = len(scores)
    return {
        "selection": name,
        "opponent": np.repeat(list(scores), repeats * points),
        "repeat": np.tile(np.repeat(np.arange(repeats), points), several),
        "generation": np.tile(course.generation.reshape(-1), several),
        "hands": np.tile(course.hands.reshape(-1), several),
        "mbb_per_hand": mean.reshape(-1),
        "stderr": error.reshape(-1),
    }
