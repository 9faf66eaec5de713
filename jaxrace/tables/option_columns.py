"""Which columns of numbers can be those of options, and which cannot."""

from collections.abc import Mapping
from shlex import quote

import numpy as np

from jaxrace.tables.cells import counts, label_of
from jaxrace.tables.directions import names_smaller
from jaxrace.tables.heads import are_numbered_runs, may_name_option, names_score, words
from jaxrace.tables.identifiers import identifier
from jaxrace.tables.sides import sides_of
from jaxrace.tables.table import Table, listed

# Of rows and columns that are made of others; "All" is that of pandas.
SUMMARIES = frozenset(("all", "average", "avg", "mean", "median", "std", "sum", "total"))
# What predictions are compared with.
_TRUTHS = (
    *("label", "labels", "y_true", "target", "targets", "truth", "ground_truth", "groundtruth"),
    *("gold", "gold_label", "reference", "expected", "true_label", "actual"),
)
NAMED = "--options names the columns of options"
_MOST_NAMED = 8  # in a hint
_LEAST_COUNTED = 6  # rows, from which on a column 0, 1, 2, ... is hardly one of scores


def require_options(table: Table, found: Mapping[str, np.ndarray], has_header: bool = True) -> None:
    """Raise unless columns can only be options, whose scores were found, float64 [n_i]."""
    _require_names_of_options(table, [*found], has_header)
    _require_no_summaries(table, found)
    _require_one_measure(table, [*found])
    truth = next((head for head in found if "_".join(words(head)) in _TRUTHS), None)
    if truth is not None:
        got = f"{truth!r}, which may be what the others are compared with"
        hint = f"a score says how right an option was; {NAMED}"
        raise table.wrong("a column for each option", got, hint=hint)
    if other := identifier(found):
        head, why = other
        kept = quote(",".join([one for one in found if one != head][:_MOST_NAMED]))
        hint = f"--task-column {quote(head)} if it names the tasks; else {NAMED}, such as {kept}"
        raise table.wrong("a column for each option", f"{head!r}, {why}", hint=hint)


def _require_one_measure(table: Table, options: list[str]) -> None:
    """Raise if two columns differ in the measure alone, as acc_x and loss_x."""
    parted = {head: words(head) for head in options}
    smaller = [head for head in options if names_smaller(head)]
    for head in smaller:
        for other in [head for head in options if head not in smaller]:
            pairs = [*zip(parted[head], parted[other], strict=False)]
            unlike = [own for own, its in pairs if own != its]
            is_like = len(parted[head]) == len(parted[other]) > 1 == len(unlike)
            if is_like and names_smaller(unlike[0]):
                got, hint = f"{other!r} and {head!r}", f"{NAMED} of one of them"
                raise table.wrong("columns of one measure", got, hint=hint)


def require_tasks(
    table: Table, tasks: Mapping[str, np.ndarray], found: Mapping[str, np.ndarray]
) -> None:
    """Raise if a column that is called like one of tasks has fractions, or is as the others are."""
    hint = f"--task-column says which column names the tasks; {NAMED}"
    pooled = np.concatenate([*found.values(), []])
    low, high = np.nanmin(pooled, initial=np.inf), np.nanmax(pooled, initial=-np.inf)
    for head, x in tasks.items():
        table.require(head, np.isnan(x) | (x == np.floor(x)), "the name of a task", hint)
        is_within = bool(np.all((x >= low) & (x <= high)))
        if may_name_option(head) and is_within and len(np.unique(x)) < len(x):
            got = f"{head!r}, which may name tasks or be one"
            raise table.wrong("a column for each option", got, hint=hint)


def _require_no_summaries(table: Table, found: Mapping[str, np.ndarray]) -> None:
    for head in [head for head in found if head.lower() in SUMMARIES and len(found) > 2]:
        numbers, others = found[head], [found[other] for other in found if other != head]
        if all(other.shape == numbers.shape for other in others):
            every = np.stack([*others, numbers])
            *rest, last = every[:, ~np.isnan(every).any(0)]
            made = [how(rest, axis=0) for how in (np.mean, np.sum, np.median)]
            if last.size and any(np.allclose(last, one) for one in made):
                hint = f"leave out what is made of the others; {NAMED}"
                raise table.wrong("a column for each option", repr(head), hint=hint)


def require_no_names_below(table: Table, texts: list[str], options: list[str]) -> None:
    """Raise if words that repeat may name options, and columns of numbers be none.

    So it may be with one or two columns of numbers, or where one of them counts the runs of each
    word: read as options, a column of seeds or sizes would win.
    """
    for head in texts:
        names = [*map(label_of, table.column(head))]
        if 2 * len(set(names)) > len(names):
            continue
        seen = ({*zip(names, map(label_of, table.column(one)), strict=True)} for one in options)
        counts = any(
            len(pairs) == len(names) == len(set(names)) * len({label for _, label in pairs})
            for pairs in seen
        )
        if counts or len(options) <= 2:
            hint = (
                f"if they name the options, --option-column {quote(head)} and --score-column NAME "
                f"say so; if not, --task-column or --group-column {quote(head)}"
            )
            got = f"words that repeat in column {head!r}"
            raise table.wrong("scores below the names of options", got, hint=hint)


def require_no_comparisons(table: Table, texts: list[str]) -> None:
    """Raise if two columns of words are those of comparisons."""
    try:
        sides = sides_of(table, None, None, None)
    except ValueError:
        return
    if {sides.first, sides.second} <= {*texts}:
        got = f"comparisons of {sides.first!r} and {sides.second!r}"
        hint = "`jaxrace select` ranks by these"
        raise table.wrong("scores of options", got, hint=hint)


def _require_names_of_options(table: Table, options: list[str], has_header: bool) -> None:
    """Raise unless columns can only be options."""
    settled = "--option-column and --score-column say so if there is a row for each run; else "
    if len(options) < 2:
        hint = "if there is a row for each run, --option-column says which column names the options"
        raise table.wrong("two columns of scores or more", listed(options) or "none", hint=hint)
    if are_numbered_runs(options) and has_header:
        got = f"{listed(options)}, which seem to be runs of options without names"
        hint = f"name the options in a first column, or in the columns; {NAMED}"
        raise table.wrong("a column for each option", got, hint=hint)
    scores = [head for head in options if names_score(head)]
    if scores and has_header:
        hint = settled + NAMED
        raise table.wrong("a column for each option", repr(scores[0]), hint=hint)
    counted = [head for head in options if counts(table.column(head))]
    if counted and len(table.lines) >= _LEAST_COUNTED:
        said = f"--task-column {quote(counted[0])} says so"
        hint = f"{said}; the scores of an option are in random order; {NAMED}"
        got = f"{counted[0]!r}, which seems to number the rows"
        raise table.wrong("a column for each option", got, hint=hint)
