"""The mutants of tests/mutants.py: one fault each, and the tests that should find it."""

from typing import NamedTuple


class Mutation(NamedTuple):
    """A fault: in ``file``, ``new`` in place of the only ``old``; ``tests`` are paths."""

    file: str
    old: str
    new: str
    tests: tuple[str, ...]


MUTATIONS = [Mutation(file, old, new, tuple(tests.split())) for file, old, new, tests in []]
