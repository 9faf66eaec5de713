"""Compile options go by the size of the job, unless the user has chosen a level."""

import gc
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.core import compilation
from jaxrace.core.programs import compile_ahead


class Recorded:
    """A jitted function that notes the options it is compiled with."""

    def lower(self, *args):
        return self

    def compile(self, compiler_options):
        return compiler_options


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        (None, {"xla_backend_optimization_level": 1}),
        ("", {"xla_backend_optimization_level": 1}),
        ("--xla_cpu_use_fusion_emitters=false", {"xla_backend_optimization_level": 1}),
        ("--xla_cpu_x=1 --xla_backend_optimization_level=3", None),
    ],
)
def test_a_level_of_the_user_is_kept(flags, options, monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    if flags is not None:
        monkeypatch.setenv("XLA_FLAGS", flags)
    assert compile_ahead(Recorded(), work=compilation.LARGE) == options
    # What runs again and again has XLA's own level, of the user or not.
    assert not compile_ahead(Recorded())


@pytest.mark.parametrize(
    ("flags", "options"),
    [("", {"xla_gpu_autotune_level": 0}), ("--xla_gpu_autotune_level=2", None)],
)
def test_kernels_of_a_gpu_are_not_chosen_by_the_clock(flags, options, monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setenv("XLA_FLAGS", flags)
    assert compile_ahead(Recorded()) == options
    assert jax.jit(jnp.sin, compiler_options=options)(0.0) == 0  # XLA knows it


def test_options_that_this_xla_does_not_know_are_left_out(monkeypatch):
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    monkeypatch.setattr(compilation, "_CHEAP", compilation._CHEAP | {"xla_no_such_option": 1})
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
    found = compilation.options_for(0.0)
    assert found is not None
    assert found["xla_backend_optimization_level"] == 0
    assert "xla_no_such_option" not in found
    assert jax.jit(lambda x: x + 1, compiler_options=found)(1) == 2


def test_programs_of_functions_that_nobody_has_are_forgotten():
    @compilation.jit(num_static=1, most=4)  # two of a function: by itself, and under vmap
    def apply(function, x):
        return function(x)

    def cell(number):
        def add(x):
            return x + number

        assert int(apply(add, jnp.int32(1))) == 1 + number
        assert jax.vmap(lambda x: apply(add, x))(jnp.zeros(2, jnp.int32))[0] == number
        return weakref.ref(add)

    refs = [cell(number) for number in range(4)]
    gc.collect()
    assert [ref() is not None for ref in refs] == [False, False, True, True]


def test_a_program_is_kept_while_it_is_used(count_compilations):
    @compilation.jit(num_static=1, most=2)
    def scaled(factor, x):
        return factor * x

    x = jnp.float32(2)
    for factor in (2, 3):
        scaled(factor, x)
    with count_compilations() as compilations:
        assert float(scaled(2, x)) == 4
        assert float(scaled(3, x)) == 6
    assert compilations.count == 0


def test_small_jobs_are_done_on_a_cpu(monkeypatch):
    """The second device of the tests stands for a GPU, JAX's default one."""
    cpu, other = jax.local_devices(backend="cpu")[:2]
    with jax.default_device(other):
        x = jnp.arange(3)
    assert compilation.place_of(1e6, x, other) == cpu
    assert compilation.place_of(1e12, x, other) is None
    assert compilation.place_of(1e6, (np.arange(3), jax.device_put(x, other)), other) is None
    with jax.default_device(cpu):
        assert compilation.place_of(1e6, x, other) is None  # the user says where
        # What was made elsewhere comes along, and goes back where it is wanted.
        assert jax.jit(jnp.negative)(x).devices() == {cpu}
        assert not jax.jit(jnp.negative)(x).committed
    monkeypatch.setattr(compilation, "place_of", lambda work, args: other)
    doubled = compilation.jit(num_static=0)(lambda x: 2 * x)
    assert doubled(np.arange(3)).devices() == {other}
