"""The table of mutants fits the source, and the default run kills them."""

import mutants
import pytest


def test_the_places_of_all_mutants_are_there():
    for mutation in mutants.MUTATIONS:
        count = (mutants.CHECKOUT / mutation.file).read_text("utf-8").count(mutation.old)
        assert count == 1, mutation
        assert mutation.new != mutation.old
        for test in mutation.tests.split():
            assert (mutants.CHECKOUT / test.split("::")[0]).exists(), test


@pytest.mark.slow
@pytest.mark.parametrize("mutation", mutants.MUTATIONS)
def test_a_mutant_is_killed(mutation):
    is_killed, shown = mutants.verdict(mutation)
    assert is_killed, shown
