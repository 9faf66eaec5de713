"""Top k of 10 by scores: Groves and Branke, figure 2 a and b. Axes: J selections, K options."""

from jaxrace import selection
from jaxrace.commands.select.curves import Curve, figure_of, success_in_words, table_of
from jaxrace.commands.select.runs import TOP_POINTS, Task, run_selector, run_top
from jaxrace.commands.select.tasks import thurstone_task
from jaxrace.commands.workbench import Workbench
from jaxrace.tables import markdown_table

TOP = "SELECT/TOP"
NUM_OPTIONS, BUDGET, INTERVAL = 10, 1_000, 5
Curves = dict[str, dict[str, Curve]]  # by task and method

# Besides SELECT/TOP, what the paper shows.
PUBLISHED = ("ML-POCBAm, one sweep", "POCBAm", "uniform")


def lineup(num_options: int, top: int) -> dict[str, selection.Selector]:
    """The paper's methods, the model fitted in two ways, and others."""
    return {
        "ML-POCBAm, one sweep": selection.MlPocbam(num_options, top, fit="swept"),
        "ML-POCBAm, stationary": selection.MlPocbam(num_options, top, fit="followed"),
        "POCBAm": selection.Pocbam(num_options, top),
        "uniform": selection.Uniform(num_options, top),
        "hybrid, one sweep": selection.HybridPocbam(num_options, top, fit="swept"),
        "PKG": selection.KnowledgeGradient(num_options, top),
        "OCBA-m, single options": selection.Ocba(num_options, top),
    }


def run(bench: Workbench) -> None:
    """Leaves success.csv, success.png and report.md."""
    _run(bench, tuple(lineup(NUM_OPTIONS, 1)))


def run_published(bench: Workbench) -> None:
    """The same with the four methods of the paper alone."""
    _run(bench, PUBLISHED)


def _run(bench: Workbench, names: tuple[str, ...]) -> None:
    repeats, budget = bench.size(10_000, 64), bench.size(BUDGET, 235)
    curves: Curves = {}
    for top in bench.few((4, 1), 1):
        name, sizes = f"{top} of {NUM_OPTIONS}", (NUM_OPTIONS, top)
        task = thurstone_task(name, bench.seed, repeats, sizes, budget, INTERVAL)
        methods = lineup(*sizes)
        curves[name] = run_methods(bench, task, {one: methods[one] for one in names}, 2)
    leave(bench, curves)
    looks = [135, 250, 500, 1000] if not bench.quick else [135, 235]
    bench.write_report(_paragraphs(curves, repeats, looks))


def run_methods(
    bench: Workbench, task: Task, methods: dict[str, selection.Selector], quick: int = 1
) -> dict[str, Curve]:
    """The curves of some methods, a few of them for a quick look, and of SELECT/TOP."""
    names = bench.few(methods, quick)
    found = {name: run_selector(bench, task, name, methods[name]) for name in names}
    return {**found, TOP: run_top(bench, task, bench.size(TOP_POINTS, 2))}


def leave(bench: Workbench, curves: Curves) -> None:
    """Write success.csv and success.png."""
    bench.write_table("success.csv", table_of(curves))
    bench.write_figure("success.png", figure_of(curves))


def sections(curves: Curves, looks: list[int]) -> list[str]:
    """Success rates after some numbers of samples, a table for each task.

    >>> curve = Curve(np.array([10.0]), np.array([[True], [False]]))
    >>> print(sections({"1 of 2": {"uniform": curve}}, [10])[1])
    | method | 10 samples |
    | --- | --- |
    | uniform | 0.500 ± 0.500 |
    """
    text = []
    for task, found in curves.items():
        rows = [
            [name, *(success_in_words(curve, look) for look in looks)]
            for name, curve in found.items()
        ]
        heads = ["method", *(f"{look:,} samples" for look in looks)]
        text += [f"## Top {task}", markdown_table(heads, rows)]
    return text


def _paragraphs(curves: Curves, repeats: int, looks: list[int]) -> list[str]:
    return [
        f"{repeats:,} problems, gamma and sigma^2 uniform in [0, 1], the same for all methods, as "
        "are the scores: comparison number n of a pair comes out the same whoever asks for it. "
        "The first 3 comparisons of each pair are made by all methods by scores. SELECT/TOP is "
        "shown at the mean number of comparisons that it takes with several numbers of "
        "repetitions per match, and between two of these on a straight line. ± is one standard "
        "error.",
        "![Success rate](success.png)",
        *sections(curves, looks),
        "The paper gives curves without numbers. It says: ML-POCBAm is best throughout, POCBAm "
        "second, SELECT/TOP below uniform sampling; and fitting the model to the warm-up alone "
        "improves the success rate significantly. The last is so with a single sweep of the fit, "
        "and not with a stationary point of the likelihood.",
    ]
