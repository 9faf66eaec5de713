"""Every number of README.md and docs/ that a command makes: where it stands, and the command.

    python tests/docs/shown_numbers.py [PART]

runs the commands that take minutes, of those with PART in the file's name or the command, and says
what comes out otherwise than it is shown; the slow tests do so, too. Commands that are not run are
in tests/docs/shown_exempt.py, with what keeps them out. Blocks of Python and what is shown below
them are those of test_examples.py, what notebooks print that of test_notebooks.py.
"""

import sys
from collections.abc import Callable

import shown
import shown_choices
import shown_commands
import shown_dueling
import shown_improvement
import shown_rankings
import shown_reproductions
import shown_selection
from shown_commands import CHECKOUT, Shown, cells, everything, line, several

# README.md and the medical task

TRAIN = "jaxrace train medical --out run"


CONSTANT = f"{TRAIN} --method constant"

METHODS = {
    "Fast PB-EDPS": "pb-edps-fast",
    "Fast EDPS": "edps-fast",
    "PB-EDPS": "pb-edps",
    "EDPS": "edps",
}
LEARNERS = {"SARSA(lambda)": "sarsa", "PBPI": "pbpi"}
OTHER_DOSES = {"constant 0.55": "0.55", "constant 0.6": "0.6"}  # those of no other command


def _policy(name: str, hazard: str) -> tuple[str, Callable[[str], str]]:
    """The command that evaluates it, and its survival, C_S, C_X and reward."""
    if name in LEARNERS:
        return shown_reproductions.OUTCOMES, shown_reproductions.of_outcomes(LEARNERS[name], hazard)
    call = f"{TRAIN} --method {METHODS.get(name, 'pb-edps')}"
    action = ""
    if name in OTHER_DOSES:
        call, action = CONSTANT, f" --action {OTHER_DOSES[name]}"
    label = METHODS.get(name, name.replace("1.0", "1"))
    return f"{call} --hazard {hazard}{action}", line(f"{label} ")


def _survival(name: str, hazard: str, cell: str) -> Shown:
    command, pick = _policy(name, hazard)
    return Shown("docs/jax/medical.md", cell, command, lambda text: pick(text).partition(";")[0])


def _medical() -> list[Shown]:
    """Two tables, which have fewer digits than the commands print."""
    found = []
    for row in (CHECKOUT / "docs/jax/medical.md").read_text("utf-8").splitlines():
        match row.strip("| ").split(" | "):
            case [name, a, b] if "±" in b:
                found += [_survival(name, "A", a), _survival(name, "B", b)]
    page = "docs/papers/reproductions.md"
    for row in (CHECKOUT / page).read_text("utf-8").splitlines():
        match row.split(" | ", 2):
            case ["| A" | "| B" as hazard, name, text]:
                found.append(Shown(page, text, *_policy(name, hazard[-1])))
    return found


def _readme_training() -> list[Shown]:
    labels = (
        "pb-edps-fast",
        "constant 0.1",
        "constant 0.4",
        "constant 0.7",
        "constant 1 ",
        "random",
    )
    lines = (CHECKOUT / "README.md").read_text("utf-8").splitlines()
    found = []
    for label in labels:
        (row,) = (row for row in lines if row.startswith(f"    {label}"))
        text = row.strip().removeprefix(label)
        found.append(Shown("README.md", text, TRAIN, line(label)))
    return found


MEDICAL = [*_readme_training(), *_medical()]


# The figures of racing.md and dominance_race.md, and README's

# By the scripts of the figures: all that those draw takes ten minutes.
SAVED = """cd docs/figures
python - <<END | grep -v ^{
import sys
import samples_saved as script
rows = script.measure_bounds()
choices = script.RACES_COMPARED["published race"]
sizes = script.OPTIONS, script.TOP, script.ROUNDS, script.total_order
race = script.racing.PreferenceRace(*sizes, **choices)
for k in (4, 10):
    own = {"bound": "published", "dynamic_delta": "printed rule", "k": k}
    rows.append({**own, **script.measure(race, float(k))})
writer = script.csv.DictWriter(sys.stdout, rows[0])
writer.writeheader()
writer.writerows(rows)
END"""

DOMINANCE = """cd docs/figures
python - <<END
import sys
import dominance_race as script
rows = [
    {"task": task, "race": name, "k": k, **script.measure(race, script.TASKS[task], float(k))}
    for task, k in (("normal", 10), ("normal", 1), ("Bernoulli", 10))
    for name, (race, _) in script.RACES_COMPARED.items()
]
writer = script.csv.DictWriter(sys.stdout, rows[0])
writer.writeheader()
writer.writerows(rows)
END"""


def _bounds(*names: str) -> Callable[[str], str]:
    """Samples by the bounds of these names."""
    return several(*(cells("samples", bound=name, dynamic_delta="False") for name in names))


def _dominance(race: str, columns: str, k: int = 10, task: str = "normal") -> Callable[[str], str]:
    return cells(columns, race=race, k=str(k), task=task)


BOUNDS_PAGE = "docs/theory/preference_race.md"
BOUNDS = {
    "stitched-kl": "1136",
    "stitched": "1169",
    "kl": "1248",
    "tight": "1292",
    "published": "1337",
    "verdict": "1253",
    "kl-verdict": "1209",
    "stitched-verdict": "1125",
    "stitched-kl-verdict": "1094",
    "open-stitched": "1273",
    "open-stitched-kl": "1242",
}

PUBLISHED, SHARP, DOMINANT = "published race", "sharp rule", "dominance race"
STITCHED = "sharp rule, stitched KL bound"

FIGURES = [
    *(
        Shown(BOUNDS_PAGE, f"| `{name}` | {samples} |", SAVED, several(_bounds(name)))
        for name, samples in BOUNDS.items()
    ),
    *(
        Shown("docs/jax/racing.md", f" {BOUNDS[name]}", SAVED, several(_bounds(name)))
        for name in ("stitched-kl", "published", "stitched-kl-verdict", "open-stitched-kl")
    ),
    Shown(
        BOUNDS_PAGE,
        "| `published` with `dynamic_delta` (heuristic) | 1304 |",
        SAVED,
        cells("samples", bound="published", dynamic_delta="True"),
    ),
    Shown(
        "docs/jax/dominance_race.md",
        "| 545 | .9907 | .916 | 559 |",
        DOMINANCE,
        several(
            _dominance(DOMINANT, "samples accuracy"),
            _dominance(DOMINANT, "accuracy", 1),
            _dominance(DOMINANT, "samples", task="Bernoulli"),
        ),
    ),
    Shown(
        "docs/jax/dominance_race.md",
        "| 2343 | .9907 | .918 | 1509 |",
        DOMINANCE,
        several(
            _dominance(PUBLISHED, "samples accuracy"),
            _dominance(PUBLISHED, "accuracy", 1),
            _dominance(PUBLISHED, "samples", task="Bernoulli"),
        ),
    ),
    *(
        Shown(
            "docs/jax/dominance_race.md",
            shown_commands.row("docs/jax/dominance_race.md", race),
            DOMINANCE,
            several(
                _dominance(name, "samples accuracy"),
                _dominance(name, "samples", task="Bernoulli"),
            ),
        )
        for race, name in (("sharp rule", SHARP), ("stitched KL bound", STITCHED))
    ),
    Shown(
        "docs/jax/racing.md",
        "where we measure 2938;",
        SAVED,
        cells("samples", dynamic_delta="printed rule", k="4"),
    ),
    Shown(
        "docs/jax/racing.md",
        "against our .992 and .977.",
        SAVED,
        several(*(cells("accuracy", dynamic_delta="printed rule", k=k) for k in ("10", "4"))),
    ),
    Shown(
        "docs/jax/racing.md",
        "2338 samples, the sharp rule with the same bound 1337, the default 1136, "
        "all at an accuracy of .992:",
        SAVED,
        several(
            cells("samples", dynamic_delta="printed rule", k="10"),
            _bounds("published", "stitched-kl"),
            cells("accuracy", bound="stitched-kl", dynamic_delta="False"),
        ),
    ),
]

# docs/papers/audit.md


def _audited() -> str:
    """The table of the races by value: a row for each race, a column for each task."""
    page = (CHECKOUT / "docs" / "papers" / "audit.md").read_text("utf-8")
    part = page.partition("## Races by value\n")[2].partition("\n## ")[0]
    return "\n".join([row for row in part.splitlines() if row.startswith("| ")][2:])


def _by_race(text: str) -> str:
    """What is wrong of 100,000: the most of the sound races on each task, and the control."""
    rows = [row.split(" | ") for row in text.splitlines() if row.startswith("| ")][2:]
    assert {row[3] for row in rows} == {"100,000"}
    assert len(rows) == 15  # five races on each of three tasks
    sound, control = [], []
    for *others, last in (rows[start : start + 5] for start in (0, 5, 10)):
        counts = [[one.value for one in shown.numbers(" | ".join(row[4:]))] for row in others]
        sound += [f"{max(column):.0f}" for column in zip(*counts, strict=True)]
        control += last[4:]
    return "; ".join(sound + control)


AUDIT = [Shown("docs/papers/audit.md", _audited(), "python -m papers.audits.value", _by_race)]

# docs/papers/improvement.md

ERRORS_OF_BOUNDS = "python -m papers hcpi-bounds --out run > log; cat run/bounds.csv"

SIZES = ("20", "200", "2000")


def _errors(text: str, bound: str) -> Shown:
    rates = [cells("error_rate", bound=bound, n=size) for size in SIZES]
    means = [cells("mean_bound", bound=bound, n=size) for size in SIZES]
    return Shown("docs/papers/improvement.md", text, ERRORS_OF_BOUNDS, several(*rates, *means))


IMPROVEMENT = [
    _errors("| 0 | 0 | 0 | 6.7 | 72.6 | 93.5 |", "ci"),
    _errors("| .0001 | .0062 | .0160 | 36.9 | 85.8 | 96.2 |", "betting"),
    _errors("| .0001 | .0113 | .0267 | 36.7 | 83.2 | 94.2 |", "betting-anytime"),
    _errors("| 0 | 0 | 0 | -168 | 64.8 | 93.5 |", "bernstein"),
    _errors("| .0260 | .0403 | .0463 | 73.5 | 91.8 | 97.4 |", "t"),
    _errors("| .0551 | .0518 | .0495 | 78.5 | 92.3 | 97.4 |", "bca"),
    _errors("| .0411 | .0440 | .0471 | 76.4 | 92.0 | 97.4 |", "percentile"),
]

# The tables that README's commands print

PRINTED = [
    Shown(
        "README.md",
        """    1  tuned       400   0.755      4       in
    2  large       400    0.64      2      out
    3  distilled   400  0.6075      2      out
    4  base        400  0.5175      0      out
    5  small       400   0.465      0      out
""",
        "jaxrace race docs/data/answers.csv --shared --by mean --low 0 --high 1 "
        "| head -n 8 | tail -n 5",
        everything,
    ),
]

# docs/jax/racing.md: what is printed below blocks of Python is in tests/docs/test_examples.py.

SHOWN = [
    *MEDICAL,
    *PRINTED,
    *FIGURES,
    *AUDIT,
    *IMPROVEMENT,
    *shown_reproductions.SHOWN,
    *shown_rankings.SHOWN,
    *shown_choices.SHOWN,
    *shown_dueling.SHOWN,
    *shown_selection.SHOWN,
    *shown_improvement.SHOWN,
]


def commands() -> list[str]:
    """Of all that is shown, each once."""
    return list(dict.fromkeys(one.command for one in SHOWN))


def differences(command: str) -> list[str]:
    """Of all that one command makes."""
    mine = [one for one in SHOWN if one.command == command]
    return [f"{one.file}: {found}" for one in mine for found in one.differences()]


def main() -> int:
    """Say what comes out otherwise."""
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    count = 0
    for command in commands():
        files = {one.file for one in SHOWN if one.command == command}
        if not any(part in name for name in (command, *files)):
            continue
        print(command, flush=True)
        found = differences(command)
        count += len(found)
        print(*(f"    {said}" for said in found), sep="\n", flush=True)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
