"""Shared tasks in groups: weights, the order by lot, and what is said of them. Axes: K options."""

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxrace.answers.answer import listed
from jaxrace.core.validation import BadArgument
from jaxrace.evidence.groups import Lottery, groups_of_list, groups_of_stream, in_group_order
from jaxrace.judging.group_means import GroupMean
from jaxrace.judging.known import seeds_of
from jaxrace.judging.question import Question
from jaxrace.judging.scores import WORST, ScoreTable, by_task
from jaxrace.tables.by_name import all_numbers, numbers_by_name
from jaxrace.tables.items import read_items
from jaxrace.tables.sources import read_table

_UNLIKE = 2  # ranges of scores, of which one is so many times as wide as the other


def list_told(of: Any, columns: Mapping[str, Any]) -> dict[str, Any]:
    """What ``of`` says of a list of tasks: fields of ``Question``.

    A number of tasks; numbers by group, in a mapping or a file; or a file of all tasks.
    """
    if isinstance(of, str) and of.strip().isdecimal():
        of = int(of)
    if of is None or isinstance(of, int):
        return {"of": of}
    if not isinstance(of, Mapping):
        table = read_table("of", of)
        if [table.kind(head) for head in table.heads] != ["text", "number"]:
            names = columns.get("group_column"), columns.get("task_column")
            items = read_items("of", table, *names)
            groups = dict(zip(items.tasks, items.groups, strict=True))
            return {"of": len(groups), "of_items": groups}
        of = table
    sizes = all_numbers("of", of)
    if not all(size >= 1 and size == int(size) for size in sizes.values()):
        raise BadArgument("of", "a whole number of tasks for each group", listed([*sizes]))
    whole = {group: int(size) for group, size in sizes.items()}
    return {"of": sum(whole.values()), "of_groups": whole}


def in_lottery(question: Question, table: ScoreTable) -> ScoreTable:
    """The table with its tasks in an order by lot, which depends on the seed and on names alone.

    Tasks that nobody has run yet stand in it, too.
    """
    groups = question.of_items or dict(zip(table.task_names, table.groups, strict=False))
    if question.of_items is not None:
        table = _as_listed(table, groups)
    if not groups:
        hint = (
            ": group_column (--group-column) names their column, task_column (--task-column) that "
            "of the runs in each, such as run"
        )
        raise BadArgument("weights", "tasks in groups, as benchmarks", "no groups", hint)
    tasks: dict[str, list[str]] = {}
    for task in (*table.task_names, *(groups if question.of_items is not None else ())):
        tasks.setdefault(groups[task], []).append(task)
    tasks = {group: [*dict.fromkeys(own)] for group, own in sorted(tasks.items())}
    counts = {group: len(own) for group, own in tasks.items()}
    sizes = None if question.of is None else question.of_groups or counts
    if sizes is not None:
        sizes = dict(sorted(sizes.items()))
        if too_many := [g for g in counts if counts[g] > sizes.get(g, 0)]:
            got = f"{counts[too_many[0]]:,} in the table"
            expected = f"at least as many tasks of {too_many[0]} as there are"
            raise BadArgument("of", expected, got)
        if sum(sizes.values()) != question.of:
            hint = ": of={group: number}, or a file of all tasks, says how many are in each group"
            got = f"{sum(sizes.values()):,}: others are not in the table"
            raise BadArgument("of", f"the groups of all {question.of:,} tasks", got, hint)
    if question.weights == "size" and sizes is None and question.order_by_lot is None:
        hint = (
            ": order_by_lot=1 (--order-by-lot 1) takes the tasks of a complete table as they are, "
            "for one look; of=N (--of N) asks about N tasks that are all there are"
        )
        raise BadArgument("weights", "sizes that are known", "a table that may grow", hint)
    weights = weights_of(question.weights, sizes or counts)
    if sizes is None:
        drawn = groups_of_stream(weights, counts, question.seed)
    else:
        drawn = groups_of_list(weights, sizes, question.seed)
        if question.of_groups is None:  # all names are known: no order of the table matters
            tasks = {group: in_group_order(x, group, question.seed) for group, x in tasks.items()}
    order: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for group in drawn:
        place, own = seen[group], tasks.get(group, [])
        task = own[place] if place < len(own) else f"new task {place + 1 - len(own)} of {group}"
        order[task] = group
        seen[group] += 1
    order |= {task: group for group, own in tasks.items() for task in own}  # of streams, behind
    found = dataclasses.replace(table.in_task_order([*order]), groups=tuple(order.values()))
    by_name = sizes is not None and question.of_groups is None
    return dataclasses.replace(found, lottery=Lottery(weights, sizes, by_name, table))


def _as_listed(table: ScoreTable, groups: Mapping[str, str]) -> ScoreTable:
    """The table with its tasks as the list calls them: with the names of their groups, perhaps."""
    own = dict(zip(table.task_names, table.groups, strict=False))
    named = [x if x in groups else f"{own.get(x, '')} {x}".strip() for x in table.task_names]
    if odd := [x for x in named if x not in groups]:
        raise BadArgument("of", f"a list with the task {odd[0]!r}", f"{len(groups):,} others")
    new = dict(zip(table.task_names, named, strict=True))
    clusters = {
        head: {new[task]: label for task, label in of_task.items() if task in new}
        for head, of_task in table.clusters.items()
    }
    return dataclasses.replace(table, task_names=tuple(named), clusters=clusters)


def weights_of(asked: Any, counts: Mapping[str, int]) -> dict[str, float]:
    """Of groups with so many tasks, with sum 1."""
    if asked == "equal":
        found = dict.fromkeys(counts, 1.0)
    elif asked == "size":
        found = {group: float(count) for group, count in counts.items()}
    else:
        found = dict(zip(counts, numbers_by_name("weights", asked, [*counts]), strict=True))
    if min(found.values()) <= 0:
        raise BadArgument("weights", "numbers above 0", f"{min(found.values()):g}")
    total = math.fsum(found.values())
    return {group: weight / total for group, weight in found.items()}


def lottery_notes(question: Question, table: ScoreTable, lot: Lottery) -> list[str]:
    """Which groups there are, how they count, and what the order by lot waits for."""
    how = {"equal": "each group counts the same", "size": "each task counts the same"}
    by = how.get(str(question.weights), "")
    about = f"the question is about the mean over {len(lot.weights)} groups of tasks"
    about += f", where {by}" if by else ""
    if not by or question.of_groups or question.of_items:
        counts = lot.sizes or Counter(lot.before.groups)
        weights = "" if by else " with the weight {:.3g}"
        shown = [f"{x} {counts[x]:,}{weights.format(w)}" for x, w in lot.weights.items()]
        about += f": {listed(shown)}"
    spans = _spans(question, table)
    done, progress = table.in_order().tolist(), table.progress.tolist()
    if question.of is not None and min(progress) == question.of:
        return [about, *spans]
    by_name = lot.by_name or question.order_by_lot is not None
    within = "" if by_name else ", and within a group in the order of the table"
    waits = [
        f"{name} {here:,} of {run:,}"
        + ("" if question.is_complete else f", then {(*table.task_names, 'none')[here]}")
        for name, here, run in zip(table.names, done, progress, strict=True)
    ]
    if len({(here, run) for here, run in zip(done, progress, strict=True)}) == 1:
        waits = [waits[0].removeprefix(f"{table.names[0]} ")]
    at_all = ", in the answer for all looks," if question.is_complete else ""
    notes = [
        about,
        *spans,
        f"tasks count in an order drawn by lot among groups, seed {question.seed}{within}",
        f"this order waits for missing tasks; so far{at_all} count: {listed(waits)}",
    ]
    if lot.sizes and done < progress:  # of lists, of which some option waits
        notes[-1] += "; intervals also see how little the missing tasks of a list can change"
    return notes if question.final else notes + _used_up(table, lot)


def _spans(question: Question, table: ScoreTable) -> list[str]:
    """By mean, whether the scores of some group are far more spread than those of another."""
    if question.by != "mean" or table.tasks is None:
        return []
    groups, spans = np.array(table.groups, str), {}
    every, tasks = np.concatenate(table.values).astype(float), np.concatenate(table.tasks)
    for group in dict.fromkeys(table.groups):
        own = every[groups[tasks] == group]
        if own.size:
            spans[group] = float(own.min()), float(own.max())
    by_width = sorted(spans, key=lambda group: spans[group][1] - spans[group][0])
    widths = [spans[group][1] - spans[group][0] for group in (by_width[0], by_width[-1])]
    if widths[1] < _UNLIKE * widths[0] or widths[0] == 0:
        return []
    narrow, wide = (
        f"{x} from {spans[x][0]:,.6g} to {spans[x][1]:,.6g}" for x in (by_width[0], by_width[-1])
    )
    return [
        f"scores of groups have unlike scales, {narrow} but {wide}, which decides most of the "
        "mean over groups: bring them to one scale first, or ask by wins"
    ]


def _used_up(table: ScoreTable, lot: Lottery) -> list[str]:
    """Which group of a stream has no task left, and what to do."""
    place = int(table.in_order().max())
    counts = Counter(lot.before.groups)
    if lot.sizes or place >= len(lot.before.task_names):
        return []
    group = table.groups[place]
    if Counter(table.groups[:place])[group] < counts[group]:
        return []
    rest, seeds = len(lot.before.task_names) - place, seeds_of(table)
    new = f"a {seeds} more of each group" if seeds else f"new tasks of {group}"
    return [
        f"the {counts[group]:,} tasks of {group} are used up, and {rest:,} of others wait for more "
        f"of it: run {new}; or, if there are no more, final=True (--final) adds one look at all "
        "that there is"
    ]


def used_of(question: Question, table: ScoreTable) -> dict[str, int]:
    """Of each option the tasks that count so far; nothing of a list that was run whole."""
    if min(table.progress) == question.of:
        return {}
    return dict(zip(table.names, table.in_order().tolist(), strict=True))


def unused_of(table: ScoreTable) -> str | None:
    """Of which option most scores wait for a task that it lacks, and others have."""
    if table.lottery is None:
        return None
    done, progress = table.in_order(), table.progress
    known = {*table.lottery.before.task_names}
    waits = [
        option
        for option in np.flatnonzero(2 * done < progress).tolist()
        if table.task_names[done[option]] in known
    ]
    if not waits:
        return None
    worst = min(waits, key=lambda option: done[option])
    also = f", and {len(waits) - 1} more options lack others" if len(waits) > 1 else ""
    return (
        f"only {done[worst]:,} of {progress[worst]:,} scores of {table.names[worst]} count, as it "
        f"lacks {table.task_names[done[worst]]}, which comes next in the order by lot{also}: fill "
        "the gap, with an empty score and failed=NUMBER (--failed NUMBER) if it failed; or, "
        "without of, gaps='skip' "
        "(--gaps skip) leaves out tasks that not all have run, if gaps depend on no score"
    )


def group_means(question: Question, table: ScoreTable, pairs: Any) -> tuple[GroupMean, ...]:
    """The mean score of each option in each group, of runs that did not fail.

    Nothing of outcomes that are no numbers.
    """
    if question.compare is not None or table.lottery is None or table.tasks is None:
        return ()
    values = by_task([x.astype(float) for x in table.values], table.tasks, len(table.groups))
    values = np.where(np.abs(values) == WORST, np.nan, values)  # failed
    raw = dataclasses.replace(pairs, values=values)
    weights = table.lottery.weights.items()
    (totals, counts), (squares, _) = raw.sums(raw.task_means), raw.sums(raw.task_means**2)
    has_errors = question.final and min(table.progress) != question.of
    found = []
    for name, *of_one in zip(table.names, totals, counts, squares, strict=True):
        for (group, weight), total, count, square in zip(weights, *of_one, strict=True):
            mean = float(total) / count if count else None
            error = None
            if has_errors and mean is not None and count > 1:
                error = math.sqrt(max(square - count * mean**2, 0) / (count * (count - 1)))
            found.append(GroupMean(name, group, weight, int(count), mean, error))
    return tuple(found)
