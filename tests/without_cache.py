"""Commands that leave JAX's cache as it is: it would stay switched on for the tests that follow."""

from collections.abc import Sequence

from jaxrace.commands import cli


def without_cache(command: Sequence[str]) -> list[str]:
    """The words of a command, with --no-compilation-cache where its verb compiles."""
    verb = cli._VERBS.get(command[0]) if command else None
    compiles = verb is not None and verb.job and verb.folder
    return [*command, "--no-compilation-cache"] if compiles else [*command]
