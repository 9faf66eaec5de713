"""What a person waits for: what is compiled in haste, what again, and seconds beside the floor."""

import importlib.util
import statistics
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxrace
from jaxrace import compilation, kernels, racing

RACES = [racing.DominanceRace, racing.PreferenceRace]


def a_race(kind, num_options=4, capacity=40):
    race = kind(num_options, 1, capacity, kernels.total_order)
    return race, race.params(delta=0.1), jnp.arange(num_options, dtype=jnp.float32)


def new_sample(scale=1.0):
    def sample(key, mean):
        return mean + scale * jax.random.normal(key)

    return sample


def integers(result):
    leaves = [np.asarray(x) for x in jax.tree.leaves(result)]
    return [x for x in leaves if x.dtype.kind in "bi"]


@pytest.mark.parametrize("kind", RACES)
def test_a_race_by_itself_is_that_of_a_program_and_of_a_batch(kind):
    race, params, means = a_race(kind)
    sample = new_sample()

    def run(key):
        return racing.run(race, key, sample, means, params)

    keys = jax.random.split(jax.random.key(0), 3)
    batch = integers(jax.vmap(run)(keys))
    for number, key in enumerate(keys):
        alone, fused = integers(run(key)), integers(jax.jit(run)(key))
        for x, y, z in zip(alone, fused, batch, strict=True):
            np.testing.assert_array_equal(x, y)
            np.testing.assert_array_equal(x, z[number])


@pytest.mark.parametrize("kind", RACES)
def test_another_sampler_compiles_only_what_draws(kind, count_compilations):
    race, params, means = a_race(kind)
    key = jax.random.key(0)
    racing.run(race, key, new_sample(), means, params)
    with count_compilations() as compilations:
        racing.run(race, key, new_sample(), means, params)
    # Of a first block, and of later ones.
    assert compilations.count <= 2


def test_little_work_of_plain_python_is_compiled_in_haste(monkeypatch):
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    compilation.hasty_options()  # asks XLA what it knows, once
    jit, chosen = jax.jit, []

    def noted(function, compiler_options=None, **others):
        chosen.append(compiler_options)
        return jit(function, **others)

    monkeypatch.setattr(compilation.jax, "jit", noted)

    @compilation.bounded_jit(1, work=lambda work, x: work)
    def double(work, x):
        return 2 * x

    little, much = 1.0, 2 * compilation.MOST_BRIEF
    assert float(double(little, jnp.float32(2))) == 4
    assert float(double(much, jnp.float32(2))) == 4
    assert float(jit(lambda x: double(little, x))(jnp.float32(2))) == 4
    assert float(jit(lambda x: x + double(little, np.float32(2)))(jnp.float32(2))) == 6
    assert jax.vmap(lambda x: double(little, x))(jnp.ones(2)).tolist() == [2, 2]
    assert [options is not None for options in chosen] == [True, False, False]


def test_programs_are_kept_in_a_folder(tmp_path):
    names = ("enable_compilation_cache", "compilation_cache_dir")
    names = (*names, "persistent_cache_min_compile_time_secs")
    before = {f"jax_{name}": getattr(jax.config, f"jax_{name}") for name in names}
    try:
        assert jaxrace.use_compilation_cache(tmp_path) == tmp_path
        assert getattr(jax.config, f"jax_{names[1]}") == str(tmp_path)
    finally:
        for name, value in before.items():
            jax.config.update(name, value)


@pytest.mark.slow
def test_seconds_beside_the_floor():
    """Processor seconds, medians of three rounds as bench/start.py has them."""
    path = Path(__file__).parents[1] / "bench" / "start.py"
    spec = importlib.util.spec_from_file_location("start", path)
    assert spec is not None
    assert spec.loader is not None
    start = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(start)
    most = {
        "jaxrace --help": 0.5,
        "jaxrace list": 0.5,
        "jaxrace train medical, cold": 6.0,
        "one DominanceRace, K = 10": 3.0,
        "one PreferenceRace, K = 10": 2.5,
        "one DominanceRace, K = 1,000": 20.0,
        "one PreferenceRace, K = 1,000": 20.0,
    }
    names = {start.FLOOR, *(name.removesuffix(", cold") for name in most)}
    lines = [line for line in start.LINES if line.name in names]
    costs = start.measure_all(lines, 3)
    seconds = {name: statistics.median(one.seconds for one in costs[name]) for name in costs}
    found = {name: seconds[name] / seconds[start.FLOOR] for name in most}
    assert all(found[name] <= most[name] for name in most), found
    assert all(one.megabytes < 1_000 for name in most for one in costs[name])
