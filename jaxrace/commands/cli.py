"""The command `jaxrace`.

Exit status: 0 done; 1 failed; 2 bad input, with one line that names the argument and what was
expected; 130 or 143 interrupted. What is slow to import is imported by the verb that needs it.
"""

import functools
import io
import os
import re
import sys
import threading
from argparse import RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, get_type_hints

from jsonargparse import ArgumentError, ArgumentParser, Namespace

import jaxrace
from jaxrace.commands.config_options import POSITIONAL, add_options, expected, spelt
from jaxrace.commands.duel.config import DuelConfig
from jaxrace.commands.endings import fail, give_up, interrupted, note
from jaxrace.commands.help_texts import (
    DESCRIPTION,
    DUEL,
    IMPROVE,
    INFO,
    LIST,
    RACE,
    REPRODUCE,
    SELECT,
    TRAIN,
    TRAIN_HOLDEM,
)
from jaxrace.commands.holdem.config import HoldemConfig
from jaxrace.commands.host_option import DETECTED, parse_hosts
from jaxrace.commands.improve.config import ImproveConfig
from jaxrace.commands.race.config import ScoresConfig
from jaxrace.commands.run_options import Lanes, add_run_options, taken_from
from jaxrace.commands.select.config import SelectConfig
from jaxrace.commands.train.config import TrainConfig
from jaxrace.papers.figures import FIGURES
from jaxrace.validation import require_choice


def command() -> NoReturn:
    """The process `jaxrace`: runs ``main``, and ends with its status.

    What the encoding of the output lacks is escaped.

    A stopped sweep does not wait for ever, so that a thread may still be inside of a compiled
    program. The interpreter would take it away from there, and XLA would abort the process.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    status = main()
    if any(thread.daemon for thread in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(status)
    sys.exit(status)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command, in a process that goes on.

    Args:
        argv: Its arguments; those of the process unless given.

    Returns:
        The exit status: 0, 1 (failed), 2 (bad input), 130 or 143 (interrupted by SIGINT or
        SIGTERM).

    >>> main(["--version"])
    jaxrace ...
    0
    """
    verbs = {
        "train": _train,
        "race": _race,
        "duel": _duel,
        "select": _select,
        "improve": _improve,
        "reproduce": _reproduce,
        "list": _list,
        "info": _info,
    }
    argv = sys.argv[1:] if argv is None else list(argv)
    if not argv:
        return fail(2, f"expected one of {', '.join(verbs)}; jaxrace --help says more")
    # It has options of its own.
    is_holdem = argv[:2] == ["train", "holdem"]
    try:
        if is_holdem:
            return _train_holdem(_holdem_parser().parse_args(argv[2:]))
        arguments = _make_parser().parse_args(argv)
        return verbs[arguments.verb](arguments[arguments.verb])
    except (ArgumentError, ValueError) as error:
        return fail(2, _with_option(str(error), HoldemConfig if is_holdem else TrainConfig))
    except (RuntimeError, OSError) as error:
        return fail(1, str(error))
    except MemoryError as error:
        return fail(1, f"expected more memory than there is: {error}")
    except KeyboardInterrupt:
        return fail(130, "interrupted")
    except SystemExit:  # --help and --version end so
        pass
    return 0


def _with_option(message: str, trained: type) -> str:
    """Name the option that a message is about as it is spelt in the command.

    Args:
        message: Of the error.
        trained: What the verb train is asked for.
    """
    hints = {}
    for config in (ScoresConfig, SelectConfig, ImproveConfig, DuelConfig, trained, Lanes):
        hints |= get_type_hints(config)
    message = re.sub(r"^argument (--[\w-]+):", r"\1:", message)  # argparse
    name, _, text = message.partition(":")
    if typed := re.match(r'Parser key "(\w+)"', message):  # jsonargparse
        name, value = typed[1], message.rpartition("value: ")[2]
        text = f" expected {expected(hints[name])}, got {value!r}"
    if name in hints.keys() - {*POSITIONAL} | {"out", "resume", "hosts", "quick"}:
        return f"{spelt(name)}:{text}"
    # Of "arguments are required: train.env".
    return re.sub(r"\b(train|race|duel|select|improve|reproduce)\.", "", message)


# What is no option of a verb, and its help.
_ARGUMENTS = {
    "race": ("scores", "a CSV file of scores: a column for each option, or columns option, score"),
    "improve": ("task", "what to improve a policy for"),
}


def _make_parser() -> ArgumentParser:
    parser = _new_parser(DESCRIPTION, prog="jaxrace", version=jaxrace.__version__)
    verbs = parser.add_subcommands(dest="verb", title="verbs", metavar="VERB")
    train = _new_parser(TRAIN)
    train.add_argument("env", metavar="ENV", type=str, help="environment, such as medical")
    add_options(train, TrainConfig)
    add_run_options(train, "runs/ENV-METHOD-NUMBER")
    train.add_argument(
        "--hosts",
        nargs="?",
        const=DETECTED,
        type=parse_hosts,
        metavar="ADDRESS,COUNT,INDEX",
        help="share the searches with other hosts that run the same command: address and free port "
        "of the first, their number, and which this is, from 0; alone, what Slurm or Open MPI say",
    )
    verbs.add_subcommand("train", train, help="train policies, and compare them with baselines")
    for verb, kind, text, help_text in (
        ("race", ScoresConfig, RACE, "certify the best of a table of scores"),
        ("duel", DuelConfig, DUEL, "run dueling bandits on a preference matrix"),
        ("select", SelectConfig, SELECT, "find the best k from comparisons of two"),
        ("improve", ImproveConfig, IMPROVE, "find a policy that is certainly no worse"),
    ):
        parsed = _new_parser(text)
        if verb in _ARGUMENTS:
            name, text = _ARGUMENTS[verb]
            parsed.add_argument(name, metavar=name.upper(), type=str, help=text)
        add_options(parsed, kind)
        add_run_options(parsed, f"runs/{verb}-NUMBER", has_sweeps=kind is not ScoresConfig)
        verbs.add_subcommand(verb, parsed, help=help_text)
    verbs.add_subcommand("reproduce", _reproduce_parser(), help="make a paper's figures again")
    verbs.add_subcommand("list", _new_parser(LIST), help="show what there is to choose from")
    verbs.add_subcommand("info", _new_parser(INFO), help="show versions and devices")
    return parser


def _holdem_parser() -> ArgumentParser:
    parser = _new_parser(TRAIN_HOLDEM, prog="jaxrace train holdem")
    add_options(parser, HoldemConfig)
    add_run_options(parser, "runs/train-holdem-NUMBER")
    return parser


def _reproduce_parser() -> ArgumentParser:
    lines = [
        f"  {name:20} {figure.about}{' *' if figure.on_demand else ''}"
        for name, figure in FIGURES.items()
    ]
    parser = _new_parser(REPRODUCE.format(experiments="\n".join(lines), all="all"))
    parser.add_argument("name", metavar="NAME", type=str, help="which experiment, or all")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="at a fraction of the size: to see that it works, not what comes out",
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed of all random numbers (default: 0)"
    )
    add_run_options(parser, "runs/reproduce-NAME-NUMBER")
    return parser


def _new_parser(description: str, **settings: Any) -> ArgumentParser:
    return ArgumentParser(
        description=description,
        formatter_class=RawDescriptionHelpFormatter,
        exit_on_error=False,
        allow_abbrev=False,
        **settings,
    )


def _train(arguments: Namespace) -> int:
    settings = vars(arguments)
    if settings["env"] == "holdem":
        raise ValueError("env: expected holdem right after train, and its options behind it")
    from jaxrace.commands.train.tasks import TASKS

    require_choice("env", settings["env"], (*TASKS, "holdem"))
    out, resume, given = (settings.pop(name) for name in ("out", "resume", "hosts"))
    lanes = taken_from(settings)
    _set_compilation_cache(not settings.pop("no_compilation_cache"))
    from rich.console import Console

    from jaxrace import runs, sweep
    from jaxrace.commands.train import report
    from jaxrace.commands.train.job import check_hosts, train
    from jaxrace.commands.train.summary import total_episodes

    config = TrainConfig(**settings)
    hosts = None
    if given is not None:
        check_hosts(config, out)
        hosts = sweep.join_hosts(*given)
    is_first = hosts is None or hosts.index == 0
    console = Console(stderr=True, quiet=not is_first)
    stop = sweep.StopOnSignals(not config.learns, give_up)
    try:
        with (
            stop,
            report.shown_progress(console, total_episodes(config)) as on_progress,
        ):
            folder = train(config, out, on_progress, resume, stop, hosts, lanes)
    except (sweep.Interrupted, KeyboardInterrupt) as error:
        return interrupted(stop.received, error)
    if is_first:
        report.print_results(Console(), folder, runs.read_summary(folder), runs.read_timing(folder))
    return 0


def _train_holdem(arguments: Namespace) -> int:
    from jaxrace.commands.holdem.job import train_holdem
    from jaxrace.commands.holdem.report import print_evolution

    def show(console: Any, folder: Any, _: HoldemConfig) -> None:
        print_evolution(console, folder)

    return _staged(arguments, HoldemConfig, "steps", train_holdem, show)


def _duel(arguments: Namespace) -> int:
    from jaxrace.commands.duel.job import duel
    from jaxrace.commands.duel.report import print_regrets

    def show(console: Any, folder: Any, _: DuelConfig) -> None:
        print_regrets(console, folder)

    say = functools.partial(note, "warning")
    return _staged(arguments, DuelConfig, "rows", functools.partial(duel, on_note=say), show)


def _race(arguments: Namespace) -> int:
    from jaxrace.commands.race.job import race_scores
    from jaxrace.commands.race.report import print_race

    def show(console: Any, folder: Any, _: ScoresConfig) -> None:
        print_race(console, folder)

    return _staged(arguments, ScoresConfig, "runs", race_scores, show)


def _select(arguments: Namespace) -> int:
    from jaxrace.commands.select.job import select
    from jaxrace.commands.select.report import print_selection

    def show(console: Any, folder: Any, _: SelectConfig) -> None:
        print_selection(console, folder)

    return _staged(arguments, SelectConfig, "records", select, show)


def _improve(arguments: Namespace) -> int:
    from jaxrace.commands.improve.job import improve
    from jaxrace.commands.improve.report import print_improvement

    def show(console: Any, folder: Any, _: ImproveConfig) -> None:
        print_improvement(console, folder)

    return _staged(arguments, ImproveConfig, "tests", improve, show)


def _staged(
    arguments: Namespace, kind: Any, unit: str, job: Callable[..., Any], show: Callable[..., None]
) -> int:
    """Do a job that works in stages, and show what it left."""
    settings = vars(arguments)
    out, resume = (settings.pop(name) for name in ("out", "resume"))
    lanes = taken_from(settings)
    _set_compilation_cache(not settings.pop("no_compilation_cache"))
    from rich.console import Console

    from jaxrace import sweep
    from jaxrace.commands.train import report

    config = kind(**settings)
    stop = sweep.StopOnSignals(kind is ScoresConfig or getattr(config, "is_file", False), give_up)
    try:
        with stop, report.shown_stages(Console(stderr=True), unit) as on_stage:
            folder = job(config, out, resume, stop, on_stage, lanes)
    except (sweep.Interrupted, KeyboardInterrupt) as error:
        return interrupted(stop.received, error)
    show(Console(), folder, config)
    return 0


def _reproduce(arguments: Namespace) -> int:
    _set_compilation_cache(not arguments.no_compilation_cache)
    from rich.console import Console

    from jaxrace import sweep
    from jaxrace.commands.printing import say
    from jaxrace.commands.reproduce import reproduce
    from jaxrace.commands.train import report

    stop = sweep.StopOnSignals(give_up=give_up)
    try:
        with stop, report.shown_stages(Console(stderr=True)) as on_stage:
            folder = reproduce(
                arguments.name,
                arguments.out,
                arguments.quick,
                arguments.seed,
                arguments.resume,
                stop,
                on_stage,
                taken_from(vars(arguments)),
            )
    except (sweep.Interrupted, KeyboardInterrupt) as error:
        return interrupted(stop.received, error)
    say(Console(), str(folder / "report.md" if arguments.name != "all" else folder))
    return 0


def _set_compilation_cache(enabled: bool) -> None:
    """Keep compiled programs on disk, where the user wants them or in the user's cache folder."""
    import jax
    from platformdirs import user_cache_dir

    jax.config.update("jax_enable_compilation_cache", enabled)
    if enabled and "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        jax.config.update("jax_compilation_cache_dir", user_cache_dir("jaxrace"))
    # Dozens of small programs together take a second or two.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)


def _list(arguments: Namespace) -> int:
    from jaxrace.commands.catalogue import print_catalogue

    print_catalogue()
    return 0


def _info(arguments: Namespace) -> int:
    from jaxrace import runs

    runs.print_info()
    return 0
