"""Selectors with a guarantee are wrong with probability at most delta, and do decide."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from jaxrace.selection import ActiveRanking, PairwiseRace, run, win

DELTA = 0.2


def scaled_win(key, matrix, first, second):
    """A score of 3 or -3."""
    return 3 * win(key, matrix, first, second)


def params_of(selector, budget):
    """As many rounds as comparisons allow, and the scores of ``scaled_win``."""
    scores = {"max_score": 3.0} if selector.outcome == "scores" else {}
    rounds = {"max_rounds": budget // 3} if isinstance(selector, PairwiseRace) else {}
    return selector.params(delta=DELTA, **scores, **rounds)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def play_many(selector, runs, budget, matrix, params):
    """What was selected, bool [runs, K], and is it certain? bool [runs]."""
    compare = scaled_win if selector.outcome == "scores" else win

    def play(key):
        return run(selector, key, compare, matrix, budget, params, interval=budget)

    log = jax.vmap(play)(jax.random.split(jax.random.key(0), runs))
    # A race that is out of rounds is done, too.
    return log.selected[:, -1], log.confidence[:, -1] > 0


def rates(selector, runs, budget, matrix, params):
    """How many runs were decided, and how many wrongly; the lowest numbers are the best."""
    selected, decided = map(np.asarray, play_many(selector, runs, budget, matrix, params))
    right = (selected == (np.arange(selector.num_options) < selector.top)).all(1)
    return decided.mean(), int((decided & ~right).sum())


def limits(wrong, runs):
    """Of the error rate, each with confidence .999: Clopper and Pearson's."""
    return scipy.stats.binomtest(wrong, runs).proportion_ci(0.998, "exact")


@pytest.mark.slow
@pytest.mark.parametrize(
    "selector",
    [
        ActiveRanking(4, 2),
        PairwiseRace(4, 2),
        PairwiseRace(4, 2, width="pairs"),
        PairwiseRace(4, 2, ranking="copeland"),
    ],
    ids=lambda selector: f"{type(selector).__name__}-{getattr(selector, 'ranking', '')}",
)
def test_guaranteed_selections_are_made(selector):
    """With so many comparisons of options that are apart most of them are, and rightly."""
    strength = jnp.array([0.95, 0.75, 0.25, 0.05])
    matrix = jnp.clip(0.5 + (strength[:, None] - strength[None, :]) / 2, 0.1, 0.9)
    decided, wrong = rates(selector, 200, 4000, matrix, selector.params(delta=DELTA))
    assert decided > 0.9
    assert limits(wrong, 200).high <= DELTA


WALK = PairwiseRace(3, 1, ranking="random_walk")


@dataclasses.dataclass(frozen=True)
class NarrowActiveRanking(ActiveRanking):
    """With a fraction of the radius."""

    factor: int = 1

    def _radius(self, rounds, delta):
        return super()._radius(rounds, delta) / self.factor


def narrowed(selector, factor, budget):
    """The selector and its params, with intervals that are so many times too narrow."""
    params = params_of(selector, budget)
    if isinstance(selector, PairwiseRace):
        names = ("pair_level", "option_level")
        levels = {name: getattr(params, name) / factor**2 for name in names}
        return selector, dataclasses.replace(params, **levels)
    return NarrowActiveRanking(**dataclasses.asdict(selector), factor=factor), params


@pytest.mark.slow
@pytest.mark.parametrize(
    ("selector", "chance", "factor", "budget"),
    [
        (PairwiseRace(3, 1), 0.65, 4, 3_000),
        (ActiveRanking(3, 1), 0.75, 8, 3_000),
        (ActiveRanking(3, 1, radius="heckel"), 0.9, 16, 3_000),
        (PairwiseRace(3, 1, ranking="copeland"), 0.6, 4, 3_000),
        (WALK, 0.8, 128, 30_000),
    ],
    ids=("borda", "karnin", "heckel", "copeland", "walk"),
)
def test_a_close_boundary_is_rarely_crossed(selector, chance, factor, budget):
    """As close as it can decide, and closer; there narrow intervals would be wrong too often."""
    runs = 2_000

    def matrix(chance):
        """Of the first against the second; both mostly win against the third."""
        return jnp.array([[0.5, chance, 0.9], [1 - chance, 0.5, 0.9], [0.1, 0.1, 0.5]])

    params = params_of(selector, budget)
    decided, wrong = rates(selector, runs, budget, matrix(chance), params)
    assert decided > 0.9
    assert limits(wrong, runs).high <= DELTA
    _, wrong = rates(selector, runs, budget, matrix(0.51), params)
    assert limits(wrong, runs).high <= DELTA
    narrow, params = narrowed(selector, factor, budget)
    _, wrong = rates(narrow, runs, budget, matrix(0.51), params)
    assert limits(wrong, runs).low > DELTA
