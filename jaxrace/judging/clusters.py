"""Are shared tasks independent? Folds overlap; those of one passage may resemble each other."""

import re

import numpy as np

from jaxrace.evidence.clusters import resemblance
from jaxrace.evidence.independence import WARNED
from jaxrace.evidence.tasks import SharedPairs
from jaxrace.judging.alike import of_list, some_pairs
from jaxrace.judging.scores import ScoreTable
from jaxrace.tables.clusters import IN_NAMES, ways_to_count

_MOST_TASKS = 400_000  # of pairs that are looked at
_FOLDS = re.compile(r"\b(cv|split|fold)(?![a-z])|fold_?\d", re.IGNORECASE)


def doubt_about_clusters(table: ScoreTable, pairs: SharedPairs) -> str | None:
    """Why the tasks of a table are hardly independent, if they belong together.

    Chance has independent ones doubted with a probability of at most .01, at each call. Groups of
    tasks are what they are, and tasks are compared within them.
    """
    heads = [*table.clusters]
    was_run = np.flatnonzero(~np.isnan(pairs.values).all((0, 2)))
    names = [table.task_names[place] for place in was_run.tolist()]
    if not (heads and names):
        return None
    groups = [table.groups[place] for place in was_run.tolist()] if table.groups else names[:1]
    group = np.unique(np.array(groups, str), return_inverse=True)[1]
    first, second = some_pairs(*pairs.values.shape, most_tasks=_MOST_TASKS)
    differences = pairs.differences(first, second)[:, was_run]
    for head in heads:
        labels = [table.clusters[head].get(name, f"\n{name}") for name in names]
        kinds, cluster = np.unique(np.array(labels, str), return_inverse=True)
        whole = np.broadcast_to(group, len(names))
        found = resemblance(differences, cluster, whole, WARNED / len(heads))
        if found is None:
            continue
        one, other = table.names[first[found.pair]], table.names[second[found.pair]]
        what = "first part of their names" if head == IN_NAMES else repr(head)
        ways = [ways_to_count(table.clusters, head), of_list(table)]
        return (
            f"tasks: expected independent ones, got tasks of one {what} that are alike: with "
            f"{len(kinds):,} of these for {len(names):,} tasks the mean difference of {one} and "
            f"{other} varies {found.times:.2g} times as much; by chance less than once in "
            f"{1 / WARNED:,.0f} tries. {'; '.join(filter(None, ways))}"
        )
    return None


def doubt_about_folds(table: ScoreTable) -> str | None:
    """Why shared tasks that are no list may not be independent: folds of one data set."""
    columns = re.findall(r"tasks from columns? (.*)", "\n".join(table.said))
    if not any(map(_FOLDS.search, (" ".join(columns), *table.task_names[:1]))):
        return None
    return (
        "folds of one data set overlap, and are not independent tasks: of=N (--of N) asks about "
        "the list of all N folds, in an order drawn by lot"
    )
