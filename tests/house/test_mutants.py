"""Faults of single operators are really faults, and most of them are found."""

import ast

import mutants
import pytest


def test_every_mutant_is_other_source_that_compiles():
    for mutant in mutants.chosen([], 500, seed=1):
        source = (mutants.CHECKOUT / mutant.file).read_text("utf-8")
        changed = mutants.mutated(source, mutant)
        is_other = ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))
        assert is_other, mutants.shown(mutant)
        assert mutants.tests_of(mutant)


@pytest.mark.slow
def test_most_mutants_are_killed():
    found = [mutants.verdict(mutant)[0] for mutant in mutants.chosen([], 30, seed=0)]
    assert found.count(False) <= mutants.MOST_SURVIVORS * len(found)
