"""What `jaxrace race` is asked to do; imports nothing heavy, for the command's help."""

import dataclasses
from typing import Literal

from jaxrace.commands.options import Decimal, Delimiter

# How a file is read, and arguments of ``jaxrace.race``.
OF_COLUMNS = (
    *("option_column", "score_column", "task_column", "group_column"),
    *("options", "failed", "where", "decimal", "delimiter"),
)
OF_QUESTION = (
    *("top", "delta", "by", "low", "high", "shared", "of", "tolerance", "smaller", "larger"),
    *("horizon", "gaps", "looks", "order_by_lot", "dependent"),
)


@dataclasses.dataclass(frozen=True)
class ScoresConfig:
    """Certify the best of a table of scores.

    Says which options are certainly the best, or what to run next. An option is better than another
    if it scores higher more often than lower, or, --by mean, if its mean is higher. Runs are
    independent, also those of different options (no seeds or tasks in common), alike, and in the
    order in which they were made; or, --shared, all options ran on the same tasks, in one order.
    Runs may be added at the end of the table and judged again, as often as you like, as long as the
    columns and options stay what they are: the error probability holds for all looks together. Runs
    that chance alone would hardly make, since they are sorted, resemble the ones before them or
    repeat, are refused. Imports no JAX. Exit status: 0 certified, 3 not yet.

    For example:
      jaxrace race scores.csv --top 3
      jaxrace race losses.csv --smaller --delta 0.01 --next next.csv
      jaxrace race results.csv --shared --of 14042 --by mean --low 0 --high 1 --tolerance 0.01

    Attributes:
        scores: A file of scores (CSV, JSON, JSON lines, Excel, Parquet), or a folder of them.
            Either a column for each option, with its name above and a score in each row, or
            nothing where it has fewer runs; or a row for each run, with columns of options, scores
            and perhaps tasks; or what hyperfine, pytest-benchmark, Inspect, lm-evaluation-harness
            or Optuna have left. Runs in the order in which they were made.
        top: How many of the best are wanted, kappa.
        delta: Probability of a wrong certificate.
        by: What is better: to win more often than to lose, or the higher mean.
        low: The lowest score that is possible, for a race by mean.
        high: The highest one.
        shared: Options ran on the same tasks, seeds or instances; a row for each of them, or a
            column task.
        of: Who is best on a list of so many tasks, whose order was drawn by lot?
        tolerance: Good enough: nobody else is better by so much, in win probability or mean score.
        smaller: Smaller scores are better.
        larger: Larger ones are, whatever a name such as loss says.
        horizon: Independent runs per option that the test is tuned for: more of them show smaller
            gaps, later. Runs beyond these count as well.
        gaps: Shared tasks that an option lacks, before its last one, count as lost until they are
            run; or skip leaves them out: they must not depend on scores, nor ever be filled.
        looks: A file that remembers what was looked at, made by the first look: later ones are
            refused if scores of before have changed, and rows may be sorted again.
        order_by_lot: A seed: put the shared tasks of a complete table, which is looked at once, in
            a random order, which does not depend on scores.
        option_column: The column that names the option, where its name does not say so.
        score_column: The column of the scores.
        task_column: The column of the tasks.
        group_column: The column of the benchmark, subject or the like of each task.
        options: Of a column for each option: these, with commas between; others are left out.
        failed: What a run that failed counts as: worst, below all others; drop, left out; or a
            number, which is its score.
        where: The rows to take, such as metric=auc; several have commas between.
        decimal: Decimal commas or points; auto takes what all cells allow.
        delimiter: What is between the columns; auto takes what all lines allow.
        no_header: The first row is a run, and options are called option 1, option 2, ...
        dependent: Look at runs that are not independent, too; nothing is certified then.
        next: A CSV file to write, of what to run next: option and runs, or option and task.
        report: A Markdown or HTML file to write, with a figure beside it as PNG and SVG.
        json: Print everything as JSON.
    """

    scores: str
    top: int = 1
    delta: float = 0.05
    by: Literal["wins", "mean"] = "wins"
    low: float | None = None
    high: float | None = None
    shared: bool = False
    of: int | None = None
    tolerance: float = 0.0
    smaller: bool = False
    larger: bool = False
    horizon: int = 300
    gaps: Literal["lost", "skip"] = "lost"
    looks: str | None = None
    order_by_lot: int | None = None
    option_column: str | None = None
    score_column: str | None = None
    task_column: str | None = None
    group_column: str | None = None
    options: str = ""
    failed: str | None = None
    where: str = ""
    decimal: Decimal = "auto"
    delimiter: Delimiter = "auto"
    no_header: bool = False
    dependent: bool = False
    next: str | None = None
    report: str | None = None
    json: bool = False
