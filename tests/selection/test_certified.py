"""The compiled tournament: the host's decisions, whole orders, circles, batches, margins."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxrace
from jaxrace.selection import CertifiedTournament, pair_key, run

KEY = jax.random.key(0)


def chances_of(elo):
    """The share of points that i expects against j, [K, K]."""
    return 1 / (1 + 10 ** ((elo[None, :] - elo[:, None]) / 400))


def game(key, problem, first, second):
    """1, 0 or -1; a problem is the shares [K, K], and the chance of a draw."""
    shares, draws = problem
    u, wins = jax.random.uniform(key, (), jnp.float32), shares[first, second] - draws / 2
    return jnp.where(u < wins, 1.0, jnp.where(u < wins + draws, 0.0, -1.0))


def results(rng, share, games, kind):
    if kind == "margins":
        return np.clip(rng.normal(4 * (2 * share - 1), 2, games).round(2), -5, 5)
    u = rng.random(games)
    return np.where(u < share - 0.15, 1, np.where(u < share + 0.15, 0.5, 0))


CASES = [
    (3, 1, 80, "draws"),
    (6, 3, 80, "draws"),
    (6, "all", 150, "draws"),
    (12, 1, 80, "draws"),
    (6, 1, 60, "margins"),
]


@pytest.mark.parametrize(("count", "top", "gap", "kind"), CASES)
def test_host_and_compiled_tournaments_decide_alike(count, top, gap, kind):
    rng = np.random.default_rng(0)
    shares = chances_of(rng.permutation(-gap * np.arange(float(count))))
    margin = 5.0 if kind == "margins" else None
    host = jaxrace.Tournament(map(str, range(count)), top, margin=margin)
    whole = top == "all"
    compiled = CertifiedTournament(count, 1 if whole else top, whole=whole)
    params = compiled.params(max_score=margin or 1)
    state = compiled.init(params)
    while matches := host.ask():
        pairs = [[int(a), int(b)] for a, b, games in matches for _ in range(games)]
        assert compiled.ask_many(KEY, state, params, 10).tolist() == pairs
        told = []
        for first, second, games in matches:
            found = results(rng, shares[int(first), int(second)], games, kind)
            host.tell(first, second, found)
            told += [*(found if margin else 2 * found - 1)]
        state = compiled.tell_many(state, pairs, told, params)
    found = compiled.result(state, params)
    assert host.certificate is not None
    assert (found.confidence > 0.9) & found.done
    assert [host.players[x] for x in found.ranking] == host.ranking
    assert found.samples == host.games
    assert (compiled.ask_many(KEY, state, params, 10) == -1).all()


def test_the_driver_plays_the_games_of_ask_and_tell():
    tournament = CertifiedTournament(4, 1)
    problem = jnp.asarray(chances_of(-150 * np.arange(4.0)), jnp.float32), jnp.float32(0.3)
    params, counts = tournament.params(), np.zeros((4, 4), int)
    log = jax.jit(lambda: run(tournament, KEY, game, problem, 600, params, interval=60, batch=10))()
    state = tournament.init(params)
    while not tournament.result(state, params).done:
        pairs = np.asarray(tournament.ask_many(KEY, state, params, 10))
        low, high = pairs[0].min(), pairs[0].max()
        told = [
            game(pair_key(KEY, 4, low, high, counts[low, high] + k), problem, low, high)
            for k in range(10)
        ]
        counts[low, high] += 10
        state = tournament.tell_many(
            state, pairs, np.where(pairs[:, 0] == low, told, np.negative(told)), params
        )
    assert log.done[-1]
    assert log.time[-1] == state.time < 600
    assert log.selected[-1].tolist() == [True, False, False, False]


def test_what_is_told_is_checked():
    tournament = CertifiedTournament(3, 1)
    params = tournament.params(max_score=2)
    state = tournament.init(params)
    with pytest.raises(ValueError, match="pairs: expected games of the same two"):
        tournament.tell_many(state, [[0, 1], [1, 2]], [1, 1], params)
    with pytest.raises(ValueError, match="scores: expected numbers in the range of the params"):
        tournament.tell_many(state, [[0, 1]], [2.5], params)
    with pytest.raises(ValueError, match="score: expected one in the range of the params"):
        tournament.tell(state, [0, 1], 2.5, params)
