"""Preference matrices, who wins in them, and what a duel costs, against brute force."""

import itertools
import math
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize, stats

from jaxrace import dueling
from jaxrace import tables as data
from jaxrace.dueling import matrices, problems
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.judging.standing import clear_wins
from papers.duels import families


def random_matrix(rng, num_arms, levels=None):
    """With ``levels`` only multiples of 1 / levels, so that there are ties."""
    upper = rng.random((num_arms, num_arms))
    if levels is not None:
        upper = rng.integers(0, levels + 1, (num_arms, num_arms)) / levels
    matrix = np.full((num_arms, num_arms), 0.5)
    for i, j in itertools.combinations(range(num_arms), 2):
        matrix[i, j], matrix[j, i] = upper[i, j], 1 - upper[i, j]
    return matrix


tables_of = jax.jit(problems.regret_tables)


def many(levels, count=100):
    rng = np.random.default_rng(0)
    return [random_matrix(rng, int(rng.integers(2, 7)), levels) for _ in range(count)]


@pytest.mark.parametrize("levels", [None, 2, 4])
def test_winners_against_brute_force(levels):
    for matrix in many(levels):
        arms = range(len(matrix))
        wins = [sum(matrix[i, j] > 0.5 for j in arms if j != i) for i in arms]
        sums = [sum(matrix[i, j] for j in arms if j != i) for i in arms]
        condorcet = [i for i in arms if wins[i] == len(matrix) - 1]
        assert dueling.condorcet_winner(matrix) == (condorcet[0] if condorcet else None)
        assert dueling.copeland_winners(matrix).tolist() == [w == max(wins) for w in wins]
        assert dueling.borda_winners(matrix).tolist() == [s > max(sums) - 1e-9 for s in sums]
        expected = np.array(sums) / (len(matrix) - 1)
        np.testing.assert_allclose(dueling.borda_scores(matrix), expected, atol=1e-6)


@pytest.mark.parametrize("levels", [None, 2, 4])
def test_smith_set_is_the_smallest_dominating_set(levels):
    for matrix in many(levels):
        arms = range(len(matrix))
        dominating = [
            set(chosen)
            for size in range(1, len(matrix) + 1)
            for chosen in itertools.combinations(arms, size)
            if all(matrix[i, j] > 0.5 for i in chosen for j in arms if j not in chosen)
        ]
        smallest = dominating[0]
        assert all(smallest <= other for other in dominating)
        assert set(np.flatnonzero(dueling.smith_set(matrix))) == smallest


@pytest.mark.parametrize("levels", [None, 2, 4])
def test_rankings_against_their_definitions(levels):
    """Multiples of 2^-24 as they are checked, so that sums are exact here, too."""
    for matrix in (dueling.check_matrix(one).tolist() for one in many(levels)):
        arms = range(len(matrix))
        worst = [min(matrix[i][j] for j in arms if j != i) for i in arms]
        assert dueling.maximin_ranking(matrix).tolist() == sorted(arms, key=lambda i: -worst[i])
        agreed = {
            order: sum(matrix[i][j] for i, j in itertools.combinations(order, 2))
            for order in itertools.permutations(arms)
        }
        kemeny = dueling.kemeny_ranking(matrix)
        assert tuple(kemeny) == max(agreed, key=lambda order: agreed[order])
        # Kemeny's is faithful to the Smith set, maximin to a Condorcet winner.
        members = dueling.smith_set(matrix)
        assert members[kemeny[: members.sum()]].all()
        if (winner := dueling.condorcet_winner(matrix)) is not None:
            assert dueling.maximin_ranking(matrix)[0] == kemeny[0] == winner


def test_eight_arms_are_ordered_and_nine_refused():
    """Eight in a known order, by a matrix of which nothing but one pair disagrees with it."""
    order = np.random.default_rng(0).permutation(8)
    matrix = np.full((8, 8), 0.5)
    for first, second in itertools.combinations(range(8), 2):
        matrix[order[first], order[second]], matrix[order[second], order[first]] = 0.75, 0.25
    matrix[order[0], order[7]], matrix[order[7], order[0]] = 0.25, 0.75
    np.testing.assert_array_equal(dueling.kemeny_ranking(matrix), order)
    with pytest.raises(ValueError, match=r"matrix: expected at most 8 arms, .* got 9"):
        dueling.kemeny_ranking(np.full((9, 9), 0.5))


def games(rng, num_arms):
    """Matrices of several kinds, most of them with many ties between lotteries."""
    yield random_matrix(rng, num_arms)
    for levels in (1, 2, 4):
        yield random_matrix(rng, num_arms, levels)
    near = random_matrix(rng, num_arms)
    yield 0.5 + (near - 0.5) * 1e-5
    yield np.asarray(families.cyclic(num_arms))
    yield np.full((num_arms, num_arms), 0.5)


@pytest.mark.parametrize("num_arms", [3, 6, 25, 120])
def test_von_neumann_winners_win_against_every_arm(num_arms):
    """Which makes them winners; the one of a matrix without ties is that of linear programming."""
    for number, matrix in enumerate(games(np.random.default_rng(num_arms), num_arms)):
        matrix = dueling.check_matrix(matrix).astype(float)
        found = dueling.von_neumann_winner(matrix)
        assert (found >= 0).all()
        assert found.sum() == pytest.approx(1, abs=1e-12)
        assert (found @ matrix).min() >= 0.5 - 1e-12
        assert not found[~dueling.smith_set(matrix)].any()
        if number == 0:
            by_hand = optimize.linprog(
                np.zeros(num_arms), 0.5 - matrix.T, np.zeros(num_arms), np.ones((1, num_arms)), [1]
            )
            np.testing.assert_allclose(found, by_hand.x, atol=1e-7)


def test_pairs_are_clear_by_bets():
    """Against the products themselves; a draw is a half for both, and counts for neither."""
    wins = np.array([[0, 30, 9.5], [6, 0, 4], [0.5, 1, 0]])
    bets = zip(*shared_bets(math.log(6 / 0.05)), strict=True)
    evidence = np.sum([w * (1 + bet) ** wins * (1 - bet) ** wins.T for bet, w in bets], axis=0)
    expected = evidence >= 6 / 0.05
    assert expected.sum() == 1
    np.testing.assert_array_equal(clear_wins(wins), expected)
    sweeps = [clear_wins(np.array([[0, n], [0, 0]]))[0, 1] for n in range(20)]
    assert sweeps.index(True) == 9
    assert all(sweeps[9:])


def test_what_is_called_clear_is_hardly_ever_wrong():
    """Of two equal options, looked at after every duel: 5 % of the runs at most."""
    most, runs = 1_000, 2_000
    needed, won = np.zeros(most + 1), 0  # wins that are clear, of so many duels
    for count in range(1, most + 1):
        while won <= count and not clear_wins(np.array([[0, won], [count - won, 0]]))[0, 1]:
            won += 1
        needed[count] = won
    won = np.random.default_rng(0).integers(2, size=(runs, most)).cumsum(1)
    count = np.arange(1, most + 1)
    wrong = (np.maximum(won, count - won) >= needed[1:]).any(1).mean()
    assert 0.005 < wrong < 0.05


@pytest.mark.parametrize("levels", [None, 4])
def test_regret_of_every_pair(levels):
    for matrix in many(levels, count=100):
        arms = range(len(matrix))
        found = np.asarray(tables_of(jnp.asarray(matrix)))
        tables = dict(zip(problems.MEASURES, found, strict=True))
        copeland = np.array([(matrix[i] > 0.5).sum() for i in arms]) / (len(matrix) - 1)
        borda = (matrix.sum(1) - 0.5) / (len(matrix) - 1)
        winner = dueling.condorcet_winner(matrix)
        for i, j in itertools.product(arms, arms):
            expected = {
                "copeland": copeland.max() - (copeland[i] + copeland[j]) / 2,
                "borda": borda.max() - (borda[i] + borda[j]) / 2,
                "weak": np.inf,
                "strong": np.inf,
            }
            if winner is not None:
                losses = matrix[winner, i] - 0.5, matrix[winner, j] - 0.5
                expected |= {"weak": min(losses), "strong": sum(losses) / 2}
            found = {measure: table[i, j] for measure, table in tables.items()}
            assert found == pytest.approx(expected, abs=1e-6)


def test_families_of_matrices():
    key = jax.random.key(0)
    made = {
        "random": matrices.random(key, 6),
        "linear": families.linear_order(key, 6),
        "hard": matrices.hard_condorcet(6),
        "flat": matrices.flat(6, 0.7),
        "cyclic": families.cyclic(5),
        "cyclic, even": families.cyclic(6),
        "plackett-luce": families.plackett_luce([1.0, 2.0, 4.0]),
        "thurstone": families.thurstone([1.0, 0.0, -2.0], scale=0.5),
    }
    for name, matrix in made.items():
        found = dueling.check_matrix(matrix)
        assert np.diag(found) == pytest.approx(0.5), name
    assert (np.triu(made["linear"], 1)[np.triu_indices(6, 1)] >= 0.5).all()
    for i, j in itertools.combinations(range(6), 2):
        assert made["hard"][i, j] == pytest.approx(0.5 + (j + 1) / 12)
        assert made["flat"][i, j] == pytest.approx(0.7)
    assert made["plackett-luce"][2, 0] == pytest.approx(0.8)
    expected = stats.norm.cdf(2 / (np.sqrt(2) * 0.5))
    assert made["thurstone"][1, 2] == pytest.approx(expected, abs=1e-6)
    for name in ("cyclic", "cyclic, even"):
        assert dueling.condorcet_winner(made[name]) is None
        assert dueling.copeland_winners(made[name]).all()
        assert dueling.smith_set(made[name]).all()


def test_shuffled_problems_keep_the_numbers_of_the_arms():
    problem = dueling.duels(matrices.hard_condorcet(5))
    shuffled = dueling.shuffled(jax.random.key(1), problem)
    order = np.asarray(shuffled.order)
    assert sorted(order) == list(range(5))
    assert (order != np.arange(5)).any()
    for i, j in itertools.product(range(5), range(5)):
        pair, own = jnp.array([i, j]), jnp.array([order[i], order[j]])
        assert shuffled.probability(pair) == problem.probability(own)
        np.testing.assert_array_equal(shuffled.cost(pair), problem.cost(own))
        assert shuffled.named(jnp.array(i)) == order[i]


def test_matrices_from_files(tmp_path):
    matrix = random_matrix(np.random.default_rng(1), 5)
    np.savetxt(tmp_path / "m.csv", matrix, delimiter=",")
    np.save(tmp_path / "m.npy", matrix)
    for source in (tmp_path / "m.csv", tmp_path / "m.npy", matrix):
        np.testing.assert_array_equal(data.read_matrix(source).probabilities, matrix)


def test_matrices_are_rounded_once():
    """To float32, such that both sides of a pair agree on who wins it; half a unit is 2^-25."""
    rng = np.random.default_rng(2)
    matrix = random_matrix(rng, 40)
    close = np.triu(rng.integers(-4, 5, (40, 40)) * 1e-8, 1)
    for given in (matrix, 0.5 + close - close.T, [[0.5000004] * 2] * 2):
        found = dueling.check_matrix(given)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, given, rtol=0, atol=5e-7 if len(found) == 2 else 2**-25)
        np.testing.assert_array_equal(found.astype(float) + found.T, 1)
        np.testing.assert_array_equal(dueling.check_matrix(found), found)
        np.testing.assert_array_equal(dueling.duels(given).probabilities, found)
        losses = np.asarray(problems.regret_tables(jnp.asarray(found)))[1]
        assert np.isinf(losses).all() == (dueling.condorcet_winner(given) is None)
    assert (dueling.check_matrix([[0.5, 0.50000001], [0.49999999, 0.5]]) == 0.5).all()


GOOD = [[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]]


def changed(i, j, value):
    matrix = np.array(GOOD)
    matrix[i, j] = value
    return matrix


@pytest.mark.parametrize(
    ("matrix", "of_array", "of_file"),
    [
        (np.array(GOOD)[:2], "a square, got shape [2, 3]", "a square in {}, got shape [2, 3]"),
        (np.array(GOOD)[:1, :1], "at least 2 rows, got 1", "at least 2 rows in {}, got 1"),
        (
            changed(0, 2, 1.2),
            "probabilities, got 1.2 for 0 against 2",
            "probabilities, or counts of wins in {}, got 1.2 for 0 against 2",
        ),
        (
            changed(1, 0, np.nan),
            "probabilities, got nan for 1 against 0",
            "a number in {}, row 2, column '0', got ",
        ),
        (
            changed(2, 1, 0.3),
            "p_ij + p_ji = 1, got 0.8 + 0.3 for 1 and 2",
            "p_ij + p_ji = 1 in {}, got 0.8 + 0.3 for 1 and 2",
        ),
        (
            changed(1, 1, 0.6),
            "p_ij + p_ji = 1, got 0.6 + 0.6 for 1 and 1",
            "p_ij + p_ji = 1 in {}, got 0.6 + 0.6 for 1 and 1",
        ),
    ],
)
def test_bad_matrices_are_named(matrix, of_array, of_file, tmp_path):
    with pytest.raises(ValueError, match=f"^matrix: expected {re.escape(of_array)}"):
        dueling.duels(matrix)
    path = tmp_path / "bad.npy"
    np.save(path, matrix)
    message = re.escape(of_file.format(repr(str(path))))
    with pytest.raises(ValueError, match=f"^matrix: expected {message}"):
        data.read_matrix(path)


@pytest.mark.parametrize("num_arms", [3, 42, 48, 56])
def test_a_winner_is_one_under_jit_too(num_arms):
    """XLA divides by K - 1 as a product with 1 / (K - 1), which for 41 is less than 1."""
    matrix = jnp.where(jnp.tri(num_arms, k=-1).T > 0, 0.75, 0.25) + 0.25 * jnp.eye(num_arms)
    for tables in (problems.regret_tables(matrix), jax.jit(problems.regret_tables)(matrix)):
        assert np.isfinite(tables).all()
        assert tables[1, 0, 0] == 0
