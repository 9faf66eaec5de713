"""A list of tasks that was run whole: these are known, and nothing is tested or said of others."""

import re

from jaxrace.core.validation import BadArgument
from jaxrace.judging.question import Question
from jaxrace.judging.scores import ScoreTable

NO_OTHERS = "nothing is said of other tasks"

_SEEDS = re.compile(r"\b(seed|run|trial|replicate|episode)s?\b", re.IGNORECASE)


def known_on(number: int | None) -> str:
    """How a headline begins.

    >>> known_on(1200)
    'KNOWN on these 1,200 tasks'
    """
    return f"KNOWN on these {number:,} tasks"


def alone(number: int | None) -> str:
    """What ends a claim about a list of which a part was run."""
    return "" if number is None else f"; about these {number:,} tasks alone"


def seeds_of(table: ScoreTable) -> str:
    """The column of tasks whose name says that they are a sample, such as seeds; "" if none."""
    for text in table.said:
        _, found, columns = text.partition("tasks from column")
        if found and (named := _SEEDS.search(columns)):
            return named[0]
    return ""


def doubt_about_list(question: Question, table: ScoreTable) -> str | None:
    """Why tasks are hardly a list that is asked about by itself; BadArgument for a gate.

    BadArgument, too, if so many are rows of the table, several of which are of one task.

    A candidate that is ahead on the seeds that happened to be run would pass by luck.
    """
    rows = {len(column) for column in table.values}
    if (
        question.of is not None
        and question.of > (number := len(table.task_names))
        and question.of in rows
    ):
        expected = f"how many tasks the list has, of which {number:,} are in the table"
        got = f"{question.of:,}, the number of its rows"
        raise BadArgument("of", expected, got, ": rows of one task count as one")
    name = seeds_of(table)
    if question.of is None or not name:
        return None
    expected = "a list of tasks that is the question itself, as the questions of a benchmark are"
    got = f"column '{name}', a sample of many"
    hint = f": leave out of=N (--of N) to ask about any {name}"
    doubt = BadArgument("of", expected, got, hint)
    if question.kind == "gate":
        raise doubt
    return f"{doubt}; what follows is about these {question.of:,} alone"
