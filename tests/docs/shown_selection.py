"""The numbers of docs/papers/top_k_selection.md that take ten minutes each, for `shown_numbers`."""

import re
from collections.abc import Callable, Iterator

from shown_commands import Shown, column, extremes, line, made, row, said, several

PAGE = "docs/papers/top_k_selection.md"
Pick = Callable[[str], str]

# Several comparisons at once

BATCHES = made("topk-batches")
BATCHED = {
    "ML-POCBAm, one sweep": "ML-POCBAm",
    "hybrid, one sweep": "hybrid",
    "POCBAm": "POCBAm",
    "PKG, 2 pooled samples": "PKG, 2 pooled samples",
}


def _lost(name: str) -> Pick:
    """The share with B = 1 after the third number of comparisons, the losses."""
    label = f"| 4 of 10, {name} | B = "
    losses = (line(f"{label}{size} |", first=5, count=1) for size in (5, 15, 45))
    return several(line(f"{label}1 |", first=2, count=1), *losses)


def _losses(text: str, name: str = "") -> Iterator[tuple[float, float]]:
    """Of a method, or all: each loss and its error."""
    for one in re.findall(rf"^\| 4 of 10, {name}.*", text, re.MULTILINE):
        for loss, error in re.findall(r"lost (\S+) ± ([\d.]+)", one):
            yield float(loss), float(error)


BATCHED_CHOICES = [
    *(
        Shown(
            PAGE,
            row(PAGE, label, "after 1,035 | B = 1"),
            BATCHES,
            _lost(name),
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

# Variances mixed with those of all pairs

POOLED = made("topk-pooled", "success.csv")
POOLING = {
    "`KnowledgeGradient`": "PKG",
    "`Pocbam`": "POCBAm",
    "`MlPocbam`, one sweep": "ML-POCBAm, one sweep",
    "`MlPocbam`, stationary": "ML-POCBAm, stationary",
    "`HybridPocbam`": "hybrid",
}
_LAST = 2  # the column of the report


def _shares(label: str, method: str, weights: tuple[str, ...]) -> Shown:
    """Of scores and of wins, after 1,035 comparisons."""
    found = (
        line(f"| 4 of 10, {kind}, {method} | {weight} |", first=_LAST, count=1)
        for kind in ("scores", "wins")
        for weight in weights
    )
    text = row(PAGE, label, "after 1,035 comparisons |")
    return Shown(PAGE, text, POOLED, several(*found))


def _from_two(text: str) -> str:
    """By how much shares with 1 and 4 pooled samples differ from those with 2, at most."""
    found = re.findall(r"^\| (4 of 10, .* \| w =) (\d) \| (.*)", text, re.MULTILINE)
    rates = {(name, w): re.findall(r"([\d.]+) ±", row) for name, w, row in found}
    away = [
        abs(float(mine) - float(other))
        for (name, w), own in rates.items()
        if w in ("1", "4")
        for mine, other in zip(own, rates[name, "2"], strict=True)
    ]
    return f"2; {max(away):.3f}"


def _others(text: str) -> str:
    """In percent, how often the most frequent winners are not the best."""
    found = said(r"^In ([\d.]+) ± ([\d.]+) of the Thurstone")(text)
    return "{:.1f} ± {:.1f}".format(*(100 * float(one) for one in found.split("; ")))


POOLED_SAMPLES = [
    *(_shares(label, method, ("w = 0", "w = 2")) for label, method in POOLING.items()),
    _shares("`Uniform`", "PKG", ("uniform",)),
    Shown(
        PAGE,
        "2,000 problems (± .011)",
        POOLED,
        lambda text: f"2,000; {max(column(text, 'success_stderr', replications='2000')):.6f}",
    ),
    Shown(PAGE, "are as good as 2, to .02 everywhere", POOLED, _from_two),
    Shown(PAGE, "in 18 ± 1 % of random", POOLED, _others),
]

# The paper's methods

FOUR = made("thurstone-topk-4", "success.csv")


def _of_ten(method: str, top: int, count: int | None = None) -> Pick:
    """Shares after several numbers of comparisons."""
    return line(f"| {method} |", after=f"## Top {top} of 10", count=count)


PAPER = [
    *(
        Shown(
            PAGE,
            row(PAGE, label, "top 4 of 10, after | 135"),
            FOUR,
            several(*(_of_ten(label, top) for top in (4, 1))),
        )
        for label in ("ML-POCBAm, one sweep", "POCBAm", "uniform", "SELECT/TOP")
    ),
    Shown(
        PAGE,
        "each ± .004 to .005.",
        FOUR,
        lambda text: extremes([float(one) for one in re.findall(r" ± (0\.\d+)", text)]),
    ),
]

SHOWN = [*BATCHED_CHOICES, *POOLED_SAMPLES, *PAPER]
