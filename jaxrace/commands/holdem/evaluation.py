"""What evolved players win from fixed opponents. Axes: R repeats, T generations, S matches."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import sweep
from jaxrace.commands.holdem.config import HoldemConfig
from jaxrace.commands.holdem.matches import deal_sets, score_decks
from jaxrace.commands.workbench import Columns, Workbench, mean_and_error
from jaxrace.envs.holdem import Ashe, Rules
from jaxrace.envs.holdem.player import OneOf
from jaxrace.envs.holdem.policies import (
    Policy,
    always_call,
    always_fold,
    by_pot_odds,
    play_uniformly,
)

OPPONENTS: dict[str, Policy] = {
    "always call": always_call,
    "always fold": always_fold,
    "random": play_uniformly,
    "pot odds": by_pot_odds,
}

_WIDTH = 16  # lanes, few enough for what the players remember to stay in the cache


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
    repeat = np.broadcast_to(np.arange(config.repeats)[:, None], shape)
    # Searches of a repeat have their start in common: what is the same is evaluated once.
    known, place = np.unique(
        np.column_stack([repeat.reshape(-1), means.reshape(-1, size)]), axis=0, return_inverse=True
    )
    matches = config.test_matches
    deals = deal_sets(bench, "test decks", config.repeats * matches, config.test_decks)
    number, opponent, match = np.indices((len(known), len(OPPONENTS), matches), np.int32)
    decks = known[:, 0].astype(np.int32)[number] * matches + match
    jobs = tuple(leaf.reshape(-1) for leaf in (number, opponent, decks))
    players = Ashe(Rules(stack=config.stack)), OneOf(tuple(OPPONENTS.values()))
    shared = jnp.asarray(known[:, 1:], jnp.float32), deals, key
    work = sweep.Once(functools.partial(_play, players), shared)
    log = bench.sweep("evaluation", work, sweep.stacked(jobs), _WIDTH)
    scores = log.rows.row.astype(float).reshape(number.shape)[place.reshape(shape)]
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
