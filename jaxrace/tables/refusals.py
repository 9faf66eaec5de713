"""What is refused to be raced: columns that are not of options, rows that are not of runs."""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from shlex import quote

import numpy as np

from jaxrace.core.validation import BadArgument
from jaxrace.tables.heads import (
    are_numbered_runs,
    may_name_option,
    names_again,
    names_place,
    names_property,
    names_remark,
    names_score,
    names_smaller,
    names_steps,
    names_task,
    word_set,
    words,
)
from jaxrace.tables.identifiers import FEWEST, identifier
from jaxrace.tables.numbers import labels_as_numbers
from jaxrace.tables.runs import Asked
from jaxrace.tables.table import Cell, Table, counts, quoted

# Of rows and columns that are made of others.
SUMMARIES = word_set(
    "all average avg avg. mean median std std. sum total mittelwert durchschnitt mittel summe "
    "gesamt stdabw stabw moyenne total. promedio media gemiddelde totaal"
)
_SUMMARY = re.compile(
    r"(average|avg\.?|mean|median|std\.?)( (rank|score|acc|accuracy|f1|auc|error))?"
)
# What one system has said, beside which are measures of it.
_SAID = word_set("response completion prediction generated_text model_output model_response output")
# What predictions are compared with.
_TRUTHS = word_set(
    "label labels y_true target targets truth ground_truth groundtruth gold gold_label reference "
    "expected true_label actual human_label human_labels majority_label expert_label annotation "
    "annotations gold_answer correct_answer"
)
NAMED = "--options names the columns of options"
_COLUMNS = "a column for each option"
_MOST_NAMED = 8  # in a hint
_LEAST_COUNTED = 6  # rows, from which on a column 0, 1, 2, ... is hardly one of scores

# What was measured.
_MEASURES = word_set(
    "metric metrics measure measurement quantity criterion scorer filter split phase statistic "
    "stat variable"
)
_SPLITS = re.compile(r"(train|test|val|valid|dev|eval|hold[ _-]?out)[a-z]*", re.IGNORECASE)
_COUNTS = word_set("index row run trial iteration")  # rows, if they begin at 0 or 1
_MOST = 20  # quantities of one column
_FEWEST_STEPS, _MOST_STEPS = 3, 2  # rows of one run; different steps for each row of the longest
_NO_ITEMS = names_steps, names_again, names_place  # but steps and runs, and what these are in


def require_options(table: Table, found: Mapping[str, np.ndarray], has_header: bool = True) -> None:
    """Raise unless columns can only be options, whose scores were found, float64 [n_i]."""
    options = [*found]
    if len(options) < 2:
        hint, got = _hint_of_one(table, options), quoted(options) or "none"
        raise table.wrong("two columns of scores or more", got, hint=hint)
    if are_numbered_runs(options) and has_header:
        got = f"{quoted(options)}, which seem to be runs of options without names"
        hint = f"name the options in a first column, or in the columns; {NAMED}"
        raise table.wrong(_COLUMNS, got, hint=hint)
    scores = [head for head in options if names_score(head)]
    if scores and has_header:
        hint = "--option-column and --score-column say so if there is a row for each run; else "
        raise table.wrong(_COLUMNS, repr(scores[0]), hint=hint + NAMED)
    counted = [head for head in options if counts(table.column(head))]
    if counted and len(table.lines) >= _LEAST_COUNTED:
        said = f"--task-column {quote(counted[0])} says so"
        hint = f"{said}; the scores of an option are in random order; {NAMED}"
        raise table.wrong(_COLUMNS, f"{counted[0]!r}, which seems to number the rows", hint=hint)
    _require_no_footer(table, found)
    _require_no_aggregates(table, found)
    _require_one_kind(table, found)
    _require_like_columns(table, options)
    truth = next((head for head in found if "_".join(words(head)) in _TRUTHS), None)
    if truth is not None:
        got = f"{truth!r}, which may be what the others are compared with"
        raise table.wrong(_COLUMNS, got, hint=f"a score says how right an option was; {NAMED}")
    if other := identifier(found):
        head, why = other
        kept = [one for one in found if one != head]
        hint = f"--task-column {quote(head)} if it names the tasks; else {NAMED}, such as "
        hint += as_options(kept)
        if len(kept) < 2:  # then columns of options are no answer
            hint = f"if it names the options, --option-column {quote(head)} says so; {NAMED}: "
            hint += f"--options {as_options([*found])}"
        raise table.wrong(_COLUMNS, f"{head!r}, {why}", hint=hint)


def _hint_of_one(table: Table, options: Sequence[str]) -> str:
    """What names the options where there is one column of scores at most."""
    others = [head for head in table.heads if head not in options]
    if any(table.kind(head) == "text" or not names_task(head) for head in others):
        return "if there is a row for each run, --option-column says which column names the options"
    if any(map(may_name_option, others)):
        return NAMED
    return "add a column, such as model, that names the option of each run"


def as_options(options: Sequence[str]) -> str:
    """The first names of options as ``--options`` takes them."""
    return quote(",".join(f'"{one}"' if "," in one else one for one in options[:_MOST_NAMED]))


def _require_no_footer(table: Table, found: Mapping[str, np.ndarray]) -> None:
    """Raise if the last row is the number, the sum or the mean of the rows above it, everywhere."""
    columns = [*found.values()]
    if len(table.lines) < _LEAST_COUNTED or {len(x) for x in columns} != {len(table.lines)}:
        return
    every = np.stack(columns)
    above, last = every[:, :-1], every[:, -1]
    if np.isnan(last).any() or np.isnan(above).all(1).any() or (above == last[:, None]).any():
        return
    spread, mean = np.nanmax(above, 1) - np.nanmin(above, 1), np.nanmean(above, 1)
    near = 0.005 * spread  # of means of two digits
    made = {
        "number": last == above.shape[1],
        "sum": abs(last - np.nansum(above, 1)) <= near,
        "mean": (abs(last - mean) <= near) | (abs(last - 100 * mean) <= 100 * near),
    }
    for name, is_it in made.items():
        if is_it.all():
            got = f"the {name} of those above below each option"
            hint = "leave out rows that summarise others"
            raise table.wrong("scores of a run", got, len(table.lines) - 1, hint=hint)


def require_no_tasks_as_options(table: Table, option: str, heads: Sequence[str]) -> None:
    """Raise if rows are called like tasks, and columns like runs of options without names."""
    if names_task(option) and are_numbered_runs(heads):
        got = f"rows of {option!r} and columns {quoted(heads)}, which seem to be runs"
        hint = f"--option-column {quote(option)} if its rows are the options; {NAMED}"
        raise table.wrong("names of options", got, hint=hint)


def _require_no_aggregates(table: Table, found: Mapping[str, np.ndarray]) -> None:
    """Raise if a column called so is the mean, sum or median of all others."""
    if len(found) < 3 or len({x.shape for x in found.values()}) > 1:
        return
    for head in [head for head in found if head.lower() in SUMMARIES]:
        every = np.stack([*(found[other] for other in found if other != head), found[head]])
        *rest, last = every[:, ~np.isnan(every).any(0)]
        made = [how(rest, axis=0) for how in (np.mean, np.sum, np.median)]
        if last.size and any(np.allclose(last, one) for one in made):
            hint = f"leave out what is made of the others; {NAMED}"
            raise table.wrong(_COLUMNS, repr(head), hint=hint)


def _require_one_kind(table: Table, found: Mapping[str, np.ndarray]) -> None:
    """Raise if some columns are of truth values, and another is not of 0 and 1."""
    flags = [head for head in found if table.numbers is None and table.kind(head) == "flag"]
    others = [head for head in found if head not in flags] if flags else []
    for head in [h for h in others if not np.isin(found[h][~np.isnan(found[h])], (0, 1)).all()]:
        got = f"truth values in {flags[0]!r}, and numbers in {head!r}"
        hint = "if there is a row for each run, --option-column and --score-column say so; else "
        raise table.wrong("columns of one measure", got, hint=f"{hint}{NAMED} of one of them")


def _require_like_columns(table: Table, options: list[str]) -> None:
    """Raise if two columns differ in the measure alone, as acc_x and loss_x."""
    smaller = {head: words(head) for head in options if names_smaller(head)}
    larger = {head: words(head) for head in options if head not in smaller}
    for (head, own), (other, its) in itertools.product(smaller.items(), larger.items()):
        unlike = [word for word, another in zip(own, its, strict=False) if word != another]
        if len(own) == len(its) > 1 == len(unlike) and names_smaller(unlike[0]):
            got, hint = f"{other!r} and {head!r}", f"{NAMED} of one of them"
            raise table.wrong("columns of one measure", got, hint=hint)


def require_tasks(
    table: Table, tasks: Mapping[str, np.ndarray], found: Mapping[str, np.ndarray]
) -> None:
    """Raise if a column called like one of tasks has fractions, or looks like those ``found``."""
    hint = f"--task-column says which column names the tasks; {NAMED}"
    pooled = np.concatenate([*found.values(), []])
    low, high = np.nanmin(pooled, initial=np.inf), np.nanmax(pooled, initial=-np.inf)
    for head, x in tasks.items():
        table.require(head, np.isnan(x) | (x == np.floor(x)), "the name of a task", hint)
        is_within = bool(np.all((x >= low) & (x <= high)))
        if may_name_option(head) and is_within and len(np.unique(x)) < len(x):
            raise table.wrong(_COLUMNS, f"{head!r}, which may name tasks or be one", hint=hint)


def without_properties(options: Sequence[str], said: list[str]) -> list[str]:
    """The columns of options without those that plainly are none, if two others are left."""
    left = [head for head in options if names_property(head)]
    if not left or len(options) - len(left) < 2:
        return [*options]
    said.append(f"left out, as their names are those of no options: {quoted(left)}; {NAMED}")
    return [head for head in options if head not in left]


def note_on_options(found: Mapping[str, np.ndarray]) -> list[str]:
    """A note of the columns that were taken for options, if one hardly is; float64 [n_i] each.

    It is called like a remark, is the same in all rows, or is of 0 and 1 where most are not, or
    not where most are.
    """
    kept = {head: x[np.isfinite(x)] for head, x in found.items()}
    kept = {head: x for head, x in kept.items() if len(x) >= FEWEST}
    answers = [head for head, x in kept.items() if np.isin(x, (0, 1)).all()]
    others = [head for head in kept if head not in answers]
    odd = [head for head, x in kept.items() if x.min() == x.max()]
    odd = odd if len(odd) < len(kept) else []
    odd += min(answers, others, key=len)
    odd = [head for head in found if head in odd or names_remark(head)]
    if not odd:
        return []
    what = f"{quoted(odd)} may be none"
    return [f"the options are the columns {quoted([*found], 12)}; {what}: {NAMED}"]


def names_summary(name: str) -> bool:
    """Is it a name of what is made of others, such as "Total" or "Average rank"?"""
    return name.lower() in SUMMARIES or _SUMMARY.fullmatch(name.lower()) is not None


def require_no_outputs(table: Table, texts: Sequence[str], options: Sequence[str]) -> None:
    """Raise if columns of numbers are beside what one system has said: they are its measures."""
    called = {"_".join(words(head)): head for head in texts}
    names = _SAID | ({"answer"} if {*called} & (_TRUTHS | {"contexts"}) else set())
    if said := [head for name, head in called.items() if name in names]:
        got = f"measures of what is in column {said[0]!r}"
        hint = f"add a column, such as model, that names the option of each run; if not, {NAMED}"
        raise table.wrong(_COLUMNS, got, hint=f"{hint}: --options {as_options(options)}")


def require_no_names_below(table: Table, texts: Sequence[str], options: Sequence[str]) -> None:
    """Raise if words that repeat may name options, and a column of seeds or sizes would win."""
    for head in texts:
        names = table.labels(head)
        if 2 * len(set(names)) > len(names) or len(set(names)) < 2:  # one word names no option
            continue
        labels = map(table.labels, options)
        sizes = ((len({*zip(names, one, strict=True)}), len({*one})) for one in labels)
        is_count = any(n == len(names) == len({*names}) * kinds for n, kinds in sizes)
        if is_count or len(options) <= 2:
            hint = (
                f"if they name the options, --option-column {quote(head)} and --score-column NAME "
                "say so; if "
            )
            hint += (
                f"not, {NAMED}: --options {as_options(options)}"
                if options
                else "they are scores, write them as numbers, such as 1 and 0"
            )
            got = f"words that repeat in column {head!r}"
            raise table.wrong("scores below the names of options", got, hint=hint)


def among(table: Table, asked: Asked, option: str | None) -> Table:
    """The rows of the options that are asked for by name; BadArgument if one has none."""
    if not asked.among or option is None:
        return table
    names = table.labels(option)
    if lacking := [name for name in asked.among if name not in names]:
        expected = f"names in column {option!r}: some of {quoted([*dict.fromkeys(names)], 12)}"
        raise BadArgument("options", expected, quoted(lacking))
    rows = [row for row, name in enumerate(names) if name in asked.among]
    left = [name for name in dict.fromkeys(names) if name not in asked.among]
    said = [f"left out, as --options does not name them: {quoted(left, 12)}"] * bool(left)
    return table.rows(rows, *said)


def selected(table: Table, where: Sequence[tuple[str, str]]) -> Table:
    """The rows with these values in these columns, without the columns; it says how many."""
    for head, value in where:
        table.require_heads([head])
        labels = table.labels(head)
        rows = [row for row, label in enumerate(labels) if label == value]
        if not rows:
            raise table.wrong(f"{value!r} in column {head!r}", quoted([*dict.fromkeys(labels)]))
        said = f"rows where {head}={value}: {len(rows):,} of {len(labels):,}"
        table = table.without([head]).rows(rows, said)
    return table


def names_measure(table: Table, head: str) -> bool:
    """Do words below a head say what was measured, as "metric", or "split" with train and test?"""
    found = words(head)
    if not found or found[-1] not in _MEASURES or table.kind(head) != "text":
        return False
    return found != ["split"] or all(_SPLITS.fullmatch(str(x)) for x in table.column(head))


def require_one_measure(
    table: Table,
    heads: Sequence[str],
    options: Sequence[str],
    tasks: Sequence[str] | None,
    are_asked: bool,
) -> None:
    """Raise if rows of an option, and of a task if these are known, are several quantities.

    ``heads`` may say so. Tasks that the caller has named, ``are_asked``, may have several scores.
    """
    runs = [*zip(options, tasks or options, strict=True)]
    num_runs = len({*runs})
    for head in heads:
        is_named = names_measure(table, head)
        if not is_named and (tasks is None or are_asked or table.kind(head) != "text"):
            continue
        values = table.labels(head)
        different, seen = [*dict.fromkeys(values)], {*zip(runs, values, strict=True)}
        # Are all of them there for each run?
        are_all = len(seen) == len(values) == num_runs * len(different) and len(different) <= _MOST
        if len(seen) > num_runs and (is_named or are_all):
            pair = f"{head}={different[0]}"
            hint = f"--where {quote(pair)} (where={pair!r}) takes its rows"
            if not is_named:
                hint += "; --task-column with the name of the tasks takes all as one quantity"
            got = f"{quoted(different)} in column {head!r}"
            raise table.wrong("rows of one quantity", got, hint=hint)


def require_no_curves(table: Table, names: Sequence[str], tasks: Sequence[str]) -> None:
    """Raise if an option has several steps, or samples, of one run: these are not so many runs."""
    expected = "one row for each run"
    sampled = [head for head in table.heads if words(head)[:1] in (["bootstrap"], ["resample"])]
    if sampled:
        hint = "leave that column out and keep one row of what was sampled"
        raise table.wrong(expected, f"column {sampled[0]!r}", hint=hint)
    others = [table.column(head) for head in tasks if not names_steps(head)]
    for step in filter(names_steps, tasks):
        seen: dict[tuple[str, ...], Cell] = {}
        curves = [(name, *map(str, run)) for name, *run in zip(names, *others, strict=True)]
        for row, cell in enumerate(table.column(step)):
            if seen.setdefault(curves[row], cell) != cell:
                got = f"another {step} of the same run of {names[row]}"
                hint = "keep one row of each curve"
                times = Counter(table.labels(step))
                if of_all := [label for label, n in times.items() if n == len({*curves})]:
                    pair = f"{step}={of_all[-1]}"
                    hint += f", as --where {quote(pair)} (where={pair!r}) does"
                hint += "; --task-column says what tells the runs apart"
                if items := [h for h in tasks if not any(is_no(h) for is_no in _NO_ITEMS)]:
                    hint += (
                        f"; if rows are answers, --cluster-column {quote(items[0])} counts each "
                    )
                    hint += f"{items[0]} once, by their mean"
                raise table.wrong(expected, got, row, step, hint=hint)


def require_no_clock(
    table: Table, heads: Sequence[str], names: Sequence[str], labels: Sequence[str], cluster: str
) -> None:
    """Raise if a column that is not used counts the rows of each option and task, as steps do."""
    cells = [*zip(names, labels, strict=True)]
    if max(Counter(cells).values()) < _FEWEST_STEPS:
        return
    for head in [head for head in heads if table.kind(head) == "number" and not names_again(head)]:
        column = labels_as_numbers(table, head).tolist()
        own: dict[tuple[str, str], list[float]] = {}
        for cell, number in zip(cells, column, strict=True):
            if number == number:
                own.setdefault(cell, []).append(number)
        rises = all(x < y for numbers in own.values() for x, y in itertools.pairwise(numbers))
        longest = max(map(len, own.values()), default=0)
        different = {number for number in column if number == number}
        if rises and longest >= _FEWEST_STEPS and len(different) <= _MOST_STEPS * longest:
            pair = f"{head}={table.labels(head)[column.index(max(different))]}"
            hint = f"of a learning curve --where {quote(pair)} (where={pair!r}) takes the last one"
            if cluster:
                hint += f"; of samples --cluster-column {quote(cluster)} takes the mean of each"
            got = f"column {head!r}, which rises in the {longest} rows of each, as a step does"
            raise table.wrong("one row for each option and task", got, hint=hint)


def without_counts(table: Table, tasks: Sequence[str], options: Sequence[str]) -> list[str]:
    """Columns of tasks but for those that count rows of each option, or are the same in all."""
    repeat = len(options) > len({*options})
    labels = {head: table.labels(head) for head in tasks}
    labels = {head: column for head, column in labels.items() if not repeat or len({*column}) > 1}
    for head in [head for head in labels if "_".join(words(head)) in _COUNTS]:
        others = [options, *(column for other, column in labels.items() if other != head)]
        counted: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for label, *run in zip(labels[head], *others, strict=True):
            counted[tuple(run)].append(label)
        if all(counts(sorted(found, key=lambda x: (len(x), x))) for found in counted.values()):
            del labels[head]
    return [*labels]
