"""Preference matrices, who wins in them, and what a duel costs, against brute force."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from jaxrace import dueling
from jaxrace.dueling import matrices, winners


def random_matrix(rng, num_arms, levels=None):
    """With ``levels`` only multiples of 1 / levels, so that there are ties."""
    upper = rng.random((num_arms, num_arms))
    if levels is not None:
        upper = rng.integers(0, levels + 1, (num_arms, num_arms)) / levels
    matrix = np.full((num_arms, num_arms), 0.5)
    for i, j in itertools.combinations(range(num_arms), 2):
        matrix[i, j], matrix[j, i] = upper[i, j], 1 - upper[i, j]
    return matrix


tables_of = jax.jit(winners.regret_tables)


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


@pytest.mark.parametrize("levels", [None, 4])
def test_regret_of_every_pair(levels):
    for matrix in many(levels, count=100):
        arms = range(len(matrix))
        found = np.asarray(tables_of(jnp.asarray(matrix)))
        tables = dict(zip(winners.MEASURES, found, strict=True))
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
        "linear": matrices.linear_order(key, 6),
        "hard": matrices.hard_condorcet(6),
        "flat": matrices.flat(6, 0.7),
        "cyclic": matrices.cyclic(5),
        "cyclic, even": matrices.cyclic(6),
        "plackett-luce": matrices.plackett_luce([1.0, 2.0, 4.0]),
        "thurstone": matrices.thurstone([1.0, 0.0, -2.0], scale=0.5),
    }
    for name, matrix in made.items():
        found = matrices.check_matrix(matrix)
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


def test_the_rigged_bandit_pays_for_the_next_best_arm():
    """The two best of five are worth nothing; ties go to the first arm."""
    problem = dueling.rigged_bandit([0.5, 0.9, 0.5, 0.25, 0.75], skipped=2)
    assert np.asarray(problem.losses).tolist() == [0, 0.5, 0, 0.25, 0.5]
    assert problem.probabilities.tolist() == pytest.approx([0.5, 0.9, 0.5, 0.25, 0.75])
    whole = np.asarray(dueling.rigged_bandit().losses)
    assert np.flatnonzero(whole == 0).tolist() == [4]
    assert whole[:6] == pytest.approx([0.55] * 4 + [0, 0.05], abs=1e-6)


def test_the_counting_bandit_costs_what_the_count_is_off():
    problem = dueling.counting_bandit([0.1, 0.3, 0.5, 0.9], above=0.2, below=0.6)
    assert np.asarray(problem.losses).tolist() == [2, 1, 0, 1, 2]
    whole = np.asarray(dueling.counting_bandit().losses)
    assert whole.tolist() == [abs(n - 6) for n in range(101)]


def test_matrices_from_files(tmp_path):
    matrix = random_matrix(np.random.default_rng(1), 5)
    np.savetxt(tmp_path / "m.csv", matrix, delimiter=",")
    np.save(tmp_path / "m.npy", matrix)
    expected = dueling.check_matrix(matrix)
    np.testing.assert_array_equal(dueling.read_matrix(tmp_path / "m.csv"), expected)
    np.testing.assert_array_equal(dueling.read_matrix(tmp_path / "m.npy"), expected)


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
        losses = np.asarray(winners.regret_tables(jnp.asarray(found)))[1]
        assert np.isinf(losses).all() == (dueling.condorcet_winner(given) is None)
    assert (dueling.check_matrix([[0.5, 0.50000001], [0.49999999, 0.5]]) == 0.5).all()


GOOD = [[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]]


def changed(i, j, value):
    matrix = np.array(GOOD)
    matrix[i, j] = value
    return matrix


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.array(GOOD)[:2], r"a square, got shape \[2, 3\]"),
        (np.array(GOOD)[:1, :1], "at least 2 rows, got 1"),
        (changed(0, 2, 1.2), "probabilities, got 1.2 for 0 against 2"),
        (changed(1, 0, np.nan), "probabilities, got nan for 1 against 0"),
        (changed(2, 1, 0.3), r"p_ij \+ p_ji = 1, got 0.8 \+ 0.3 for 1 and 2"),
        (changed(1, 1, 0.6), "for 1 and 1"),
    ],
)
def test_bad_matrices_are_named(matrix, message, tmp_path):
    with pytest.raises(ValueError, match=f"^matrix: expected .*{message}"):
        dueling.duels(matrix)
    np.save(tmp_path / "bad.npy", matrix)
    with pytest.raises(ValueError, match=rf"^matrix: .*{message}.*bad\.npy"):
        dueling.read_matrix(tmp_path / "bad.npy")
