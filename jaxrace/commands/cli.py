"""The command `jaxrace`.

Exit status: 0 done; 1 failed, or a gate that rejects a candidate; 2 bad input, with one line that
names the argument and what was expected; 3 not yet, such as a race that is not certified; 4 data
refused, which contradict what is assumed; 129, 130 or 143 interrupted. With ``--json`` an error is
an object, too, in place of the answer. What is slow to import is imported by the verb that needs
it.
"""

import contextlib
import dataclasses
import functools
import gc
import json
import os
import pkgutil
import re
import shlex
import shutil
import signal
import sys
from argparse import RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, get_type_hints

from jsonargparse import ArgumentError, ArgumentParser, Namespace

import jaxrace
from jaxrace.commands import options
from jaxrace.commands.process import giving_up, leave, let_streams_last
from jaxrace.commands.train.config import TrainConfig, require_environment
from jaxrace.core.inputs import require_address
from jaxrace.core.validation import BadArgument, DataRefused, require_integer

_NEW_OBJECTS = 500_000  # after which garbage is collected; a short job makes fewer
_MOST_LANES = 10**6  # no device has more than some thousands
_INTERRUPTED = 128  # and the number of the signal: the exit status


class Verb(NamedTuple):
    """A verb: without a job it answers a file, see ``front``; with one it leaves a run's folder."""

    config: Any  # the dataclass that its options and its help are made from
    job: str = ""  # the function that does it, as MODULE:NAME
    report: str = ""  # the function that prints the results
    counted: str = ""  # the unit of its progress
    folder: str = ""  # the name of the folder, in words
    cost: Any = None  # see ``device.Cost``


_VERBS: dict[str, Verb] = {
    "train": Verb(
        TrainConfig,
        job="jaxrace.commands.train.job:train",
        report="jaxrace.commands.train.summary:print_results",
        counted="episodes",
        folder="ENV-METHOD-NUMBER",
        cost=(14.4, 1.1e-6, lambda job: len(job.settings) * job.repeats * job.episodes),
    ),
}
_BUDGET = re.compile(r"--(budget|(total|max)-?(time)?steps|(time|num-)?steps)\b")
# What each verb does: those that answer a file: ``jaxrace.commands.VERB`` is imported if asked for,
_FILES = {
    "race": "certify the best of a table of scores",
    "rank": "put the options of a table of scores in tiers",
    "gate": "let candidates pass that are better than a baseline, or not worse",
    "order": "draw the order of tasks of several benchmarks, before they are run",
    "plan": "say how many runs a race, a ranking or a gate will need",
    "duel": "say who beats whom in a matrix of wins or preferences",
    "select": "find the best k from votes, games or other comparisons of two",
    "improve": "find a policy that is certainly better than the one in use, in a log of decisions",
}
# those that leave a run's folder,
_RUNS = {"train": "train policies, and compare them with baselines"}
# and those that only print.
_SHOWN = {
    "list": "show environments, methods, bounds and strategies",
    "info": "show versions and devices",
}


def command() -> NoReturn:
    """The process `jaxrace`: runs ``main``, and ends with its status."""
    let_streams_last()
    gc.set_threshold(_NEW_OBJECTS)  # collecting garbage took 6 % of a short job
    status = main()
    try:
        sys.stdout.flush()
    except OSError as error:
        status = _fail(1, str(error))
    if status > _INTERRUPTED:  # a program of a stopped sweep may still run: do not wait for it
        leave(status)
    gc.freeze()  # else the end of the interpreter takes .4 s
    sys.exit(status)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments or its own, and return the exit status."""
    argv = sys.argv[1:] if argv is None else list(argv)
    if not argv:
        names = ", ".join((*_FILES, *_RUNS, *_SHOWN))
        return _fail(2, f"expected one of {names}; jaxrace --help says more")

    def run() -> int:
        arguments = _make_parser(argv[0], verb).parse_args(options.with_local_cluster(argv))
        if verb is not None:
            return do(verb, arguments[argv[0]], argv[0])
        pkgutil.resolve_name(f"jaxrace.commands.catalogue:print_{arguments.verb}")()
        return 0

    verb = _VERBS.get(argv[0])
    if argv[0] in _FILES:
        verb = Verb(pkgutil.resolve_name(f"jaxrace.commands.{argv[0]}:Config"))
    return with_status(run, verb, as_json="--json" in argv)


def with_status(run: Callable[[], int], verb: Verb | None, *, as_json: bool = False) -> int:
    """The exit status of ``run``; an error is printed in a line, and perhaps as JSON."""
    fail = functools.partial(_failed, as_json)
    try:
        return run()
    except SystemExit:  # --help and --version end so
        return 0
    except (ArgumentError, ValueError) as error:
        return fail(4 if isinstance(error, DataRefused) else 2, _as_spelt(error, verb))
    except ModuleNotFoundError as error:  # an install for tables may have NumPy alone
        if error.name is None or error.name.startswith("jaxrace"):
            raise
        package = error.name.partition(".")[0]
        return fail(1, f"expected the package {package}, got none: pip install {package}")
    except (RuntimeError, OSError) as error:
        return fail(1, str(error))
    except MemoryError as error:
        return fail(1, f"expected more memory than there is: {error}")
    except KeyboardInterrupt as error:  # it may have the number of another signal
        return fail(_INTERRUPTED + (error.args[0] if error.args else signal.SIGINT), "interrupted")


def _as_spelt(error: Exception, verb: Verb | None) -> BadArgument | str:
    """An error, with the option as it is spelt in the command; a text if it is of the parser."""
    hints: dict[str, Any] = {"lanes": int | None, "device": options.Device}
    hints |= get_type_hints(verb.config) if verb else {}
    if typed := re.match(r'Parser key "(\w+)"', str(error)):  # jsonargparse
        value = str(error).rpartition("value: ")[2]
        error = BadArgument(typed[1], options.expected(hints[typed[1]]), repr(value))
    named = hints.keys() - {*options.POSITIONAL} | {"out", "resume", "ray", "report"}
    if isinstance(error, BadArgument):
        names = error.name.split(", ")
        spelt = ", ".join(map(options.spelt, names)) if {*names} <= named else error.name
        return type(error)(spelt, error.expected, error.got, error.hint)
    # "argument --sigma: ..." and "arguments are required: train.env" of argparse.
    said = re.sub(rf"^argument (?=--)|\b({'|'.join((*_RUNS, *_FILES))})\.", "", str(error))
    is_training = verb is not None and verb.config is TrainConfig
    return said + _hint_of_training(said) if is_training else said


def _hint_of_training(said: str) -> str:
    """What a newcomer may have meant by words that `jaxrace train` does not know."""
    if said.endswith("required: env"):
        return ": `jaxrace list` shows environments; your own is module:name"
    unknown, _, given = said.partition(": ")
    if unknown != "unrecognized arguments":
        return ""
    if _BUDGET.match(given):
        return ": --episodes N is the budget of each search"
    if os.path.isdir(given) or os.sep in given:
        return f": --resume takes no folder, --out {shlex.quote(given.split()[0])} --resume does"
    return ": `jaxrace train --help` shows all"


def _make_parser(name: str, asked: Verb | None) -> ArgumentParser:
    """The parser of the command, with the options of the verb of this name."""
    about = "Find out which of your models, agents or settings is really best."
    example = (
        "race scores.csv --top 2\n  jaxrace race answers.csv --shared\n"
        "  jaxrace select votes.csv\n  jaxrace train module:environment"
    )
    parser = _new_parser(about, example, prog="jaxrace", version=jaxrace.__version__)
    more = "jaxrace VERB --help says more about each."
    verbs = parser.add_subcommands(dest="verb", title="verbs", description=more, metavar="VERB")
    for verb, text in {**_FILES, **_RUNS, **_SHOWN}.items():
        if verb == name and asked is not None:
            chosen = parser_of(asked)
            verbs.add_subcommand(verb, chosen, help=text)
            chosen.prog = f"jaxrace {verb}"  # without the options of the parser above
        else:
            verbs.add_subcommand(verb, _new_parser(f"{text.capitalize()}.", verb), help=text)
    return parser


def parser_of(verb: Verb, **settings: Any) -> ArgumentParser:
    """The parser of a verb's own options."""
    parser = _new_parser(options.described(verb.config)[0], **settings)
    options.add_options(parser, verb.config)
    if not verb.job:
        options.add_answer_options(parser)
    else:
        options.add_run_options(parser, f"runs/{verb.folder}")
    return parser


def _new_parser(about: str, example: str = "", **settings: Any) -> ArgumentParser:
    about += f"\n\nFor example:\n  jaxrace {example}" if example else ""
    return ArgumentParser(
        description=options.filled(about, shutil.get_terminal_size().columns - 2),
        formatter_class=RawDescriptionHelpFormatter,
        exit_on_error=False,
        allow_abbrev=False,
        **settings,
    )


def do(verb: Verb, arguments: Namespace, name: str) -> int:
    """Answer a file, or do a job and print what it left."""
    settings = vars(arguments)
    if verb.config is TrainConfig:
        require_environment(settings["env"])
    given = {
        name: settings.pop(name)
        for name in (*options.OF_RUNS, *options.OF_ANSWERS)
        if name in settings
    }
    config = verb.config(**settings)
    if verb.job:
        return _do_job(verb, config, **given)
    from jaxrace.commands.front import answer_file

    return answer_file(name, config, given)


def _do_job(
    verb: Verb,
    config: Any,
    out: str | None,
    resume: bool,
    lanes: int | None,
    ray: str | None,
    device: options.Device,
    no_compilation_cache: bool,
) -> int:
    """Do a job that leaves a folder, and print what it left."""
    if lanes is not None:
        require_integer("lanes", lanes, 1, _MOST_LANES)
    if ray is not None:
        require_address("ray", ray)
    import jax

    from jaxrace.core.programs import use_compilation_cache

    if no_compilation_cache:
        jax.config.update("jax_enable_compilation_cache", False)
    else:
        use_compilation_cache()
    from rich.console import Console

    from jaxrace import sweep
    from jaxrace.commands.device import place
    from jaxrace.commands.job import Job
    from jaxrace.commands.progress import shown_stages
    from jaxrace.commands.report import require_figures

    if "JAX_NUM_CPU_DEVICES" not in os.environ:
        with contextlib.suppress(RuntimeError):  # JAX runs, in a process that goes on
            sweep.use_all_cores()
    if ray is None:
        place(device, verb.cost, config, Path(out) if resume and out else None, _note)
        cluster, connected = None, contextlib.nullcontext()
    elif device != "auto":
        raise BadArgument("device", "auto with --ray, whose tasks choose", device)
    else:  # accelerators are for the tasks
        jax.config.update("jax_platforms", "cpu")
        cluster = sweep.Ray(None if ray == options.LOCAL else ray)
        connected = sweep.connected(cluster.address)
    require_figures()
    stop = sweep.StopOnSignals(at_once=not getattr(config, "learns", True))
    say = functools.partial(_note, "warning")
    job = Job(config, out, resume, stop, lanes=lanes, cluster=cluster, on_note=say)
    shown = shown_stages(Console(stderr=True), verb.counted, verb.config is TrainConfig)
    try:
        with stop, giving_up(stop, _give_up), connected, shown as on_stage:
            folder = pkgutil.resolve_name(verb.job)(dataclasses.replace(job, on_stage=on_stage))
    except (sweep.Interrupted, KeyboardInterrupt) as error:
        where = error if isinstance(error, sweep.Interrupted) else None
        return _interrupted(stop.received, where)
    pkgutil.resolve_name(verb.report)(Console(), folder)
    return 0


def _failed(as_json: bool, status: int, error: BadArgument | str) -> int:
    """Print why the command ends: a line to stderr, and perhaps JSON to stdout; the status."""
    line = " ".join(str(error).split())
    is_refused = isinstance(error, DataRefused)
    _note("DATA REFUSED" if is_refused else "error", line)
    if as_json:
        parts = {name: getattr(error, name, None) for name in ("name", "expected", "got")}
        parts |= {"refused": line} if is_refused else {}
        print(json.dumps({"error": line, **parts, "status": status}, indent=1))
    return status


_fail = functools.partial(_failed, False)


def _note(kind: str, text: str) -> None:
    """Print a line of some kind, such as a warning, to stderr."""
    from jaxrace.answers.answer import shown  # late: it imports NumPy

    print(f"jaxrace: {kind}:", shown(text), file=sys.stderr)


def _interrupted(signal: int | None, where: BaseException | Path | None) -> int:
    """Print that the command was interrupted, and how it goes on, if a folder is known."""
    if where is None or not str(where):
        return _fail(_INTERRUPTED + (signal or 2), "interrupted")
    again = f"the same command with --out {where} --resume goes on"
    return _fail(_INTERRUPTED + (signal or 0), f"interrupted; {again}")


def _give_up(signal: int) -> NoReturn:
    """End a process that took no notice of a signal; called in another thread."""
    from rich.console import Console

    from jaxrace import runs

    Console(stderr=True).show_cursor()  # that a bar has hidden
    leave(_interrupted(signal, runs.let_go()))
