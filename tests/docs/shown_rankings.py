"""The numbers of races by other rankings, for tests/docs/shown_numbers.py."""

from collections.abc import Callable

from shown_commands import Shown, cells, line, row, several

PAGE = "docs/papers/reproductions.md"
RANKED = (
    "python -m papers bf13-variants --out run > log; cat run/report.md; echo; cat run/races.csv"
)


def _reported(task: str, race: str, place: int, after: str = "") -> Callable[[str], str]:
    """Draws and accuracy: the published ones (place 0), or ours (1)."""
    label = f"| {task} | {race}"
    return several(
        *(line(label, first=first, count=1, after=after) for first in (place, place + 2))
    )


def _borda(task: str, k: int) -> list[Callable[[str], str]]:
    race = f"PBR-SE | {k} |"
    return [
        _reported(task, race, 0),
        _reported(task, race, 1),
        _reported(task, race, 1, "## The sharp rules"),
    ]


_WALK = [_reported("normal", "PBR-RW | 10 |", 0), _reported("normal", "PBR-RW | 10 |", 1)]

REPORTED = {
    "normal, 10": [*_borda("normal", 10), *_WALK],
    "normal, 4": _borda("normal", 4),
    "Bernoulli, drift k/5, 10": _borda("bernoulli, drift k/5", 10),
    "uniform, 10": _borda("uniform", 10),
}


def _measured(race: str, rule: str, bound: str) -> Callable[[str], str]:
    """Draws and accuracy with k = 4 and 10."""
    where = {"task": "normal", "algorithm": race, "rule": rule, "bound": bound}
    return several(*(cells("samples accuracy", **where, k=k) for k in ("4", "10")))


MEASURED = {
    "Borda, `stitched-kl`, sharp": [_measured("PBR-SE", "sharp", "stitched-kl")],
    "random walk, `published` (both rules) and `stitched-kl`": [
        _measured("PBR-RW", "sharp", "stitched-kl")
    ],
}

SHOWN = [
    Shown(PAGE, row(PAGE, label), RANKED, several(*picks))
    for label, picks in (REPORTED | MEASURED).items()
]
