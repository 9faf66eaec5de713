"""In which order to run the tasks of several groups, before anything is run: the front door."""

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from jaxrace.answers import style
from jaxrace.answers.answer import Answer, Shown, first_of, labels, panels
from jaxrace.core.validation import require_integer
from jaxrace.evidence.groups import groups_of_list, in_group_order
from jaxrace.judging.in_groups import weights_of
from jaxrace.judging.question import Weights
from jaxrace.tables.items import read_items

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FIRST = 4  # tasks that are printed
_MOST_DRAWN = 10  # groups of a figure, as many as there are colours


@dataclasses.dataclass(frozen=True)
class OrderedTask:
    """A task, in its place."""

    task: str
    group: str


@dataclasses.dataclass(frozen=True)
class GroupSize:
    """A group of tasks."""

    group: str
    weight: float
    tasks: int


@dataclasses.dataclass(frozen=True)
class OrderOfTasks(Answer):
    """The answer of ``jaxrace.order``. Print it, or see its fields; ``to_frame`` is a table."""

    ROWS: ClassVar = {"tasks": OrderedTask, "groups": GroupSize}

    tasks: tuple[OrderedTask, ...]  # in the order in which they are to be run
    groups: tuple[GroupSize, ...]
    seed: int
    notes: tuple[str, ...]
    columns: dict[str, list[str]]  # all of the table, by heads, in this order

    def asked(self) -> str:
        return f"An order by lot of {len(self.tasks):,} tasks in {len(self.groups)} groups"

    def headline(self) -> str:
        return f"ORDER of {len(self.tasks):,} tasks, by seed {self.seed}"

    def meanings(self) -> list[str]:
        return ["it depends on the seed, the weights, and the names of groups and tasks alone"]

    def tables(self) -> list[Shown]:
        rows = [[str(n), x.group, x.task] for n, x in enumerate(self.tasks[:_FIRST], 1)]
        first = Shown(["place", "group", "task"], rows, len(self.tasks) - len(rows))
        sizes = [[x.group, f"{x.weight:.3g}", f"{x.tasks:,}"] for x in self.groups]
        return [Shown.first(["group", "weight", "tasks"], sizes), first]

    def plot(self) -> "Figure":
        """A matplotlib figure: how far each group is on the way."""
        shown = self.groups[:_MOST_DRAWN]
        figure, (panel,) = panels(self.headline(), _MOST_DRAWN, (6,))
        called = labels([one.group for one in shown])
        of_each = np.array([one.group for one in self.tasks])
        for number, (one, label) in enumerate(zip(shown, called, strict=True)):
            share = (of_each == one.group).cumsum() / one.tasks
            panel.plot(np.arange(1, len(share) + 1), share, label=label, **style.line(number))
        title = "groups on the way" + first_of(shown, len(self.groups))
        panel.set(
            title=title,
            xlabel="tasks so far",
            ylabel="share of the group that is done",
            ylim=(0, 1),
        )
        figure.legend(loc="outside right upper", frameon=False)
        return figure


def order(
    items: Any,
    groups: str | None = None,
    *,
    weights: Weights = "equal",
    seed: int = 0,
    task_column: str | None = None,
) -> OrderOfTasks:
    """Put tasks of several groups in an order by lot, before any of them is run.

    Options run the tasks in this order. They may stop as soon as it is clear who is best on average
    over the groups: ``race(..., weights=..., seed=..., of=items)`` says so at any look. It needs
    the same arguments.

    Args:
        items: All tasks of the list with their groups: a data frame, columns by name, or the path
            of a file.
        groups: The column of groups, such as benchmarks or subjects. Without it a known head is
            looked for.
        weights: How groups count. equal: each the same. size: by its number of tasks. Or numbers by
            group, or a file of them.
        seed: The seed of the draw. The race needs the same.
        task_column: The column that names the tasks. Without it a known head is looked for.

    Raises:
        ValueError: It is not clear which columns these are; a weight is missing, or not above 0.

    >>> items = {"question": ["q1", "q2", "q3", "q4"], "subject": ["law", "art", "art", "art"]}
    >>> [one.task for one in order(items, "subject", seed=1).tasks]
    ['q4', 'q1', 'q3', 'q2']
    """
    require_integer("seed", seed, 0)
    found = read_items("items", items, groups, task_column)
    own: dict[str, list[str]] = {group: [] for group in sorted(set(found.groups))}
    for task, group in zip(found.tasks, found.groups, strict=True):
        own[group].append(task)
    sizes = {group: len(tasks) for group, tasks in own.items()}
    shares = weights_of(weights, sizes)
    ahead = {group: iter(in_group_order(tasks, group, seed)) for group, tasks in own.items()}
    drawn = [OrderedTask(next(ahead[x]), x) for x in groups_of_list(shares, sizes, seed)]
    row_of = {task: row for row, task in enumerate(found.tasks)}
    labels = {head: found.table.labels(head) for head in found.table.heads}
    return OrderOfTasks(
        tasks=tuple(drawn),
        groups=tuple(GroupSize(group, shares[group], sizes[group]) for group in sizes),
        seed=seed,
        notes=found.table.said,
        columns={head: [x[row_of[one.task]] for one in drawn] for head, x in labels.items()},
    )
