"""Composed preferences against hand-made tables and the medical preference."""

import itertools

import jax.numpy as jnp
import numpy as np

from jaxrace.agents import preferences
from jaxrace.envs import medical


def medical_as_composition(a, b):
    """Alive first; survivors by Pareto dominance, while two deaths are incomparable."""
    survivors = preferences.Pareto(
        preferences.Smaller("worst_toxicity"), preferences.Smaller("tumour_size")
    )
    both_dead = ~jnp.asarray(a.alive) & ~jnp.asarray(b.alive)
    composed = preferences.Lexicographic(preferences.Larger("alive"), survivors)(a, b)
    return jnp.where(both_dead, jnp.int8(0), composed)


def test_the_medical_preference_is_a_composition():
    grid = [
        medical.Outcome(jnp.bool_(alive), jnp.float32(x), jnp.float32(s))
        for alive, x, s in itertools.product((False, True), (0.5, 1.0), (0.0, 2.0))
    ]
    for a, b in itertools.product(grid, grid):
        sign = medical.prefer(a, b)
        assert sign == medical_as_composition(a, b)
        assert sign == -medical.prefer(b, a)


def test_numbers():
    a, b = jnp.array([1.0, 2.0, 2.0]), jnp.array([2.0, 2.0, 1.0])
    np.testing.assert_array_equal(preferences.Larger()(a, b), [-1, 0, 1])
    np.testing.assert_array_equal(preferences.Smaller()(a, b), [1, 0, -1])


def test_pareto_and_lexicographic_disagree_where_criteria_do():
    criteria = preferences.Larger(0), preferences.Larger(1)
    pairs = list(itertools.product((0.0, 1.0), repeat=4))
    for a0, a1, b0, b1 in pairs:
        first, second = np.sign(a0 - b0), np.sign(a1 - b1)
        pareto = preferences.Pareto(*criteria)((a0, a1), (b0, b1))
        lexicographic = preferences.Lexicographic(*criteria)((a0, a1), (b0, b1))
        assert int(pareto) == (np.sign(first + second) if first * second >= 0 else 0)
        assert int(lexicographic) == (first or second)


def test_fields_of_tuples_dicts_and_objects():
    assert preferences.Larger("x")({"x": 1.0}, {"x": 0.0}) == 1
    assert preferences.Larger(1)((0.0, 1.0), (1.0, 0.0)) == 1
    one, zero = jnp.float32(1), jnp.float32(0)
    outcomes = [medical.Outcome(jnp.bool_(alive), one, zero) for alive in (True, False)]
    assert preferences.Larger("alive")(*outcomes) == 1
