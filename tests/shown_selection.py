"""The numbers of docs/top_k_selection.md that take ten minutes each, for tests/shown_numbers.py."""

import re
from collections.abc import Callable, Iterator

from shown_commands import Shown, extremes, line, made, row, said, several

PAGE = "docs/top_k_selection.md"
Pick = Callable[[str], str]

# Several comparisons at once

BATCHES = made("topk-batches")
BATCHED = {
    "ML-POCBAm, one sweep": "ML-POCBAm",
    "hybrid, one sweep": "hybrid",
    "POCBAm": "POCBAm",
    "PKG, 2 pooled samples": "PKG, 2 pooled samples",
}


def _lost(name: str, look: int) -> Pick:
    """The share with B = 1 after the first, second or third number of comparisons, the losses."""
    label = f"| 4 of 10, {name} | B = "
    losses = (line(f"{label}{size} |", first=2 * look + 1, count=1) for size in (5, 15, 45))
    return several(line(f"{label}1 |", first=look, count=1), *losses)


def _losses(text: str, name: str = "") -> Iterator[tuple[float, float]]:
    """Of a method, or all: each loss and its error."""
    for one in re.findall(rf"^\| 4 of 10, {name}.*", text, re.MULTILINE):
        for loss, error in re.findall(r"lost (\S+) ± ([\d.]+)", one):
            yield float(loss), float(error)


SHOWN = [
    *(
        Shown(
            PAGE,
            row(PAGE, label, "after | 225 |"),
            BATCHES,
            several(*(_lost(name, look) for look in range(3))),
        )
        for label, name in BATCHED.items()
    ),
    Shown(
        PAGE,
        "10, 5,000 random Thurstone problems, the share",
        BATCHES,
        several(said(r"problems of (\d+) options"), said(r"([\d,]+) random Thurstone")),
    ),
    Shown(
        PAGE,
        "differences on the same problems, .002 to .006)",
        BATCHES,
        lambda text: extremes([error for _, error in _losses(text)]),
    ),
    Shown(
        PAGE,
        "PKG loses up to .013 with",
        BATCHES,
        lambda text: str(max(_losses(text, "PKG"))[0]),
    ),
]
