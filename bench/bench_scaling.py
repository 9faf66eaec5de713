"""Time and memory of the prefix kernel and of races against K, n and the number of races."""

import jax
import measuring
import normal_races
import pytest

from jaxrace import kernels

OPTIONS, ROUNDS, FEW_ROUNDS = 10, 300, 64
KS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
NS = (16, 32, 64, 128, 256, 512, 1024, 2048)
RACES = (1, 4, 16, 64, 256, 1024)


def prefix_wins(outcomes):
    return kernels.prefix_wins(kernels.total_order, outcomes)


def keep_quick(quick, values, value):
    if quick and value not in values[:5]:
        pytest.skip("left out of a quick run")


@pytest.mark.parametrize(("values", "value"), [(own, one) for own in (KS, NS) for one in own])
def test_prefix(benchmark, quick, values, value):
    """Of so many options, or of so many rounds."""
    keep_quick(quick, values, value)
    letter, shape = ("K", (value, FEW_ROUNDS)) if values is KS else ("n", (OPTIONS, value))
    other = f"n = {FEW_ROUNDS}" if values is KS else f"K = {OPTIONS}"
    given = jax.random.normal(jax.random.key(0), shape)
    name, axis = f"scaling {letter}/{value}", f"{letter} (prefix kernel, {other})"
    measuring.record_jax(benchmark, name, prefix_wins, given, axis=axis, value=value)


@pytest.mark.parametrize("num_races", RACES)
def test_races(benchmark, quick, num_races):
    keep_quick(quick, RACES, num_races)
    keys = jax.random.split(jax.random.key(0), num_races)
    name, axis = f"scaling races/{num_races}", f"races (K = {OPTIONS}, n_max = {ROUNDS})"
    run = normal_races.many_races(None)
    measuring.record_jax(benchmark, name, run, keys, rounds=3, axis=axis, value=num_races)
