"""The matrix of costs that irace keeps of its experiments, as R writes it."""

import re

from jaxrace.tables.reading import score_in
from jaxrace.tables.runs import Asked, SourceRuns
from jaxrace.tables.table import Table, counts, is_blank

_NUMBER = re.compile(r"[1-9]\d*")
_TESTED = re.compile(r"\d+t")  # what irace calls the instances of a test
_ROWS = ([""], ["instance"], ["instance", "seed"])


def irace(table: Table, asked: Asked) -> SourceRuns | None:
    """Costs: options are configurations by their numbers, tasks instances, each of all its seeds.

    What a configuration was not run on is NA. Where rows have no head, tests are told by the names
    of their instances; other experiments by gaps, or by numbers that are not 1, 2, ...
    """
    rows = [head for head in table.heads if not _NUMBER.fullmatch(head)]
    if rows not in _ROWS or len(rows) + 2 > len(table.heads) or asked.columns:
        return None
    options = [head for head in table.heads if head not in rows]
    labels = [table.labels(head) for head in rows]
    is_known = rows == [""]
    if is_known:
        has_gaps = any(is_blank(cell) for head in options for cell in table.column(head))
        are_experiments = counts(labels[0]) and (has_gaps or not counts(options))
        if not (are_experiments or all(map(_TESTED.fullmatch, labels[0]))):
            return None
    tasks, seeds = labels[0], labels[-1]
    runs = [
        (head, score_in(table, cell), task, seed)
        for head in options
        for task, seed, cell in zip(tasks, seeds, table.column(head), strict=True)
        if not is_blank(cell)
    ]
    said = "irace: options are configurations, tasks instances"
    return SourceRuns(
        *(table.argument, table.where),
        [option for option, *_ in runs],
        [cost for _, cost, *_ in runs],
        [task for _, _, task, _ in runs],
        (f"{said}; costs, smaller is better" if is_known else said,),
        smaller=is_known,
        task_order=tasks,
        measures=("cost",),
        again=[seed for *_, seed in runs] if len(rows) == 2 else None,
        again_by="seed",
    )
