"""Several evaluations of one model: by what they differ, and whether they were scored alike."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jaxrace.core.validation import BadArgument
from jaxrace.tables.runs import SourceRuns

_LONGEST = 40  # of what a setting is, in a name


def settings_in(*parts: Any) -> dict[str, str]:
    """What was set for an evaluation, by name: of objects within each other the last name.

    >>> settings_in({"prompt": "old", "limits": {"time": 3}}, None, [{"temperature": 0.0}])
    {'prompt': 'old', 'time': '3', 'temperature': '0.0'}
    """
    return {key: one[:_LONGEST] for part in parts for key, one in _leaves(part)}


def _leaves(part: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(part, Mapping):
        for name, one in part.items():
            yield from _leaves(one, str(name))
    elif isinstance(part, list):
        for one in part:
            yield from _leaves(one, key)
    elif part is not None and key:
        yield key, str(part)


def told_apart(parts: Sequence[SourceRuns]) -> list[SourceRuns]:
    """The same, where evaluations of one model on one task are named by the settings that differ.

    Those of the same settings keep one name.
    """
    found = [*parts]
    of: dict[str, list[int]] = {}
    for place, part in enumerate(parts):
        if part.settings is not None and len({*part.options}) == 1:
            of.setdefault(part.options[0], []).append(place)
    for option, places in of.items():
        tasks = [{*(parts[place].tasks or ())} for place in places]
        if sum(map(len, tasks)) == len(set[str]().union(*tasks)):  # each of its own
            continue
        settings = [parts[place].settings or {} for place in places]
        keys = dict.fromkeys(key for one in settings for key in one)
        unlike = [key for key in keys if len({one.get(key) for one in settings}) > 1]
        for place, one in zip(places, settings, strict=True):
            shown = ", ".join(f"{key}={one[key]}" for key in unlike if key in one)
            name = f"{option} ({shown})" if shown else option
            said = (f"evaluations of {option!r} are told apart by what was set",) * bool(unlike)
            named = [name] * len(parts[place].options)
            found[place] = dataclasses.replace(
                parts[place], options=named, said=(*parts[place].said, *said)
            )
    return found


def require_one_scorer(parts: Sequence[SourceRuns]) -> None:
    """Raise if evaluations on one task have other scorers: they do not measure the same."""
    seen: dict[str, SourceRuns] = {}
    for part in parts:
        for group in {*(part.groups or ())} if part.measures else ():
            other = seen.setdefault(group, part)
            if other.measures != part.measures:
                got = ", ".join(
                    f"{' '.join(one.measures).strip()!r} in {one.where}" for one in (other, part)
                )
                hint = ": score both alike, or take the files of one scorer"
                raise BadArgument(part.argument, f"one scorer of {group!r}", got, hint)
