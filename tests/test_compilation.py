"""What is compiled ahead has a level of optimisation of its own, unless the user has chosen one."""

import pytest

from jaxrace import compilation
from jaxrace.compilation import compile_ahead


class Recorded:
    """A jitted function that notes the options it is compiled with."""

    def lower(self, *args):
        return self

    def compile(self, compiler_options):
        return compiler_options


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        (None, {"xla_backend_optimization_level": "1"}),
        ("", {"xla_backend_optimization_level": "1"}),
        ("--xla_cpu_use_fusion_emitters=false", {"xla_backend_optimization_level": "1"}),
        ("--xla_cpu_x=1 --xla_backend_optimization_level=3", None),
    ],
)
def test_a_level_of_the_user_is_kept(flags, options, monkeypatch):
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    if flags is not None:
        monkeypatch.setenv("XLA_FLAGS", flags)
    assert compile_ahead(Recorded()) == options


def test_small_programs_run_in_order(monkeypatch):
    """Unless the user says otherwise, or XLA has no such option any more."""
    monkeypatch.setenv("XLA_FLAGS", "")
    option = "xla_cpu_enable_concurrency_optimized_scheduler"
    options = {"xla_backend_optimization_level": "1", option: False}
    assert compile_ahead(Recorded(), is_small=True) == options
    monkeypatch.setenv("XLA_FLAGS", f"--{option}=true")
    assert option not in compile_ahead(Recorded(), is_small=True)
    monkeypatch.setenv("XLA_FLAGS", "")
    monkeypatch.setattr(compilation, "_SIDE_BY_SIDE", "xla_cpu_there_is_no_such_option")
    assert compile_ahead(Recorded(), is_small=True) == {"xla_backend_optimization_level": "1"}


def test_joined_comparisons_have_wide_registers(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "")
    option = "xla_cpu_prefer_vector_width"
    options = {"xla_backend_optimization_level": "1", option: 512}
    assert compile_ahead(Recorded(), joins_comparisons=True) == options
    assert option not in compile_ahead(Recorded())
    monkeypatch.setenv("XLA_FLAGS", f"--{option}=256")
    assert option not in compile_ahead(Recorded(), joins_comparisons=True)
