"""The command `jaxrace`.

Exit status: 0 done; 1 failed; 2 bad input, with one line that names the argument and what was
expected; 3 not yet: a race that is not certified, a selection that is not likely enough to be
right, counts by which nobody clearly beats all others, a log in which no better policy was found;
129, 130 or 143 interrupted. What is slow to import is imported by the verb that needs it.
"""

import contextlib
import dataclasses
import functools
import gc
import os
import pkgutil
import re
import signal
import sys
from argparse import RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, get_type_hints

from jsonargparse import ArgumentError, ArgumentParser, Namespace

import jaxrace
from jaxrace.commands.giving_up import giving_up, leave
from jaxrace.commands.job import Job
from jaxrace.commands.options import (
    LOCAL,
    OF_ANSWERS,
    OF_RUNS,
    POSITIONAL,
    Device,
    add_answer_options,
    add_options,
    add_run_options,
    described,
    expected,
    spelt,
    with_local_cluster,
)
from jaxrace.commands.streams import let_streams_last
from jaxrace.commands.train.config import ENVIRONMENTS, TrainConfig
from jaxrace.core.validation import require_address, require_choice, require_integer

_NEW_OBJECTS = 500_000  # after which garbage is looked for; a short job makes fewer
_MOST_LANES = 10**6  # no device has more than some thousands
_INTERRUPTED = 128  # and the number of the signal: the exit status


class Verb(NamedTuple):
    """A verb: with a job it leaves a run's folder; without one it answers a file, see ``front``."""

    config: Any  # the dataclass that its options and its help are made from
    job: str = ""  # the function that does it, as MODULE:NAME
    report: str = ""  # what prints the results
    counted: str = ""  # while it runs
    folder: str = ""  # the name of the folder, in words
    epilog: str = ""  # of the help
    cost: Any = None  # see ``device.Cost``


_VERBS: dict[str, Verb] = {
    "train": Verb(
        *(
            TrainConfig,
            "jaxrace.commands.train.job:train",
            "jaxrace.commands.train.summary:print_results",
        ),
        *("episodes", "ENV-METHOD-NUMBER"),
        cost=(14.4, 1.1e-6, lambda job: len(job.settings) * job.repeats * job.episodes),
    ),
}
# What each verb does: those that leave a run's folder,
_RUNS = {"train": "train policies, and compare them with baselines"}
# those that answer a file: ``jaxrace.commands.VERB`` is imported when it is asked for.
_FILES = {
    "race": "certify the best of a table of scores",
    "duel": "say who beats whom in a matrix of wins or preferences",
    "select": "find the best k from votes, games or other comparisons of two",
    "improve": "find a policy that is certainly no worse, in a log of decisions",
}
# and those that only print.
_SHOWN = {"list": "show what there is to choose from", "info": "show versions and devices"}


def command() -> NoReturn:
    """The process `jaxrace`: runs ``main``, and ends with its status."""
    let_streams_last()
    # What programs are traced with stays: looking for garbage in it took 6 % of a short job.
    gc.set_threshold(_NEW_OBJECTS)
    status = main()
    try:
        sys.stdout.flush()
    except OSError as error:
        status = _fail(1, str(error))
    # A stopped sweep does not wait for ever, so that a program may still run; the end of the
    # interpreter would wait for it.
    if status > _INTERRUPTED:
        leave(status)
    gc.freeze()  # the end of the interpreter would look through all there is, for .4 s
    sys.exit(status)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments or its own, and return the exit status."""
    argv = sys.argv[1:] if argv is None else list(argv)
    if not argv:
        names = ", ".join((*_RUNS, *_FILES, *_SHOWN))
        return _fail(2, f"expected one of {names}; jaxrace --help says more")

    def run() -> int:
        arguments = _make_parser(argv[0], verb).parse_args(with_local_cluster(argv))
        if verb is not None:
            return _do(argv[0], verb, arguments[argv[0]])
        pkgutil.resolve_name(f"jaxrace.commands.catalogue:print_{arguments.verb}")()
        return 0

    verb = _VERBS.get(argv[0])
    if argv[0] in _FILES:
        verb = Verb(pkgutil.resolve_name(f"jaxrace.commands.{argv[0]}:Config"))
    return _with_status(run, verb)


def run_alone(name: str, verb: Verb, prog: str, argv: Sequence[str] | None = None) -> int:
    """Run a verb that is a program by itself, and return the exit status."""
    parser = _parser_of(verb, prog=prog)
    words = with_local_cluster(sys.argv[1:] if argv is None else list(argv))
    return _with_status(lambda: _do(name, verb, parser.parse_args(words)), verb)


def _with_status(run: Callable[[], int], verb: Verb | None) -> int:
    """The exit status of what may fail; why it does is said in a line."""
    try:
        return run()
    except SystemExit:  # --help and --version end so
        return 0
    except (ArgumentError, ValueError) as error:
        return _fail(2, _with_option(str(error), verb))
    except ModuleNotFoundError as error:  # tables need NumPy alone, all else the whole
        if error.name is None or error.name.startswith("jaxrace"):
            raise
        return _fail(1, f"expected the package {error.name}, got none: pip install jaxrace")
    except (RuntimeError, OSError) as error:
        return _fail(1, str(error))
    except MemoryError as error:
        return _fail(1, f"expected more memory than there is: {error}")
    except KeyboardInterrupt as error:  # of another signal it has the number
        return _fail(_INTERRUPTED + (error.args[0] if error.args else signal.SIGINT), "interrupted")


def _with_option(message: str, verb: Verb | None) -> str:
    """Name the option that a message is about as it is spelt in the command."""
    hints: dict[str, Any] = {"lanes": int | None, "device": Device}
    hints |= get_type_hints(verb.config) if verb else {}
    message = re.sub(r"^argument (--[\w-]+):", r"\1:", message)  # argparse
    name, _, text = message.partition(":")
    if typed := re.match(r'Parser key "(\w+)"', message):  # jsonargparse
        name, value = typed[1], message.rpartition("value: ")[2]
        text = f" expected {expected(hints[name])}, got {value!r}"
    if name in hints.keys() - {*POSITIONAL} | {"out", "resume", "ray", "report"}:
        return f"{spelt(name)}:{text}"
    # Of "arguments are required: train.env".
    return re.sub(rf"\b({'|'.join((*_RUNS, *_FILES))})\.", "", message)


def _make_parser(name: str, asked: Verb | None) -> ArgumentParser:
    """The parser of the command, with the options of the verb of this name."""
    about = "Racing algorithms and preference-based policy search in JAX."
    example = "train medical --repeats 20"
    parser = _new_parser(about, example, prog="jaxrace", version=jaxrace.__version__)
    verbs = parser.add_subcommands(dest="verb", title="verbs", metavar="VERB")
    for verb, text in {**_RUNS, **_FILES, **_SHOWN}.items():
        if verb == name and asked is not None:
            verbs.add_subcommand(verb, _parser_of(asked), help=text)
        else:
            verbs.add_subcommand(verb, _new_parser(f"{text.capitalize()}.", verb), help=text)
    return parser


def _parser_of(verb: Verb, **settings: Any) -> ArgumentParser:
    parser = _new_parser(described(verb.config)[0], **settings)
    add_options(parser, verb.config)
    if not verb.job:
        add_answer_options(parser)
    else:
        add_run_options(parser, f"runs/{verb.folder}")
    parser.epilog = verb.epilog or None
    return parser


def _new_parser(about: str, example: str = "", **settings: Any) -> ArgumentParser:
    return ArgumentParser(
        description=f"{about}\n\nFor example:\n  jaxrace {example}" if example else about,
        formatter_class=RawDescriptionHelpFormatter,
        exit_on_error=False,
        allow_abbrev=False,
        **settings,
    )


def _do(name: str, verb: Verb, arguments: Namespace) -> int:
    """Do the job of a verb, and show what it left."""
    settings = vars(arguments)
    if verb.config is TrainConfig:
        require_choice("env", settings["env"], tuple(ENVIRONMENTS))
    given = {name: settings.pop(name) for name in (*OF_RUNS, *OF_ANSWERS) if name in settings}
    config = verb.config(**settings)
    if not verb.job:
        from jaxrace.commands.front import answer_file

        return answer_file(name, config, given)
    out, resume, lanes, address, device = (given[name] for name in OF_RUNS[:5])
    if lanes is not None:
        require_integer("lanes", lanes, 1, _MOST_LANES)
    if address is not None:
        require_address("ray", address)
    import jax

    from jaxrace.core.compilation import use_compilation_cache

    if given["no_compilation_cache"]:
        jax.config.update("jax_enable_compilation_cache", False)
    else:
        use_compilation_cache()
    from rich.console import Console

    from jaxrace import sweep
    from jaxrace.commands.device import place
    from jaxrace.commands.progress import shown_stages
    from jaxrace.commands.report import require_figures

    if "JAX_NUM_CPU_DEVICES" not in os.environ:
        with contextlib.suppress(RuntimeError):  # JAX runs, in a process that goes on
            sweep.use_all_cores()
    if address is None:
        place(device, verb.cost, config, Path(out) if resume and out else None, _note)
    elif device != "auto":
        raise ValueError(f"device: expected auto with --ray, whose tasks choose, got {device}")
    else:  # accelerators are for the tasks
        jax.config.update("jax_platforms", "cpu")
    require_figures()
    cluster = None if address is None else sweep.Ray(None if address == LOCAL else address)
    can_resume = getattr(config, "learns", True)
    stop = sweep.StopOnSignals(at_once=not can_resume)
    say = functools.partial(_note, "warning")
    job = Job(config, out, resume, stop, lanes=lanes, cluster=cluster, on_note=say)
    shown = shown_stages(Console(stderr=True), verb.counted, verb.config is TrainConfig)
    connected = contextlib.nullcontext() if cluster is None else sweep.connected(cluster.address)
    try:
        with stop, giving_up(stop, _give_up), connected, shown as on_stage:
            folder = pkgutil.resolve_name(verb.job)(dataclasses.replace(job, on_stage=on_stage))
    except (sweep.Interrupted, KeyboardInterrupt) as error:
        return _interrupted(stop.received, error)
    pkgutil.resolve_name(verb.report)(Console(), folder)
    return 0


def _fail(status: int, message: str) -> int:
    """Print why the command ends, in a line; returns the status."""
    _note("error", " ".join(message.split()))
    return status


def _note(kind: str, text: str) -> None:
    """Print a line of some kind, such as a warning, where errors go."""
    from jaxrace.answers.answer import shown  # late: it imports NumPy

    print(f"jaxrace: {kind}:", shown(text), file=sys.stderr)


def _interrupted(signal: int | None, where: BaseException | Path | None) -> int:
    """Print that the command was interrupted, and how it goes on, if a folder is known."""
    if where is None or not str(where):
        return _fail(128 + (signal or 2), "interrupted")
    again = f"the same command with --out {where} --resume goes on"
    return _fail(128 + (signal or 0), f"interrupted; {again}")


def _give_up(signal: int) -> NoReturn:
    """End the process after a signal of which it takes no notice; called in another thread."""
    from rich.console import Console

    from jaxrace import runs

    Console(stderr=True).show_cursor()  # that a bar has hidden
    leave(_interrupted(signal, runs.let_go()))
