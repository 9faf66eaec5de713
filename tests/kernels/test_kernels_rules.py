"""The select and discard rules against brute force over all completions of undecided pairs."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import reference_preference_race

from jaxrace.kernels import RULES, select_and_discard

settle = jax.jit(select_and_discard, static_argnums=(1, 2))


def pairs_of(num_options):
    return list(itertools.combinations(range(num_options), 2))


def partial_verdicts(num_options, number=None):
    """Verdict matrices bool [..., K, K]: all of them, or a random number of them."""
    pairs = pairs_of(num_options)
    if number is None:
        signs = np.array(list(itertools.product([-1, 0, 1], repeat=len(pairs))))
    else:
        rng = np.random.default_rng(num_options)
        decided = rng.random((number, len(pairs))) < rng.random((number, 1))
        signs = np.where(decided, rng.choice([-1, 1], (number, len(pairs))), 0)
    beats = np.zeros((len(signs), num_options, num_options), bool)
    for column, (i, j) in enumerate(pairs):
        beats[:, i, j] = signs[:, column] > 0
        beats[:, j, i] = signs[:, column] < 0
    return beats


def completed_scores(beats, with_ties):
    """Copeland scores [number, K] of every way to decide the undecided pairs."""
    num_options = len(beats)
    undecided = [(i, j) for i, j in pairs_of(num_options) if not beats[i, j] and not beats[j, i]]
    verdicts = [-1, 0, 1] if with_ties else [-1, 1]
    scores = []
    for signs in itertools.product(verdicts, repeat=len(undecided)):
        score = beats.sum(axis=1)
        for sign, (i, j) in zip(signs, undecided, strict=True):
            score[i] += sign > 0
            score[j] += sign < 0
        scores.append(score)
    return np.array(scores)


@functools.cache
def instances(num_options):
    # All 729 for four options; 59,049 for five are too many.
    return partial_verdicts(num_options, 150 if num_options > 4 else None)


def settle_many(beats, top, rule="sharp"):
    """``select_and_discard`` of many matrices [number, K, K], which it takes on the last axis."""
    masks = settle(np.moveaxis(beats, 0, -1), top, rule)
    return tuple(np.asarray(mask).T for mask in masks)


@pytest.mark.parametrize("num_options", [2, 4])
def test_sharp_counts_exactly_the_options_that_are_worse_in_every_completion(num_options):
    beats = instances(num_options)
    certainly_better = np.stack(
        [
            (scores[:, :, None] > scores[:, None, :]).all(axis=0)
            for scores in (completed_scores(b, with_ties=False) for b in beats)
        ]
    )
    for top in range(1, num_options):
        selected, discarded = settle_many(beats, top)
        np.testing.assert_array_equal(selected, certainly_better.sum(2) >= num_options - top)
        np.testing.assert_array_equal(discarded, certainly_better.sum(1) >= top)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("num_options", [2, 4])
def test_verdicts_hold_in_every_completion(num_options, rule):
    """Selected options are in every optimal subset, and discarded ones in none, ties included."""
    beats = instances(num_options)[::3]
    results = {t: settle_many(beats, t, rule) for t in range(1, num_options)}
    masks = {t: (np.asarray(s), np.asarray(d)) for t, (s, d) in results.items()}
    for number, matrix in enumerate(beats):
        scores = completed_scores(matrix, with_ties=num_options < 5)
        ahead = (scores[:, None, :] > scores[:, :, None]).sum(axis=2)  # who beats option i
        level = (scores[:, None, :] == scores[:, :, None]).sum(axis=2) - 1
        for top, (selected, discarded) in masks.items():
            in_every_optimum = (ahead + level < top).all(axis=0)
            in_no_optimum = (ahead >= top).all(axis=0)
            assert not (selected[number] & ~in_every_optimum).any()
            assert not (discarded[number] & ~in_no_optimum).any()


@pytest.mark.parametrize("num_options", [2, 3, 5])
def test_rules_against_the_loops_of_the_reference(num_options):
    beats = partial_verdicts(num_options, 60)
    for rule, top in itertools.product(RULES, range(1, num_options)):
        function = functools.partial(select_and_discard, top=top, rule=rule)
        selected, discarded = jax.jit(jax.vmap(function))(beats)
        for number, matrix in enumerate(beats):
            expected = reference_preference_race.settle(matrix, top, rule)
            np.testing.assert_array_equal(selected[number], expected[0])
            np.testing.assert_array_equal(discarded[number], expected[1])
        assert not (selected & discarded).any()


@pytest.mark.parametrize("num_options", [65, 128])
@pytest.mark.parametrize("rule", RULES)
def test_many_options_in_order_are_all_counted(num_options, rule):
    """Counts are as narrow as they can be, and the sum of two reaches 2 (K - 1)."""
    top = num_options // 2
    beats = np.triu(np.ones((num_options, num_options), bool), 1)
    selected, discarded = settle(beats, top, rule)
    # The printed rule asks for one more win, and for one more option that is worse.
    spared = 0 if rule == "sharp" else 2
    options = np.arange(num_options)
    np.testing.assert_array_equal(selected, options < top - spared)
    np.testing.assert_array_equal(discarded, options >= top + spared)


def test_an_unknown_rule_is_refused():
    with pytest.raises(ValueError, match="rule: expected one of sharp, printed, got 'blunt'"):
        select_and_discard(jnp.zeros((2, 2), bool), 1, "blunt")
