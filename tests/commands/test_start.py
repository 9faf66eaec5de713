"""What a person waits for: compile options, what is compiled again, seconds beside the floor."""

import importlib.util
import statistics
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxrace
from jaxrace import dueling, kernels, racing, selection
from jaxrace.core import compilation
from jaxrace.dueling import matrices

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
def test_another_sampler_compiles_one_program(kind, count_compilations):
    race, params, means = a_race(kind)
    key = jax.random.key(0)
    racing.run(race, key, new_sample(), means, params)
    with count_compilations() as compilations:
        racing.run(race, key, new_sample(), means, params)
    assert compilations.count == 1


def test_compile_options_go_by_the_size_of_the_job(monkeypatch):
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
    cheap = compilation.options_for(0)  # asks XLA what it knows, once
    jit, chosen = jax.jit, []

    def noted(function, compiler_options=None, **others):
        chosen.append(compiler_options)
        return jit(function, **others)

    monkeypatch.setattr(compilation.jax, "jit", noted)

    @compilation.jit(1, work=lambda work, x: work)
    def double(work, x):
        return 2 * x

    small, middling, large = 1.0, 2 * compilation.SMALL, 2 * compilation.MIDDLING
    for work in (small, middling, large):
        assert float(double(work, jnp.float32(2))) == 4
    level = "xla_backend_optimization_level"
    assert cheap is not None
    assert chosen == [cheap | {level: 0}, cheap | {level: 1}, {level: 1}]
    chosen.clear()
    assert float(jit(lambda x: double(small, x))(jnp.float32(2))) == 4
    assert float(jit(lambda x: x + double(small, np.float32(2)))(jnp.float32(2))) == 6
    assert jax.vmap(lambda x: double(small, x))(jnp.ones(2)).tolist() == [2, 2]
    assert chosen == [None]


def test_every_driver_has_cheap_options_for_a_small_job(monkeypatch):
    sizes, options_for = [], compilation.options_for

    def noted(work):
        sizes.append(work)
        return options_for(work)

    monkeypatch.setattr(compilation, "options_for", noted)
    key, compare = jax.random.key(0), selection.normal_score
    race, params, means = a_race(racing.PreferenceRace, num_options=5)
    racing.run(race, key, new_sample(), means, params)
    shared = racing.SharedRace(5, 1, 30, low=0, high=1)
    racing.run(shared, key, lambda *_: jnp.float32(0.5), means, shared.params())
    selector = selection.Uniform(5, 2)
    problem = selection.thurstone(key, 5)
    selection.run(selector, key, compare, problem, 40, selector.params(), interval=5)
    algorithm, duels = dueling.UniformDuels(5), dueling.duels(matrices.flat(5, 0.9))
    dueling.run(algorithm, key, duels, 40, algorithm.params(), records=4)
    assert set(sizes) == {compilation.SMALL}
    assert len(sizes) >= 4


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
    path = Path(__file__).parents[2] / "bench" / "start.py"
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


def test_what_a_sample_computes_counts():
    """A simulator of many steps is compiled well, however small its race is."""

    def slow(key, mean):
        step = lambda _, x: jnp.sin(x) + mean  # noqa: E731
        return jax.lax.fori_loop(0, 30_000, step, jax.random.normal(key))

    def endless(key, mean):
        return jax.lax.while_loop(lambda x: x < 3, lambda x: x + 1, mean)

    key, mean = jax.random.key(0), np.float32(0)
    quick, long = (compilation.cost_of(sample, key, mean) for sample in (new_sample(), slow))
    assert quick < 100 < 1e6 < long < 1e8
    assert compilation.cost_of(endless, key, mean) == np.inf
    product = compilation.cost_of(jnp.matmul, jnp.ones((3, 50)), jnp.ones((50, 2)))
    assert product == 3 * 50 * 2
