"""The numbers of docs/papers/dueling.md that take ten minutes each, for `shown_numbers`."""

from shown_commands import Shown, line, made, row, said, several

PAGE = "docs/papers/dueling.md"

_LINEUP = "rucb,dts,sup-klucb,rmed1,merge-rucb,self-sparring,uniform"
SIDE_BY_SIDE = "; ".join(
    f"python -m papers.duels {matrix} --horizon 20000 --algorithm {_LINEUP} --out {number}"
    for number, matrix in enumerate(("hard-condorcet --arms 10", "linear --arms 30"))
)
FIRST = made("sup-klucb-25")
BANDITS = made("savage-bandits")


def _arms(label: str, *counts: int) -> Shown:
    """Regrets, and published ones, of the rigged bandit, the best arm, counting."""
    found = (
        line(f"| {label} |", count=count, after=f"## {task}")
        for task, count in zip(("Rigged", "Best arm", "Counting"), counts, strict=False)
    )
    return Shown(PAGE, row(PAGE, label, "| rigged |"), BANDITS, several(*found))


def _beside(label: str, name: str) -> Shown:
    """Strong and Copeland's regret, and the share that is right, of two matrices."""
    found = (line(f"{name}  ", count=3, after=after) for after in ("", "BEST: "))
    return Shown(PAGE, row(PAGE, label, "| strong, 10"), SIDE_BY_SIDE, several(*found))


SHOWN = [
    _beside("RUCB", "rucb"),
    _beside("DTS", "dts"),
    _beside("Sup-KLUCB", "sup-klucb"),
    _beside("RMED1", "rmed1"),
    _beside("MergeRUCB", "merge-rucb"),
    _beside("Self-Sparring", "self-sparring"),
    _beside("two random arms", "uniform"),
    Shown(
        PAGE,
        row(PAGE, "the first 25 (figure 1)", "games | number |"),
        FIRST,
        line("| first 25 games |", count=4),
    ),
    Shown(
        PAGE,
        "K uniform on 3 to 36, 25 runs of 100,000 duels",
        FIRST,
        said(r"winner, (\d+) to (\d+) arms, (\d+) runs each of ([\d,]+) duels"),
    ),
    _arms("SAVAGE, sampled", 2, 1, 1),
    _arms("SAVAGE", 2, 1, 1),
    _arms("elimination, wrapped", 2),
    _arms("uniform", 2, 1, 1),
    _arms("UCB1, wrapped", 2),
    *(_arms(label, 1, 1, 1) for label in ("elimination", "UCB1", "KL-UCB")),
    Shown(
        PAGE,
        "100 arms, 20 runs of 200,000 choices (the paper has 1,000 runs;",
        BANDITS,
        several(
            said(r"^(\d+) arms that pay"),
            said(r", (\d+) runs \("),
            said(r"\) of ([\d,]+) choices"),
            said(r"\(the paper has ([\d,]+)\)"),
        ),
    ),
]
