"""Runs of training in several environments: those of one are taken, or they are the groups."""

import dataclasses
from collections.abc import Sequence
from shlex import quote

from jaxrace.core.validation import BadArgument
from jaxrace.tables.heads import names_place
from jaxrace.tables.run_folders import named
from jaxrace.tables.runs import SourceRuns
from jaxrace.tables.table import quoted

_UNKNOWN = "none known, as names of folders tell that end as ids do, such as CartPole-v1"


def placed(parts: Sequence[SourceRuns]) -> list[SourceRuns]:
    """The same, where runs in folders have the option, environment and seed that names say."""
    folders = [part.folder for part in parts if part.folder]
    names = iter(named(folders) if folders else [])
    found = []
    for part in parts:
        if part.folder:
            (option, env), number, run = next(names), len(part.scores), part.folder.run
            tasks = [run] * number if run.startswith("seed") else None
            about = {"options": [option] * number, "tasks": tasks, "env": env}
            part = dataclasses.replace(part, **about)
        found.append(part)
    return found


def taken(parts: Sequence[SourceRuns], where: Sequence[tuple[str, str]]) -> list[int]:
    """The places of the runs in the environment that ``where`` names, of all without it."""
    envs = [part.env for part in parts]
    for head, value in where:
        if not names_place(head):
            raise BadArgument("where", "env=NAME, for folders of training runs", repr(head))
        if not value or value not in envs:
            known = quoted([*dict.fromkeys(filter(None, envs))], 12) if any(envs) else _UNKNOWN
            raise BadArgument("where", f"one of the environments ({known})", repr(value))
    return [place for place, env in enumerate(envs) if all(env == value for _, value in where)]


def grouped_by_environment(parts: Sequence[SourceRuns]) -> list[SourceRuns]:
    """The same, in groups if there are several environments: a task is a run in one of them.

    BadArgument if runs have no numbers then, or not all options have runs in all environments.
    """
    ran: dict[str, set[str]] = {part.env: set() for part in parts}
    if len(ran) < 2:
        return [*parts]
    for part in parts:
        ran[part.env] |= {*part.options}
    every = set[str]().union(*ran.values())
    lacking = [f"none of {name!r} in {env!r}" for env in ran for name in sorted(every - ran[env])]
    if lacking or not all(part.env and part.folder and part.folder.run for part in parts):
        best = max(filter(None, ran), key=lambda env: len(ran[env]))
        expected = "runs of one environment, or numbered ones of each option in each"
        got = lacking[0] if lacking else f"runs without numbers of {quoted([*ran])}"
        hint = f"--where {quote(f'env={best}')} takes those of one" if len(ran[best]) > 1 else ""
        raise BadArgument(parts[0].argument, expected, got + (f": {hint}" if hint else ""))
    found = []
    for part in parts:
        assert part.folder
        number = len(part.scores)
        tasks, groups = [f"{part.env} {part.folder.run}"] * number, [part.env] * number
        about = {"tasks": tasks, "groups": groups, "grouped_by": "the environments"}
        found.append(dataclasses.replace(part, **about))
    return found
