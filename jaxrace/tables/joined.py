"""Comparisons in several files as one log; copies of files, or of games, are refused."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxrace.tables.copies import SHORT, TWICE, copies_in
from jaxrace.tables.so_far import held_rows
from jaxrace.tables.table import Place, alike, numbered, quoted


def joined(place: Place, files: Sequence[Path], read: Callable[[Path], Any]) -> Any:
    """The comparisons in several files, ``Votes`` as each is read, one after the other."""
    parts, seen, refused = [], dict[bytes, Path](), list[str]()
    for path in files:
        parts.append(read(path))
        other = seen.setdefault(path.read_bytes(), path)
        if other != path:
            refused.append(f"{TWICE}'{other}' and '{path}' are alike: leave one out")
    kinds = {part.kind: path for part, path in zip(parts, files, strict=True)}
    if len(kinds) > 1:
        got = f"wins in '{kinds['win']}', margins in '{kinds['margin']}'"
        raise place.wrong("comparisons of one kind", got, hint="take the files of one")
    names, places = numbered([name for part in parts for name in part.names])
    own = np.split(places.astype(np.int32), np.cumsum([len(part.names) for part in parts])[:-1])
    shown, pairs = quoted([str(path) for path in files]), []
    unended, begin, place_of = [], 0, 0
    for part, of in zip(parts, own, strict=True):
        for game in part.unended:
            first, second = of[[game.first, game.second]].tolist()
            pair = game.pair + begin if game.pair >= 0 else -1
            unended.append(
                game._replace(place=game.place + place_of, first=first, second=second, pair=pair)
            )
        place_of += len(part.first)
        if part.pairs is not None:
            pairs.append(np.where(part.pairs < 0, -1, part.pairs + begin))
            begin += 1 + max([part.pairs.max(initial=-1), *(game.pair for game in part.unended)])
    items = [part.items for part in parts if part.items is not None]
    said = [*dict.fromkeys(one for part in parts for one in part.said), *alike("options", names)]
    if 0 < len(pairs) < len(parts):
        said.append(
            f"labels of pairs, such as rounds, are in {len(pairs)} of {len(parts)} files: not "
            "used, so games of two are paired as they come; labels in all files are used"
        )
    columns = ("copies", [-1, -1]), ("endings", ""), ("judges", -1)
    copies, endings, judges = (_known_in(parts, *of) for of in columns)
    lines = np.concatenate([part.lines for part in parts])
    counts = [(path, len(part.first)) for path, part in zip(files, parts, strict=True)]
    said = [note for note in said if not note.startswith(SHORT)]
    refused += [part.refused for part in parts]
    more, odd, kept = _held_files(parts, names, own)
    for one, why in (copies_in(copies, lines, counts), (more, odd)):
        said += one
        refused.append(why)
    whole = dataclasses.replace(
        parts[0],
        names=names,
        first=np.concatenate([of[part.first] for of, part in zip(own, parts, strict=True)]),
        second=np.concatenate([of[part.second] for of, part in zip(own, parts, strict=True)]),
        scores=np.concatenate([part.scores for part in parts]),
        lines=lines,
        said=(f"{len(files)} files as one, in the order of their names: {shown}", *said),
        sided=all(part.sided for part in parts),
        ordered=all(part.ordered for part in parts),
        pairs=np.concatenate(pairs) if len(pairs) == len(parts) else None,
        items=np.concatenate(items) if len(items) == len(parts) else None,
        judges=judges if (judges >= 0).any() else None,
        judged_by=next((part.judged_by for part in parts if part.judged_by), ""),
        copies=copies,
        endings=endings,
        unended=tuple(unended),
        refused=next(filter(None, refused), ""),
    )
    return whole if kept.all() else whole.at(kept)


def _held_files(
    parts: Sequence[Any], names: Sequence[str], own: Sequence[np.ndarray]
) -> tuple[list[str], str, np.ndarray]:
    """``held_rows`` of files with counts; which comparisons of all files count, bool [n]."""
    rows, places, begin = [], list[np.ndarray](), 0
    for part, of in zip(parts, own, strict=True):
        ways = np.stack([of[part.first], of[part.second]], 1)
        for one, other in [] if part.ordered else np.unique(ways, axis=0).tolist():
            met = (ways == (one, other)).all(1)
            counts = np.bincount(np.rint(4 * part.scores[met]).astype(int), minlength=5)
            rows.append((one, other, counts))
            places.append(begin + np.flatnonzero(met))
        begin += len(ways)
    kept = np.ones(begin, bool)
    if not rows:
        return [], "", kept
    first, second, counts = map(np.array, zip(*rows, strict=True))
    held = held_rows(names, first, second, counts, sided=all(part.sided for part in parts))
    for place in np.flatnonzero(~held.kept).tolist():
        kept[places[place]] = False
    return held.said, held.refused, kept


def _known_in(parts: Sequence[Any], name: str, unknown: Any) -> np.ndarray:
    """What some files tell of each game, and of those of the others that it is not known."""
    told = [(getattr(part, name), len(part.first)) for part in parts]
    return np.concatenate([np.array([unknown] * n) if x is None else x for x, n in told])
