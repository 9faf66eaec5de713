"""Policies from logs on the host: bounds beside those of JAX, slopes, searches, the guarantee."""

import dataclasses
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import jaxrace
from jaxrace import kernels
from jaxrace.evidence import quantiles
from jaxrace.improvement import bounds as in_jax
from jaxrace.judging.policies import bounds, lower_bounds
from jaxrace.judging.policies.candidates import LogTask, find_candidate
from jaxrace.judging.policies.weighing import LogEvidence, Mixed, features_of, softmax


def samples():
    """Ten, with heavy tails and zeros; which values count, delta and m."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        size = 200  # so that programs of JAX are compiled once
        values = np.exp(rng.normal(size=size) * rng.uniform(0.2, 1.5)) * rng.random(size)
        values *= rng.random(size) < 0.7
        rows = rng.random(size) < rng.uniform(0.2, 1)
        yield values, rows, float(rng.choice([0.01, 0.05, 0.2])), int(rng.integers(20, 2000))


@pytest.mark.parametrize("anytime", [False, True])
def test_bounds_are_those_of_jax(anytime):
    """In as many digits; JAX cuts predicted bets off at 0."""
    with jax.enable_x64(True):
        for values, rows, delta, number in samples():
            here, there = (values[None], rows[None]), (jnp.asarray(values), jnp.asarray(rows))
            cap = lower_bounds.best_cap(*here, delta, number)[0]
            of = jnp.float64(delta), jnp.float64(number)
            given = cap, delta, number
            predicted = [
                lower_bounds.predicted_betting_bound(*both, *given, anytime).lower
                for both in (here, there)
            ]
            certain = [
                lower_bounds.betting_bound(*both, cap, delta, anytime)
                for both in ((values[rows], rows[rows]), there)
            ]
            capped = [lower_bounds.capped_bound(*both, *given).lower for both in (here, there)]
            pairs = [
                (cap, lower_bounds.best_cap(*there, *of)),
                (np.maximum(predicted[0], 0), predicted[1]),
                certain,
                capped,
            ]
            for found, expected in pairs:
                np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("corrected", [False, True])
def test_bootstraps_are_those_of_jax(corrected):
    """With the same resamples."""
    with jax.enable_x64(True):
        for values, rows, delta, number in samples():
            key, used = jax.random.key(0), jnp.asarray(rows)
            counts = kernels.resampling_counts(key, used, jnp.int32(number), 1_000)
            found, expected = (
                lower_bounds.bootstrap_bound(
                    x, u, lambda x, c=c, m=m: (x @ c, m), d, corrected, normal
                )
                for x, u, c, m, d, normal in (
                    (values, rows, np.asarray(counts), number, delta, bounds._NORMAL),
                    (
                        *(jnp.asarray(values), used, counts),
                        *(jnp.float64(number), jnp.float64(delta), in_jax._NORMAL),
                    ),
                )
            )
            assert found == pytest.approx(float(expected), rel=1e-6)


def test_what_a_bootstrap_predicts():
    """To a part of the bound's distance to the mean."""
    rng = np.random.default_rng(1)
    for name in ("bca", "percentile"):
        bound = dataclasses.replace(bounds.BOUNDS[name], resamples=4_000)
        for values, used, delta, _ in samples():
            rows = bounds.Used(np.ones(used.sum(), bool), np.zeros(used.sum(), int))
            expected = bound.bound_of_one(rng, values[used], rows, delta)
            predicted = bound.predict(None, values[used][None], rows, delta, used.sum()).lower[0]
            distance = values[used].mean() - expected
            assert predicted == pytest.approx(expected, abs=0.1 * distance)


def test_a_resample_is_drawn_from_all_values():
    """Means of 2,000 resamples of 300 values in several blocks have the mean and spread of them."""
    values = np.random.default_rng(1).random(1_000)
    sums = bounds.BootstrapOfLog().sums(np.random.default_rng(2), values)
    assert len(sums) == 2_000
    spread = values.std() * np.sqrt(1_000)
    assert abs(sums.mean() - values.sum()) < 4 * spread / np.sqrt(2_000)
    assert sums.std() == pytest.approx(spread, rel=4 / np.sqrt(2 * 2_000))


def all_of(used):
    return bounds.Used(used, np.zeros(used.shape[-1], int))


@pytest.mark.parametrize("name", list(bounds.BOUNDS))
def test_slopes_of_bounds(name):
    rng = np.random.default_rng(3)
    for values, rows, delta, number in samples():
        # A cap that is chosen is taken as given.
        if isinstance(bound := bounds.BOUNDS[name], bounds.BettingOfLog):
            given = 2.0, delta, number, bound.anytime
            ask = lambda x, r, g=given: lower_bounds.predicted_betting_bound(x, r, *g)  # noqa: E731
        elif name == "ci":
            ask = lambda x, r, g=(2.0, delta, number): lower_bounds.capped_bound(x, r, *g)  # noqa: E731
        else:
            ask = lambda x, r, b=bound, g=(delta, number): b.predict(None, x, all_of(r), *g)  # noqa: E731
        ahead = 1e-6 * rng.normal(size=(1, len(values)))
        lower = [ask(values[None] + by, rows[None]).lower[0] for by in (ahead, -ahead)]
        slope = ask(values[None], rows[None]).slopes[0] @ ahead[0] * 2
        assert lower[0] - lower[1] == pytest.approx(slope, abs=1e-10, rel=1e-4)


def test_quantiles():
    tails = np.array([0.5 - 1e-3, 0.4, 0.05, 0.01, 1e-5, 1e-12])
    for degrees in (1, 2, 3.5, 19, 799, 79_999):
        found = [quantiles.student_quantile(tail, degrees) for tail in tails]
        np.testing.assert_allclose(found, stats.t.isf(tails, degrees), rtol=1e-8)
        mirrored = quantiles.student_quantile(0.95, degrees)
        assert mirrored == pytest.approx(stats.t.isf(0.95, degrees), rel=1e-8)
    for share in (1e-12, 0.3, 0.999):
        z = quantiles.normal_quantile(share)
        assert z == pytest.approx(stats.norm.ppf(share), rel=1e-12)
        assert quantiles.normal_share(z) == pytest.approx(share, rel=1e-12)


def several_steps(rng, count=30, actions=3):
    """Evidence of trajectories of one to four steps, some of an action that policies lack."""
    lengths = rng.integers(1, 5, count)
    steps = int(lengths.sum())
    seen = rng.integers(0, 3, (steps, 2)) / 2
    given = features_of(0, seen), rng.integers(actions + 1, size=steps), rng.uniform(0.2, 1, steps)
    starts = np.append(0, np.cumsum(lengths)[:-1])
    behaviour = np.zeros(count, int)
    known = LogEvidence(*given, starts, rng.random(count), behaviour, actions)
    return known, given, starts


def test_weights_and_their_slopes():
    rng = np.random.default_rng(4)
    known, (features, actions, logged), starts = several_steps(rng)
    theta, alpha = rng.normal(size=(2, 3, 3)), np.array([1.0, 0.3])
    found, kept = known.weigh(Mixed(theta, alpha))
    for one, share, weights in zip(theta, alpha, found, strict=True):
        chances = np.pad(softmax(features @ one.T), ((0, 0), (0, 1)))
        ratios = 1 - share + share * chances[np.arange(len(actions)), actions] / logged
        expected = [part.prod() for part in np.split(ratios, starts[1:])]
        np.testing.assert_allclose(weights, expected, rtol=1e-12)
    slopes, ahead = rng.normal(size=found.shape), 1e-6 * rng.normal(size=theta.shape)
    ends = [known.weights(Mixed(theta + by, alpha)) for by in (ahead, -ahead)]
    change = (slopes * (ends[0] - ends[1])).sum(1)
    pulled = 2 * (known.pull(slopes, kept) * ahead).sum((1, 2))
    np.testing.assert_allclose(change, pulled, rtol=1e-5)


CELLS, IN_USE = 10, np.array([0.8, 0.2])


def errors_of(bound, kind, payoffs, runs, delta=0.1, count=400):
    """Of logs of one step, in which a search finds only noise: worse candidates, and certified."""
    worse = errors = 0
    floor = float(IN_USE @ payoffs)
    for run in range(runs):
        rng = np.random.default_rng([5, run])
        cell, done = rng.integers(CELLS, size=count), (rng.random(count) < IN_USE[1]).astype(int)
        paid = (rng.random(count) < payoffs[done]).astype(float)
        known, unseen = (
            LogEvidence(
                np.insert(np.eye(CELLS)[cell[part]], 0, 1, axis=1),
                *(done[part], IN_USE[done[part]], np.arange(size), paid[part]),
                *(np.zeros(size, int), 2),
            )
            for part, size in (
                (np.s_[: count // 5], count // 5),
                (np.s_[count // 5 :], count * 4 // 5),
            )
        )
        task = LogTask(bound, known, delta, floor, len(unseen.returns))
        policy, _ = find_candidate(kind, rng, task)
        values = unseen.weights(policy)[0] * unseen.returns
        lower = bound.bound_of_one(rng, values, all_of(np.ones(len(values), bool)), delta)
        chances = softmax(np.insert(np.eye(CELLS), 0, 1, axis=1) @ policy.theta[0].T)
        alpha = policy.alpha[0]
        is_worse = (alpha * chances + (1 - alpha) * IN_USE) @ payoffs
        is_worse = is_worse.mean() < floor - 1e-9
        worse += is_worse
        errors += is_worse and lower >= floor
    return worse, errors


@dataclasses.dataclass(frozen=True)
class Raised(bounds.BettingOfLog):
    """A bound that is too high."""

    by: float = 0.1

    def bound_of_one(self, rng, values, rows, delta):
        return super().bound_of_one(rng, values, rows, delta) + self.by


PAYOFFS = np.array([0.5, 0.48])


@pytest.mark.parametrize(
    ("name", "kind", "runs"),
    [
        ("betting", "none", 100),
        pytest.param("betting", "k-fold", 500, marks=pytest.mark.slow),
        pytest.param("bernstein", "none", 500, marks=pytest.mark.slow),
        pytest.param("betting-anytime", "none", 500, marks=pytest.mark.slow),
        pytest.param("t", "none", 500, marks=pytest.mark.slow),
        pytest.param("bca", "none", 500, marks=pytest.mark.slow),
        pytest.param("percentile", "none", 500, marks=pytest.mark.slow),
        pytest.param("bca", "k-fold", 500, marks=pytest.mark.slow),
    ],
)
def test_how_often_a_worse_policy_is_certified(name, kind, runs):
    """Of safe bounds at most in a share delta = .1 of the runs, of others in 2 delta."""
    bound = bounds.BOUNDS[name]
    worse, errors = errors_of(bound, kind, PAYOFFS, runs)
    assert worse > 0.3 * runs  # with fewer worse candidates anything would pass
    assert errors <= (0.1 if bound.is_safe else 0.2) * runs
    if runs == 100:
        _, errors = errors_of(Raised(), kind, PAYOFFS, runs)
        assert stats.beta.ppf(0.001, errors, runs - errors + 1) > 0.1, "a wrong one is found out"


def test_what_is_found_is_nearly_the_best():
    """Of two contexts and three actions, 2,000 rows: the best action of each, within 1 %."""
    rng = np.random.default_rng(6)
    context, action = rng.integers(2, size=2_000), rng.integers(3, size=2_000)
    chance = np.array([[0.1, 0.5, 0.9], [0.8, 0.3, 0.2]])
    reward = (rng.random(2_000) < chance[context, action]).astype(float)
    log = {"x": context, "action": action, "probability": np.full(2_000, 1 / 3), "reward": reward}
    for bound in bounds.BOUNDS:
        found = jaxrace.improve(log, 0, 1, bound=bound)
        chances = found.policy.probabilities([[0], [1]], np.full((2, 3), 1 / 3))
        assert (chances * chance).sum(1).mean() > 0.84, bound
        again = jaxrace.improve(log, 0, 1, bound=bound)
        assert again.summary == found.summary


@pytest.mark.parametrize("seed", [3, 10, 14])
def test_a_search_has_several_starts(seed):
    """Of two words each, in logs where one that climbs from the uniform policy ends too low."""
    rng, count = np.random.default_rng(seed), 1_500
    device, visitor = rng.integers(2, size=count), rng.integers(2, size=count)
    logged = np.array([0.5, 0.25, 0.25])
    offer = rng.choice(3, size=count, p=logged)
    good = offer == np.where(visitor == 0, 1, np.where(device == 0, 2, 0))
    log = {
        "device": np.array(["desk", "phone"])[device],
        "visitor": np.array(["back", "new"])[visitor],
        "action": offer,
        "probability": logged[offer],
        "reward": (rng.random(count) < np.where(good, 0.65, 0.2)).astype(float),
    }
    found = jaxrace.improve(log, 0, 1, bound="betting", candidates="none", seed=seed)
    assert found.estimate > 0.55
    assert found.policy.probabilities([[0, 1, 0, 1], [1, 0, 0, 1]]).argmax(1).tolist() == [0, 2]


def test_weights_beyond_all_numbers_certify_nothing():
    """Products of twenty ratios of 1e30; no warning, no infinity in what JSON gets."""
    rng = np.random.default_rng(7)
    steps = 60 * 20
    log = {
        "trajectory": np.repeat(np.arange(60), 20),
        "x": rng.random(steps),
        "action": rng.integers(2, size=steps),
        "probability": np.full(steps, 1e-30),
        "reward": np.full(steps, 0.04),
    }
    for bound in ("bca", "betting", "t"):
        found = jaxrace.improve(log, 0, 1, bound=bound, candidates="none")
        assert not found.found
        assert "DATA REFUSED" in str(found)
        assert found.to_dict()["lower_bound"] is None


ALONE = """
import sys
from jaxrace.commands.cli import main
status = main(sys.argv[1:])
wrong = {"jax", "scipy", "matplotlib"} & set(sys.modules)
assert not wrong, wrong
sys.exit(status)
"""


def test_the_command_needs_no_jax_and_leaves_nothing(tmp_path):
    log = jaxrace.__path__[0] + "/../docs/data/log.csv"
    command = [sys.executable, "-c", ALONE, "improve", log, "--low", "0", "--high", "20"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "FOUND: with approximate confidence 95% it is better than the policy in" in done.stdout
    assert "policy.npz in the folder of --out" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("times", [2, 3])
def test_a_log_told_several_times_is_refused(times):
    """Of contexts that differ in any order; of two contexts while blocks come again."""
    rng = np.random.default_rng(8)
    for contexts in (2, 1000):
        log = {"x": rng.integers(contexts, size=300), "action": rng.integers(3, size=300)}
        log |= {"probability": np.full(300, 1 / 3), "reward": rng.integers(2, size=300)}
        settings = {"low": 0, "high": 1, "bound": "betting", "candidates": "none"}
        assert jaxrace.improve(log, **settings).summary["trajectories"] == 300
        again = {name: np.tile(column, times) for name, column in log.items()}
        with pytest.raises(jaxrace.DataRefused, match="trajectories: expected different ones, got"):
            jaxrace.improve(again, **settings)
    order = rng.permutation(300 * times)
    mixed = {name: column[order] for name, column in again.items()}
    with pytest.raises(jaxrace.DataRefused, match="most of them"):
        jaxrace.improve(mixed, **settings)
