"""The table of mutants fits the source, and the default run kills them."""

from pathlib import Path

import mutants
import pytest


def test_the_places_of_all_mutants_are_there():
    for mutation in mutants.MUTATIONS:
        count = (mutants.CHECKOUT / mutation.file).read_text("utf-8").count(mutation.old)
        assert count == 1, mutation
        assert mutation.new != mutation.old
        for test in mutation.tests.split():
            assert (mutants.CHECKOUT / test.split("::")[0]).exists(), test


def test_every_package_has_mutants():
    rooms = [str(Path(mutation.file).parent) for mutation in mutants.MUTATIONS]
    packages = [path.parent for path in mutants.CHECKOUT.glob("jaxrace/*/__init__.py")]
    names = {str(path.relative_to(mutants.CHECKOUT)) for path in packages if not path.is_symlink()}
    for name in names | {"kernels", "envs", "envs/holdem", "envs/open_bandit", "jaxrace"}:
        # Those of a package may stand in the rooms below it.
        below = [room for room in rooms if name != "jaxrace" and room.startswith(f"{name}/")]
        assert rooms.count(name) + len(below) >= 2, name


@pytest.mark.slow
@pytest.mark.parametrize("mutation", mutants.MUTATIONS)
def test_a_mutant_is_killed(mutation):
    is_killed, shown = mutants.verdict(mutation)
    assert is_killed, shown
