"""Matches and races of hold'em players that have learned nothing.

A *score* is what one deck brings a player that is played twice, with players and cards exchanged:
the chips won in both hands, in big blinds. A *pass* is a match over all N decks in their order;
the players remember each other from its first hand to its last. Axes: P populations, K players, R
races, C capacities.
"""

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxrace import kernels, racing, selection, sweep
from jaxrace.envs.holdem import Deals
from jaxrace.racing import DominanceParams
from papers.holdem.ashe import Ashe
from papers.holdem.evolution import random_other
from papers.holdem.matches import deal_sets, score_decks
from papers.holdem.networks import NUM_WEIGHTS
from papers.selections.curves import Curve
from papers.selections.runs import Task, problem_keys
from papers.workbench import Workbench

ASHE = Ashe()

# In one pass the player on the button has the first hand of a deck, in the other the second.
PASSES = 2
_MATCHES = 16  # few lanes, so that what the players remember stays in the cache

DELTA = 0.05  # error probability of a race
_RACES = 32  # lanes of races, which wait for each other


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
    log = bench.sweep(name, work, sweep.stacked(Match(*jobs.T)), _MATCHES)
    shape = (len(population), len(pairs), len(sides) * num_decks)
    scores = np.zeros((len(population), players, players, shape[-1]), np.float32)
    first, second = np.array(pairs).T
    scores[:, first, second] = log.rows.row.reshape(shape)
    scores[:, second, first] = -scores[:, first, second]
    return scores


class Races(NamedTuple):
    """What came of races with the same players, of several capacities."""

    capacities: tuple[int, ...]  # most samples of a player
    comparisons: np.ndarray  # int32 [R, C]
    selected: np.ndarray  # bool [R, C, K]
    certified: np.ndarray  # bool [R, C]

    def curve(self, best: np.ndarray) -> Curve:
        """How often the best, bool [R, K], were selected: a point for each capacity."""
        found = (self.selected == best[:, None]).all(-1)
        return Curve(self.comparisons.mean(0), found, are_settings=True)


class RaceRow(NamedTuple):
    """What a race leaves."""

    comparisons: jax.Array  # int32 []
    selected: jax.Array  # bool [K]
    certified: jax.Array  # bool []


@dataclasses.dataclass(frozen=True)
class PlayersRace:
    """A race of scores against random others; by ``racing.run`` each option would copy them all."""

    race: racing.DominanceRace  # of scores
    compare: Any  # see ``selection.run``; antisymmetric, as it is called in either order

    def __call__(self, shared: tuple[Any, DominanceParams], job: selection.SelectionJob) -> RaceRow:
        """Run a race, given what all comparisons share, and the params of the race."""
        given, params = shared
        players = jnp.arange(self.race.num_options, dtype=jnp.int32)

        def draw(player: jax.Array, number: jax.Array) -> jax.Array:
            key = jax.random.fold_in(jax.random.fold_in(job.key, player), number)
            other_key, own_key = jax.random.split(key)
            other = random_other(other_key, player, self.race.num_options)
            return self.compare(own_key, (given, job.problem), player, other)

        def told(state: Any, rounds: int) -> Any:
            numbers = state.simulated[:, None] + jnp.arange(rounds, dtype=jnp.int32)
            scores = jax.vmap(jax.vmap(draw, (None, 0)))(players, numbers)
            return self.race.tell(state, scores, params)

        begun = self.race.init(jax.ShapeDtypeStruct((), jnp.float32), params)
        ended = lax.while_loop(
            lambda state: self.race.ask(state, params).any(),
            lambda state: told(state, self.race.chunk),
            told(begun, self.race.first_block),
        )
        result = self.race.result(ended, params)
        selected = jnp.argsort(result.ranking) < self.race.top
        return RaceRow(result.simulated.sum(dtype=jnp.int32), selected, result.decided)


def run_races(bench: Workbench, task: Task, capacities: Sequence[int]) -> Races:
    """All selections of a task by races; capacities are the most samples of a player."""
    keys = problem_keys(bench.seed, len(task.truth))
    jobs = sweep.stacked(selection.SelectionJob(keys, task.problems))
    rows = []
    for capacity in capacities:
        race = racing.DominanceRace(task.num_options, task.top, capacity, kernels.total_order)
        params = race.params(DELTA, slack=1.0)  # with little slack it draws least
        work = sweep.Once(PlayersRace(race, task.compare), (task.shared, params))
        name = f"{task.name}, dominance race, {capacity} samples"
        rows.append(bench.sweep(name, work, jobs, _RACES).rows.row)
    return Races(tuple(capacities), *jax.tree.map(lambda *x: np.stack(x, 1), *rows))


def preferred(scores: np.ndarray, top: int) -> np.ndarray:
    """Who beats the most others, by scores [P, K, K, S]: bool [P, K], what a race looks for.

    One beats another if its scores, against anybody, are larger more often than smaller.
    """
    players = scores.shape[1]
    others = ~np.eye(players, dtype=bool)
    best = np.zeros(scores.shape[:2], bool)
    for population, own in zip(best, scores, strict=True):
        values = np.sort(own[others].reshape(players, -1), axis=-1)
        gains = np.array([[_gain(first, second) for second in values] for first in values])
        # Of equal ones the one with more wins, as in a race.
        order = np.lexsort((-gains.sum(1), -(gains > 0).sum(1)))
        population[order[:top]] = True
    return best


def _gain(first: np.ndarray, second: np.ndarray) -> int:
    """How many of all pairs of numbers the first wins, less those that it loses; both sorted."""
    smaller, not_larger = (np.searchsorted(second, first, side) for side in ("left", "right"))
    return int(smaller.sum() + not_larger.sum()) - first.size * second.size
