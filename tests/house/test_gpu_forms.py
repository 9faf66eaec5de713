"""What a GPU is given: other sizes and forms, and the same integers; programs lower for CUDA."""

import functools
import importlib
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace import kernels, racing
from jaxrace.envs import medical
from jaxrace.kernels.thurstone import definite_inverse, laplacian

BENCH = Path(__file__).resolve().parents[2] / "bench"  # no package, and not installed

sys.path.insert(0, str(BENCH))
NAMES = "gpu_forms", "gpu_list", "gpu_modules"
gpu_forms, gpu_list, gpu_modules = map(importlib.import_module, NAMES)
sys.path.pop(0)


def in_both_forms(function, *args):
    """What a jitted function returns in the forms of a CPU and of a GPU."""
    with gpu_forms.drawn_alike():
        expected = jax.tree.map(np.asarray, jax.jit(function)(*args))
    with gpu_forms.made_for("gpu"):
        return expected, jax.tree.map(np.asarray, jax.jit(function)(*args))


@pytest.mark.parametrize(
    ("capacity", "num_old", "num_new"), [(160, 130, 40), (20, 7, 5), (130, 0, 1)]
)
def test_counts_of_open_pairs(capacity, num_old, num_new):
    rng = np.random.default_rng(num_old)
    old = rng.integers(0, 4, (9, 8, capacity)).astype(np.float32)
    new = rng.integers(0, 4, (9, 8, num_new)).astype(np.float32)
    half = np.triu(rng.random((9, 8, 8)) < 0.7, 1)

    is_open, net = half | half.swapaxes(1, 2), np.full((9, 8, 8), 7, np.int32)
    nets = functools.partial(kernels.open_round_nets, kernels.total_order)
    expected, found = in_both_forms(nets, old, new, num_old, net, is_open)

    told = is_open[:, *np.triu_indices(8, 1)]
    assert (expected[told] != 7).any()
    np.testing.assert_array_equal(found[told], expected[told])


def test_counts_of_outcomes_with_parts():
    rng = np.random.default_rng(0)

    def draw(rounds):
        numbers = rng.integers(0, 3, (2, 9, 8, rounds)).astype(np.float32)
        return medical.Outcome(numbers[0] > 0, *numbers)

    nets = functools.partial(kernels.open_round_nets, medical.prefer)
    every, nothing = np.ones((9, 8, 8), bool), np.zeros((9, 8, 8), np.int32)
    expected, found = in_both_forms(nets, draw(40), draw(9), 33, nothing, every)

    assert expected.any()
    np.testing.assert_array_equal(found, expected)


def test_counts_of_unequal_numbers():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, (40, 4, 50)).astype(np.float32)
    counts, wanted = rng.integers(0, 51, (40, 4)).astype(np.int32), rng.random(40) < 0.5

    net = functools.partial(kernels.ragged_net, kernels.total_order)
    expected, found = in_both_forms(net, x, counts, wanted)

    assert expected.any()
    assert not expected.any((1, 2)).all()
    np.testing.assert_array_equal(found, expected)


def test_places_are_all_taken_where_they_fit():
    marked = jnp.array([False, True, False, True])

    def places(wanted, block):
        return kernels.for_listed(wanted, block, lambda places, kept: [*kept, places], [])

    with gpu_forms.made_for("gpu"):
        assert places(marked, 4)[0].tolist() == [4, 1, 4, 3]
        assert places(marked, 6)[0].tolist() == [4, 1, 4, 3, 4, 4]


def test_inverses_place_by_place():
    rng = np.random.default_rng(0)
    weights = rng.normal(1, 1, (40, 6, 6)).astype(np.float32)
    matrices = laplacian(jnp.asarray(weights + weights.swapaxes(1, 2)))

    expected, found = in_both_forms(definite_inverse, matrices)

    assert 0 < expected[1].sum() < 40
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["preference races", "dominance races", "races on shared tasks"])
def test_races(name):
    program = next(one for one in gpu_list.PROGRAMS if one.name == name)
    expected, found = in_both_forms(*_arguments(program, 64))
    jax.tree.map(np.testing.assert_array_equal, found, expected)


def _arguments(program, lanes):
    function, args = program.build(lanes)
    return function, *args


@pytest.mark.parametrize("program", gpu_list.PROGRAMS, ids=[one.name for one in gpu_list.PROGRAMS])
def test_programs_lower_for_cuda(program):
    function, args = program.build(program.few)
    with gpu_forms.made_for("gpu"):
        exported = jax.export.export(jax.jit(function), platforms=["cuda"])(*args)
    assert exported.platforms == ("cuda",)
    # What is called in place of what XLA compiles exists on a CPU alone.
    assert "lapack" not in exported.mlir_module()


MODULE = """HloModule m

%fused (p.0: f32[100,10], p.1: s32[]) -> f32[1,10] {
  %p.0 = f32[100,10]{1,0} parameter(0)
  %p.1 = s32[] parameter(1)
  ROOT %slice = f32[1,10]{1,0} dynamic-slice(%p.0, %p.1), dynamic_slice_sizes={1,10}
}

%body (c: (s32[], f32[100,10])) -> (s32[], f32[100,10]) {
  %c = (s32[], f32[100,10]{1,0}) parameter(0)
  %n = s32[] get-tuple-element(%c), index=0
  %x = f32[100,10]{1,0} get-tuple-element(%c), index=1
  %row = f32[1,10]{1,0} fusion(%x, %n), kind=kLoop, calls=%fused
  %copy = f32[100,10]{1,0} copy(%x)
  ROOT %t = (s32[], f32[100,10]{1,0}) tuple(%n, %copy)
}

%looks (c.1: (s32[], f32[100,10])) -> pred[] {
  %c.1 = (s32[], f32[100,10]{1,0}) parameter(0)
  ROOT %true = pred[] constant(true)
}

ENTRY %main (a: s32[], b: f32[100,10]) -> (s32[], f32[100,10]) {
  %a = s32[] parameter(0)
  %b = f32[100,10]{1,0} parameter(1)
  %start = (s32[], f32[100,10]{1,0}) tuple(%a, %b)
  ROOT %loop = (s32[], f32[100,10]{1,0}) while(%start), condition=%looks, body=%body
}
"""


def test_launches_loops_and_bytes_are_read():
    program = gpu_modules.Module(MODULE).program()
    (loop,) = program.inner
    assert (program.kernels, program.passes) == (0, 1)
    # A row that is read and written, with its number; and a copy.
    assert (loop.kernels, loop.passes, loop.bytes) == (2, None, 84 + 8000)
    total = program.total((7,))
    assert (total.launches, total.looks) == (14, 8)

    known = MODULE.replace("body=%body\n", 'body=%body, c={"known_trip_count":{"n":"5"}}\n')
    total = gpu_modules.Module(known).program().total((7,))
    assert (total.launches, total.looks) == (10, 0)


@pytest.mark.slow
def test_dominance_races_are_those_of_a_cpu_with_their_own_chunk():
    """Without it a GPU draws three blocks between two looks."""
    means = jnp.linspace(0, 1.5, 4, dtype=jnp.float32)
    race = racing.DominanceRace(4, 2, capacity=100, compare=kernels.total_order)
    params, keys = race.params(delta=0.05), jax.random.split(jax.random.key(0), 24)

    def sample(key, mean):
        return mean + jax.random.normal(key, (), jnp.float32)

    for chunk, is_same in ((race.chunk, True), (None, False)):
        found = []
        for device in ("cpu", "gpu"):
            with gpu_forms.made_for(device):
                run = jax.vmap(lambda key: racing.run(race, key, sample, means, params, chunk))  # noqa: B023
                found.append(jax.tree.map(np.asarray, jax.jit(run)(keys)))
        integers = [
            np.array_equal(one, other)
            for one, other in zip(*map(jax.tree.leaves, found), strict=True)
            if one.dtype.kind in "biu"
        ]
        assert all(integers) == is_same
