"""The compiled tournament: the host's decisions, whole orders, circles, batches, margins."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxrace
from jaxrace import sweep
from jaxrace.evidence.games import GamePairs, in_rounds
from jaxrace.selection import CertifiedTournament, SelectionJob, SelectionWork, pair_key, run

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
    np.testing.assert_allclose(state.table.highest, host._table.highest, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(state.table.met, host._table.met)
    assert (compiled.ask_many(KEY, state, params, 10) == -1).all()


@pytest.mark.parametrize("is_compiled", [False, True])
def test_evidence_is_that_of_the_log_in_rounds(is_compiled):
    """Any games in any order, one of them at most waiting, against ``in_rounds`` of the log."""
    rng, count, log = np.random.default_rng(1), 4, []
    tournament, host = CertifiedTournament(count, 1), jaxrace.Tournament("abcd", margin=1)
    params = tournament.params()
    tell = jax.jit(tournament.tell_many) if is_compiled else tournament.tell_many
    state, lead = tournament.init(params), np.zeros((count, count), int)
    for _ in range(80):
        i, j = sorted(rng.choice(count, 2, replace=False).tolist())
        number = int(rng.integers(1, 6))
        ahead = (number - lead[i, j] + 1) // 2  # with i first, in any order
        pairs = rng.permutation([[i, j]] * ahead + [[j, i]] * (number - ahead))
        lead[i, j] += 2 * ahead - number
        # Who is first wins more often.
        scores = rng.choice([1.0, 0.5, 0.0, -1.0], number, p=[0.5, 0.1, 0.2, 0.2])
        state = tell(state, pairs, scores, params)
        for (first, second), score in zip(pairs.tolist(), scores, strict=True):
            host.tell("abcd"[first], "abcd"[second], score)
            log.append((first, second, score))
    firsts, seconds, scores = (np.array(column) for column in zip(*log, strict=True))
    one, other, d, left = in_rounds(firsts.astype(int), seconds.astype(int), scores)
    assert left == np.abs(lead).sum() == host.waiting == state.waits.sum() > 0
    games, at = GamePairs(count, one, other, d, host._bets), np.nonzero(~np.eye(count, dtype=bool))
    found = games.process(at[0], at[1])
    for table in (host._table, jax.tree.map(np.asarray, state.table)):
        np.testing.assert_array_equal(table.met, games.met)
        np.testing.assert_allclose(table.mean()[at], found.mean, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(table.highest[at], found.highest, rtol=1e-3, atol=1e-5)


def test_being_first_proves_nothing():
    tournament = CertifiedTournament(2, 1)
    params = tournament.params()
    state = tournament.init(params)
    for _ in range(20):
        pairs = tournament.ask_many(KEY, state, params, 20)
        assert (pairs[:, 0] == 0).sum() == 10
        state = tournament.tell_many(state, pairs, np.ones(20), params)
    assert state.table.sums.tolist() == [[0, 0], [0, 0]]
    assert not tournament.result(state, params).done
    assert tournament.ask_many(KEY, state, params, 3)[:, 0].sum() in (1, 2)
    # One game after the other: sides alternate.
    firsts = []
    for _ in range(4):
        pair = tournament.ask(KEY, state, params)
        firsts.append(int(pair[0]))
        state = tournament.tell(state, pair, 1, params)
    assert firsts in ([0, 1, 0, 1], [1, 0, 1, 0])


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
    with pytest.raises(ValueError, match="pairs: expected as many games with each of the two"):
        tournament.tell_many(state, [[0, 1], [0, 1]], [1, 1], params)
    waits = tournament.tell(state, [0, 1], 1, params)
    with pytest.raises(ValueError, match=r"pairs: expected as many .* got 2 more"):
        tournament.tell_many(waits, [[0, 1]], [1], params)
    with pytest.raises(ValueError, match="pair: expected the one that ask gave"):
        tournament.tell(waits, [0, 1], 1, params)
    with pytest.raises(ValueError, match="score: expected a score in the range of the params"):
        tournament.tell(state, [0, 1], 2.5, params)


def test_what_is_out_of_range_is_not_done():
    """In a trace nothing can be raised: nothing is certified, and a record is read by name."""
    tournament = CertifiedTournament(3, 1)

    def lost(key, problem, first, second):
        return jnp.float32(-7) + 0 * problem  # the params say from -1 to 1

    def go(problem):
        return run(tournament, KEY, lost, problem, 300, tournament.params(), 60, batch=10)

    log = jax.jit(go)(jnp.zeros(()))
    assert log.valid.tolist() == [True] + [False] * 5
    assert not log.done.any()
    assert log.confidence.tolist() == [0] * 6
    heads, *rows = str(log).splitlines()[1:]
    assert heads.split() == ["time", "selected", "confidence", "done", "valid"]
    assert [row.split()[-2:] for row in rows] == [["no", "yes"]] + [["no", "no"]] * 5
    work = SelectionWork(tournament, lost, 300, 60, tournament.params(), 10)
    swept = sweep.run(work, sweep.stacked(SelectionJob(KEY[None], jnp.zeros(1))))
    assert swept.rows.row.valid.tolist() == [True, False]  # and goes no further
