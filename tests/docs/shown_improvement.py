"""The numbers of docs/papers/improvement.md that take ten minutes each, for `shown_numbers`."""

from shown_commands import Shown, column, line, made, row, rows, said, several

PAGE = "docs/papers/improvement.md"

# One batch

CAR = made("hcpi-mountain-car", "batches.csv")


def _car(size: str) -> Shown:
    """Of each bound the performance, and the published one."""
    found = (
        line(f"| {size} | {bound} |", count=count)
        for bound, count in {"ci": 2, "t": 2, "bca": 2, "betting": 1}.items()
    )
    return Shown(PAGE, row(PAGE, size, "n | ci |"), CAR, several(*found))


def _away(text: str, bound: str, size: int) -> tuple[float, float]:
    """By how much more it performs than published, also in standard errors."""
    (found,) = rows(text, bound=bound, n=str(size))
    published = line(f"| {size} | {bound} |", first=1, count=1)(text)
    more = float(found["performance"]) - float(published)
    return more, more / float(found["performance_stderr"])


def _ci_at_900(text: str) -> str:
    """With its own standard errors, and with those of a published one that is as large, too."""
    more, errors = _away(text, "ci", 900)
    return f"{more:.3f}; {errors:.2f}; {errors / 2**0.5:.2f}"


SHOWN = [
    *(_car(size) for size in ("50", "200", "900", "5,000")),
    Shown(
        PAGE,
        "are 2.4 and 2.3 away,",
        CAR,
        lambda text: f"{-_away(text, 't', 50)[1]:.2f}; {_away(text, 'bca', 200)[1]:.2f}",
    ),
    Shown(PAGE, "is .107 higher, 3.4 of its own and 2.4 of both.", CAR, _ci_at_900),
    Shown(
        PAGE,
        "None of the 802 policies declared safe",
        CAR,
        lambda text: f"{sum(column(text, 'found')):.0f}",
    ),
    Shown(
        PAGE,
        "rates are 0 in all cells; the paper has below .006, delta is .05.",
        CAR,
        several(
            lambda text: str(max(column(text, "error_rate"))),
            said(r"below (0\.\d+)"),
            said(r"delta (0\.\d+)"),
        ),
    ),
    Shown(
        PAGE,
        "100 trials\nof every size",
        CAR,
        lambda text: "; ".join({one["trials"] for one in rows(text) if "trials" in one}),
    ),
]
