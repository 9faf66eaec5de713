"""Playing for long, and in blocks: regrets that do not drift, and whatever the horizon."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.dueling import (
    CopelandWinner,
    Rucb,
    Savage,
    UniformDuels,
    draw_outcome,
    driver,
    duels,
    run,
    step_keys,
)
from jaxrace.dueling.matrices import flat
from jaxrace.kernels import kahan

# A block's own sum is rounded at every choice, 64 times at most, by 2^-25 of it.
ROUNDING = 64 * 2.0**-24


@pytest.mark.slow
def test_the_regret_of_a_long_record_does_not_drift():
    """Uniform duels of 100 arms cost .099 each; summed up here from the same choices."""
    horizon, algorithm, key = 100_000, UniformDuels(100), jax.random.key(0)
    problem, params = duels(flat(100)), algorithm.params()
    found = run(algorithm, key, problem, horizon, params, 1).regret[0]

    @jax.jit
    @jax.vmap
    def choose(time):
        noise = algorithm.draw(step_keys(key, time)[0])
        return algorithm.choose(noise, algorithm.init(params), params)

    first, second = np.asarray(choose(jnp.arange(horizon))).T
    exact = np.asarray(problem.costs, np.float64)[:, first, second].sum(1)
    np.testing.assert_allclose(found, exact, rtol=ROUNDING)
    # .1, or .05 if the winner is among the two.
    deviation = 0.05 * np.sqrt(0.02 * 0.98 * horizon)
    assert abs(exact[1] - 0.099 * horizon) < 4 * deviation


@pytest.mark.slow
def test_the_regret_of_many_rounds_does_not_drift():
    """SAVAGE that never decides plays every pair in turn."""
    algorithm, horizon = Savage(7, CopelandWinner(7)), 100_000
    problem = duels(flat(7))
    params = algorithm.params(delta=1e-300)
    found = run(algorithm, jax.random.key(0), problem, horizon, params, 1)
    assert found.decided_at[0] == 0
    costs = np.asarray(problem.costs, np.float64)[:, *np.triu_indices(7, 1)]
    exact = costs[:, np.resize(np.arange(21), horizon)].sum(1)
    np.testing.assert_allclose(found.regret[0], exact, rtol=ROUNDING)


def test_equal_terms_add_up():
    """A plain sum of so many is off by a thousandth."""
    count = 2_000_000
    term = jnp.full(1, 6.4, jnp.float32)

    @jax.jit
    def add_up(term):
        return jax.lax.fori_loop(0, count, lambda _, total: kahan.add(total, term), kahan.zero(1))

    exact = count * float(term[0])
    assert add_up(term).value[0] == pytest.approx(exact, rel=2.0**-23)


@pytest.mark.parametrize("count", [101, 64])
def test_every_horizon_is_played_like_single_choices(count):
    """A prime number of choices, too; two blocks, one block and a choice, one block."""
    algorithm, key = Rucb(4), jax.random.key(3)
    problem, params = duels(flat(4, 0.8)), algorithm.params()
    found = run(algorithm, key, problem, count, params, 1)

    @jax.jit
    def step(state, time):
        ask_key, outcome_key = step_keys(key, time)
        pair = algorithm.ask(ask_key, state, params)
        outcome = draw_outcome(outcome_key, problem, pair)
        return algorithm.tell(state, pair, outcome, params), problem.cost(pair)

    state, costs = jax.lax.scan(step, algorithm.init(params), jnp.arange(count))
    assert found.time.tolist() == [count]
    assert found.recommended[0] == algorithm.recommend(state, params)
    exact = np.asarray(costs, np.float64).sum(0)
    np.testing.assert_allclose(found.regret[0], exact, rtol=ROUNDING)


def test_blocks_are_about_as_long_as_can_be():
    """Whatever divides the number of choices; only the last one may be shorter."""
    for count in range(1, 5_000):
        number, size = driver.block_sizes(count)
        assert size <= 64
        assert size > 32 or number == 1
        assert 0 < count - (number - 1) * size <= size


@pytest.mark.parametrize("chance", [jnp.nan, 1.25])
def test_regrets_under_a_trace_are_nan_where_a_chance_is_no_probability(chance):
    """No error can be raised there. The pair that is wrong need not be played."""
    algorithm, key = Rucb(3), jax.random.key(0)

    @jax.jit
    def play(matrix):
        return run(algorithm, key, duels(matrix), 60, algorithm.params(), records=2).regret

    assert jnp.isfinite(play(jnp.asarray(flat(3)))).all()
    assert jnp.isnan(play(jnp.asarray(flat(3)).at[0, 1].set(chance))).all()


def test_a_log_is_printed_by_name():
    """Regrets by their measures; of many runs the shapes."""
    algorithm = UniformDuels(3)

    def go(key):
        return run(algorithm, key, duels(flat(3)), 40, algorithm.params(), records=2)

    log = go(jax.random.key(0))
    title, heads, *rows = str(log).splitlines()
    assert title == "DuelRecord: 2 records"
    regrets = [f"{name} regret" for name in ("weak", "strong", "copeland", "borda")]
    assert heads.split("  ")[1:] == ["time", *regrets, "recommended", "decided_at"]
    assert [row.split()[0] for row in rows] == ["20", "40"]
    assert [float(cell) for cell in rows[1].split()[1:5]] == pytest.approx(
        log.regret[1].tolist(), rel=1e-3
    )
    many = str(jax.vmap(go)(jax.random.split(jax.random.key(0), 5)))
    assert many.startswith("DuelRecord: time [5, 2], weak regret [5, 2], ")
