"""Are shared tasks alike, as a stream must be, or in an order by lot, as a list must be?

If they are, each order of the tasks is equally likely. Given how many of n tasks that decide a pair
its first option wins, m, all n choose m arrangements of its wins are, and

    e = (n choose m) Q(the arrangement)

has a mean of at most 1, whatever the law Q of arrangements that was fixed in advance: chance makes
it reach 1 / p with a probability of at most p (Markov). So does a mean of such e, over pairs and
laws, however they depend on each other. The laws here give each block of consecutive tasks a share
of wins of its own, from a beta distribution; blocks are halves, quarters and so on, or named.
Axes: K options, P pairs, T tasks, G blocks.
"""

import dataclasses
import hashlib
import math
import re
from collections import Counter
from shlex import quote
from typing import NamedTuple

import numpy as np

from jaxrace.answers.answer import listed
from jaxrace.core.validation import BadArgument, DataRefused
from jaxrace.evidence.copies import log_p_of_stretches
from jaxrace.evidence.gamma import log_beta, log_choose
from jaxrace.evidence.independence import (
    REFUSED,
    WARNED,
    doubt_about_rows,
    runs_of_numbers,
    sorted_options,
)
from jaxrace.evidence.process import FloatArray, IntArray
from jaxrace.evidence.tasks import SharedPairs
from jaxrace.judging.known import seeds_of
from jaxrace.judging.scores import ScoreTable, by_task, ranks
from jaxrace.tables.clusters import ways_to_count

# Sums of the two parameters of the beta distributions: from unlike blocks to nearly alike ones.
_SUMS = (2.0, 8.0, 32.0, 128.0)
_LEAST_BLOCK, _MOST_BLOCKS = 8, 512

_DIGITS = 8, 5, 3  # that rows are compared to, beside all

_MOST_TASKS = 2_000_000  # of pairs that are looked at: of many options not all pairs

# The weights of the mean: named blocks, where there are any; and stretches of equal tasks.
_NAMED_SHARE, _STRETCHES_SHARE = 0.45, 0.1

ORDER_BY_LOT = (
    "order_by_lot=SEED (--order-by-lot SEED) puts the tasks of a complete table in a random order, "
    "for one look"
)

_FEW_STRETCHES = 4  # of tasks of one group, for each group: these may be refused outright


class _OrderDoubt(NamedTuple):
    log_e: float
    what: str


def in_order_by_lot(table: ScoreTable, seed: int) -> ScoreTable:
    """The tasks in a random order that depends on the seed and their names alone.

    ValueError if an option lacks a task, or the table is a shorter one several times.
    """
    assert table.tasks is not None
    number = len(table.task_names)
    short = [name for name, n in zip(table.names, table.progress, strict=True) if n < number]
    if short:
        raise BadArgument(
            *("order_by_lot", f"a table in which every option has run all {number:,} tasks"),
            f"fewer of {listed(short)}",
            ": gaps='skip' (--gaps skip) leaves out tasks that not all have run, if gaps depend on "
            "no score",
        )
    doubt_about_copies(table, by_task(ranks(table.values), table.tasks, number))
    digests = {x: hashlib.sha256(f"{seed}\n{x}".encode()).digest() for x in table.task_names}
    return table.in_task_order(sorted(table.task_names, key=digests.__getitem__))


def doubt_about_copies(table: ScoreTable, values: FloatArray, *, refuse: bool = True) -> str | None:
    """Why tasks of a table, as values [K, T, R], are hardly others: see ``doubt_about_rows``.

    Rows that are drawn independently still are if all are rounded: so noise hides no copies.
    """
    assert table.tasks is not None
    codes = {"": _codes(values)}
    are_floats = all(column.dtype.kind == "f" for column in table.values)
    for digits in _DIGITS if are_floats else ():
        rounded = [_to_digits(column, digits) for column in table.values]
        if any((x != y).any() for x, y in zip(rounded, table.values, strict=True)):
            found = by_task(rounded, table.tasks, len(table.task_names))
            codes[f", to {digits} digits"] = _codes(found)
    return doubt_about_rows("tasks", codes, refuse=refuse)


def _to_digits(values: FloatArray, digits: int) -> FloatArray:
    """Rounded to so many digits from the first on that is not 0."""
    size = np.where(np.isfinite(values) & (values != 0), np.abs(values), 1.0)
    with np.errstate(all="ignore"):  # of the largest and smallest floats there are
        step = np.maximum(10.0 ** (np.floor(np.log10(size)) + 1 - digits), 5e-324)
        return np.round(values / step) * step


def doubt_about_order(table: ScoreTable, pairs: SharedPairs) -> str | None:
    """Why tasks are hardly alike, or hardly in an order by lot.

    Tasks in an order by lot are refused with a probability of at most 1e-6, and doubted with one of
    at most .01, at each call. Refused, by a ValueError, are also groups one after the other that
    the table names. Where groups are asked about it is the order within each one that counts.
    """
    is_list, number = pairs.num_tasks is not None, pairs.values.shape[1]
    if table.lottery is not None:
        return _doubt(_worst_within(table, pairs), is_list, how_to_ask(table))
    groups = table.groups or tuple(map(_prefix, table.task_names))
    where = f" in column {head!r}" if (head := _group_column(table)) else ""
    said = f"{len(set(groups)):,} groups of tasks one after the other{where}: {pooled(groups)}"
    # Where stretches of tasks of one group begin.
    codes = np.unique(np.array(groups, str), return_inverse=True)[1]
    starts = np.flatnonzero(np.r_[len(codes) > 0, codes[1:] != codes[:-1]])
    chance = log_p_of_stretches(np.bincount(codes), len(starts)) if len(starts) < number else 0.0
    in_blocks = chance < math.log(REFUSED)
    ways = ways_to_ask(table) if in_blocks else how_to_ask(table)
    few = len(starts) <= _FEW_STRETCHES * len(set(groups))
    if in_blocks and (is_list or (few and table.groups)):
        raise _wrong(said, is_list, ways, _until_whole(table, pairs.num_tasks))
    named = np.append(starts, number) if in_blocks else None
    worst = _worst(table, pairs, named)
    if worst.log_e < -math.log(WARNED) and in_blocks and few:
        return str(_wrong(said, is_list, ways))
    return _doubt(worst, is_list, ways)


def doubt_about_sorting(table: ScoreTable, pairs: SharedPairs) -> str | None:
    """Why tasks are hardly in an order of their own: that of the scores of an option.

    Refused or doubted as in ``doubt_about_order``.
    """
    if pairs.compare is not None:
        return None
    groups = np.array(table.groups if table.lottery is not None else [""] * len(table.task_names))
    runs = []  # of each option its mean on each task, in each group that is asked about
    for name, means in zip(table.names, pairs.task_means, strict=True):
        for group in dict.fromkeys(groups.tolist()):
            own = means[(groups == group) & ~np.isnan(means)]
            runs.append(runs_of_numbers(f"{name} in {group}" if group else name, own))
    for level in (REFUSED, WARNED):
        if names := sorted_options(runs, level):
            got = f"sorted scores of {listed(names)}, as if rows were sorted by them"
            doubt = _wrong(got, pairs.num_tasks is not None, how_to_ask(table))
            if level == REFUSED:
                raise doubt
            return str(doubt)
    return None


def _doubt(worst: _OrderDoubt, is_list: bool, ways: str) -> str | None:
    """What is doubted, if it is; or refused."""
    level = REFUSED if worst.log_e >= -math.log(REFUSED) else WARNED
    if worst.log_e < -math.log(level):
        return None
    odds = f"an order drawn by lot does so less than once in {1 / level:,.0f} tries"
    doubt = _wrong(f"{worst.what}; {odds}", is_list, ways)
    if level == REFUSED:
        raise doubt
    return str(doubt)


def pooled(groups: tuple[str, ...]) -> str:
    """Groups with their numbers of tasks, in words."""
    return listed([f"{name} {count:,}" for name, count in Counter(groups).items()])


def how_to_ask(table: ScoreTable) -> str:
    """What to ask of tasks that are not alike."""
    return "; ".join(filter(None, [how_to_mend(table), of_list(table)]))


def how_to_mend(table: ScoreTable) -> str:
    """What makes tasks alike that are not."""
    once = [ways_to_count(table.clusters, head) for head in table.clusters]
    return "; ".join([*once, ORDER_BY_LOT])


def _group_column(table: ScoreTable) -> str:
    """The column that names the groups; "" if something else does."""
    found = re.search(r"groups of tasks from column '(.*?)':", "\n".join(table.said))
    return found[1] if found else ""


def of_one_group(table: ScoreTable) -> str:
    """How to ask of independent runs in one of several groups, which differ; "" of others."""
    if not (head := _group_column(table)):
        return ""
    return (
        f"; runs of several {head!r} are no runs of one kind: --where {quote(head)}=NAME "
        f"(where='{head}=NAME') takes those of one; runs with a number that all options share, "
        "chosen before results were known, are shared tasks (--shared)"
    )


def of_list(table: ScoreTable) -> str:
    """How to ask about these tasks alone; "" where that would be refused as well."""
    number = len(table.task_names)
    has_all = table.lottery is not None or (table.progress == number).all()
    if seeds_of(table) or not (has_all or table.groups):
        return ""
    asks = f"asks about these {number:,} tasks and no others"
    if has_all:
        return f"of={number} (--of {number}) {asks}"
    return (
        f"of={number} and weights='size' (--of {number} --weights size) {asks}, of which "
        f"{(number - table.progress).sum():,} answers are missing"
    )


def ways_to_ask(table: ScoreTable) -> str:
    """The same of groups of tasks: of one of them, of their mean, or of all tasks together."""
    if not table.groups:
        return how_to_ask(table)
    found, head = [], _group_column(table)
    if head:
        one = f"{head}={table.groups[0]}"
        found.append(f"where={one!r} (--where {quote(one)}) asks about one group alone")
    found.append("weights='equal' (--weights equal) about their mean, where each counts the same")
    number = len(table.task_names)
    gaps = "" if (table.progress == number).all() else " and gaps='skip' (--gaps skip)"
    found.append(
        f"order_by_lot=1 (--order-by-lot 1){gaps} about all tasks together, where each counts the "
        "same, for one look"
    )
    return "; ".join([*found, *filter(None, [of_list(table)])])


def _until_whole(table: ScoreTable, of: int | None) -> str:
    """What to ask of a list whose names are all known, though some answers are missing."""
    if of is None or not table.groups or len(table.task_names) != of:
        return ""
    missing = (of - table.progress).sum()
    return (
        f". {missing:,} answers are missing: fill them, or weights='size' (--weights size) puts "
        "the tasks in an order by lot"
    )


def _wrong(got: str, is_list: bool, ways: str, until: str = "") -> DataRefused:
    if is_list:
        expected = "an order drawn by lot, before any result was known"
        hint = f". Once all tasks of the list are run, their order does not matter{until}"
    else:
        expected = "alike ones, in any order"
        hint = f". {ways}"
    return DataRefused("tasks", expected, got, hint)


def _prefix(task: str) -> str:
    """The name of a task without its number, and without parts that are numbers.

    >>> [_prefix(task) for task in ("mmlu_anatomy 17", "gsm8k/12", "17", "2024-01-31", "fold3")]
    ['mmlu_anatomy', 'gsm8k', '', '', 'fold']
    """
    number = r"(?<![0-9A-Za-z])\d+(?![0-9A-Za-z])|\d+$"
    return re.sub(number, "", task).strip(" _/:.#-")


def _worst(table: ScoreTable, pairs: SharedPairs, named: IntArray | None) -> _OrderDoubt:
    """The mean e over pairs and laws, and what speaks loudest."""
    first, second = some_pairs(*pairs.values.shape)
    differences = pairs.differences(first, second)
    series = [("is better", np.sign(np.nan_to_num(differences)))]
    if pairs.compare is None and differences.size:
        differences = dataclasses.replace(pairs, by="mean").differences(first, second)
        # The median of each pair's differences that are not 0.
        usual, has_any = np.zeros((len(differences), 1)), np.nan_to_num(differences).any(1)
        kept = np.where(differences == 0, np.nan, differences)[has_any]
        usual[has_any] = np.nanmedian(kept, 1, keepdims=True)
        beyond = np.nan_to_num(differences - usual)
        series.append(("is better by more than usual", np.sign(beyond)))
    number = pairs.values.shape[1]
    counts = 2 ** np.arange(1, 10)
    counts = counts[(number // counts >= _LEAST_BLOCK) & (counts <= _MOST_BLOCKS)].tolist()
    rest = 1 - _STRETCHES_SHARE - (_NAMED_SHARE if named is not None else 0)
    share = rest / max(len(counts), 1)
    weighted = [(np.arange(count + 1) * number // count, share) for count in counts]
    weighted += [(named, _NAMED_SHARE)] if named is not None else []
    stretches = _stretches(_codes(pairs.values))
    best, total = _OrderDoubt(-math.inf, ""), -math.inf
    for words, signs in series:
        for cut, weight in weighted:
            log_es = log_e_of_blocks(*in_blocks(signs, cut))
            log_share = math.log(weight / len(series) / len(first))
            total = np.logaddexp(total, np.logaddexp.reduce(log_es) + log_share)
            place = int(log_es.argmax())
            if log_es[place] > best.log_e and signs[place].any():  # ties say nothing
                of_pair = table.names[first[place]], table.names[second[place]], words
                what = _block_words(signs[place], cut, *of_pair, table.groups)
                best = _OrderDoubt(float(log_es[place]), what)
    # Not an e-value, but the inverse of a bound on a chance: so not their sum.
    rest = stretches.log_e + math.log(_STRETCHES_SHARE)
    said = best.what if total >= -math.log(WARNED) else stretches.what
    return _OrderDoubt(max(float(total), rest), said)


def _worst_within(table: ScoreTable, pairs: SharedPairs) -> _OrderDoubt:
    """The mean of two: of the mean e over groups, and of their product, as orders are independent.

    The order within a group is that of the table.
    """
    was_run, groups = ~np.isnan(pairs.values).all((0, 2)), np.array(table.groups, str)
    plain, found = dataclasses.replace(table, groups=(), lottery=None), [_OrderDoubt(0.0, "")]
    for group in dict.fromkeys(table.groups):
        places = np.flatnonzero(was_run & (groups == group))
        if len(places) >= 2 * _LEAST_BLOCK:
            own = pairs.values[:, places], pairs.by, pairs.bets, None, pairs.compare
            worst = _worst(plain, SharedPairs(*own), None)
            found.append(worst._replace(what=f"in {group}, {worst.what}"))
    log_es = np.array([one.log_e for one in found])
    both = np.logaddexp.reduce(log_es) - math.log(len(log_es)), log_es.sum()
    loudest = max(found, key=lambda one: one.log_e)
    return loudest._replace(log_e=float(np.logaddexp(*both) - math.log(2)))


def some_pairs(
    num_options: int, num_tasks: int, num_values: int, most_tasks: int = _MOST_TASKS
) -> tuple[IntArray, IntArray]:
    """Each option and the next one, the one after that and so on, whatever the scores, [P] each."""
    most = max(most_tasks // max(num_tasks * num_values**2, 1), num_options)
    number = np.arange(min(most, num_options * (num_options - 1) // 2))
    first = number % num_options
    return first, (first + 1 + number // num_options) % num_options


def in_blocks(signs: FloatArray, cut: IntArray) -> list[IntArray]:
    """Of signs [P, T] in each block how many are not 0, and how many positive: [P, G]."""
    return [np.add.reduceat(x, cut[:-1], 1, int) for x in (signs != 0, signs > 0)]


def log_e_of_blocks(decided: IntArray, won: IntArray) -> FloatArray:
    """ln e, a mean over ``_SUMS``, of the tasks [P, G] that are decided, and won: [P].

    Q is divided by a bound on the chance of m wins: no number of wins of all is likelier than the
    likeliest one of the largest block.
    """
    n, m = decided.sum(1), won.sum(1)
    share = (m + 0.5) / (n + 1)
    largest = decided.max(1)
    found = []
    for total in _SUMS:
        a, b = total * share, total * (1 - share)
        whole = log_beta(a, b)
        with np.errstate(divide="ignore", invalid="ignore"):
            mode = np.nan_to_num((largest + 1) * (a - 1) / (total - 2)).clip(0, largest)
        k = np.stack([0 * largest, np.floor(mode), largest])
        likeliest = log_choose(largest, k) + log_beta(a + k, b + largest - k) - whole
        a, b = a[:, None], b[:, None]
        log_q = (log_beta(a + won, b + decided - won) - whole[:, None]).sum(1)
        found.append(log_choose(n, m) + log_q - np.minimum(likeliest.max(0), 0))
    return np.logaddexp.reduce(found) - math.log(len(_SUMS))


def _codes(values: FloatArray) -> IntArray:
    """Of each task of [K, T, R] that any option has run, the same number where scores are equal."""
    rows = values[:, ~np.isnan(values).all((0, 2))].swapaxes(0, 1)
    if not len(rows):
        return np.zeros(0, int)
    rows = np.nan_to_num(rows, nan=-np.inf).reshape(len(rows), -1)
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def _stretches(codes: IntArray) -> _OrderDoubt:
    """Do equal tasks stand next to each other, as those do that are sorted or there twice?"""
    counts, number = np.bincount(codes), 1 + int((codes[1:] != codes[:-1]).sum())
    usual = len(codes) - float((counts * (counts - 1)).sum()) / max(len(codes), 1)
    what = (
        f"tasks of equal scores next to each other: {number:,} stretches, {usual:,.0f} by lot (are "
        "tasks sorted by their scores, or there several times?)"
    )
    return _OrderDoubt(-log_p_of_stretches(counts, number), what)


def _block_words(
    signs: FloatArray, cut: IntArray, name: str, other: str, words: str, groups: tuple[str, ...]
) -> str:
    """Where one option is better most often, and most seldom."""
    decided, won = (x[0] for x in in_blocks(signs[None], cut))
    with np.errstate(invalid="ignore"):
        spread = (won - decided * won.sum() / decided.sum()) / np.sqrt(decided)
    said = []
    for block in (int(np.nanargmax(spread)), int(np.nanargmin(spread))):
        start, end = int(cut[block]), int(cut[block + 1])
        whose = set(groups[start:end])
        tasks = whose.pop() if len(whose) == 1 else f"tasks {start + 1:,} to {end:,}"
        said.append(f"on {won[block] / decided[block]:.2f} of {tasks}")
    which = f"differences of {name} and {other} that change along their order"
    return f"{which}: {name} {words} {' and '.join(said)}, ties aside"
