"""The job `jaxrace improve`: a policy that is certainly no worse. Axes: J repeats, B tests."""

import functools
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console

from jaxrace import files, improvement, plots, runs
from jaxrace.bases import Affine, Fourier
from jaxrace.commands.improve.config import ImproveConfig
from jaxrace.commands.improve.domains import DOMAINS, Worth, floor_of, run_trials
from jaxrace.commands.improve.estimates import estimates_of, lines_of
from jaxrace.commands.improve.picture import figure_of_log
from jaxrace.commands.improve.words import lines_of_policy, policy_in_words
from jaxrace.commands.job import Job
from jaxrace.commands.printing import say
from jaxrace.commands.workbench import Workbench, run_job, two_keys
from jaxrace.compilation import bounded_jit
from jaxrace.improvement.loading import Loaded, Parts, divide, load
from jaxrace.improvement.plausibility import WEIGHT_LEVEL
from jaxrace.improvement.policy_improvement import in_training, require_enough
from jaxrace.improvement.weights import evidence, log_weights
from jaxrace.strategies import Strategy

FIGURE, POLICY = "performance.png", "policy.npz"

# Weights of a policy. More of them than the first take minutes with a full covariance matrix, and
# with more than the second even a separable one takes a minute or more per thousand trajectories.
_MOST_FOR_FULL, _MOST_WEIGHTS = 1_000, 10_000
_MOST_FEATURES = 2 * 10**8  # features of all steps of a log: 800 MB
_ROUNDING = 1e-6  # of estimates in [0, 1]


class Log(NamedTuple):
    """A log, made ready for its one test."""

    method: improvement.PolicyImprovement
    parts: Parts
    said: tuple[str, ...]  # what was guessed of the file
    key: jax.Array


class Done(NamedTuple):
    """What a job has come to."""

    tests: dict[str, np.ndarray]  # the columns of log.csv, [J, B] each
    policy: improvement.Mixed  # in the end, leaves [J, ...]
    floor: Worth  # without a standard error if it was given, or is exact
    found: dict[str, Any]  # what the summary says of a log, or of a simulation, alone
    scaling: dict[str, Any]  # what else must be known to apply the policy


def improve(job: Job) -> Path:
    """Improve a policy, and write a run folder.

    Its policy.npz has theta and alpha of the policy in the end, of every repeat; of a file also
    what it takes to apply it, see ``load_policy`` in ``jaxrace.improvement.saved``.
    """
    config: ImproveConfig = job.config
    # What is wrong with a file is said before there is a folder.
    log = _load(config)

    def work(bench: Workbench) -> None:
        if log is not None and config.candidates == "k-fold":
            bench.job.on_stage("search with cross-validation, one for each fold and mixture", 0, 0)
        done = _simulate(config, bench) if log is None else _from_log(config, log)
        repeats, tests = done.tests["passed"].shape
        columns = {name: values.reshape(-1) for name, values in done.tests.items()}
        runs.write_log(bench.folder, [{"repeat": np.repeat(np.arange(repeats), tests), **columns}])
        theta, alpha = map(np.asarray, done.policy)
        with files.new_file(bench.folder / POLICY) as file:
            np.savez(file, theta=theta, alpha=alpha, **done.scaling)
        figure = _figure if log is None else figure_of_log
        found = {"floor": done.floor.mean, **done.found}
        plots.save_twice(figure(config, done.tests, found), bench.folder / FIGURE)
        runs.write_summary(bench.folder, _summary(config, done))

    return run_job("improve", job, work)


def _load(config: ImproveConfig) -> Log | None:
    if not config.is_file:
        return None
    assert config.low is not None
    assert config.high is not None
    returns = improvement.ReturnRange(config.low, config.high, config.discount)
    try:
        found = load(config.task, returns, **config.of_table)
    except OSError as error:
        message = f"task: expected a file that can be read, got {config.task!r}: {error.strerror}"
        raise ValueError(message) from error
    require_enough(found.data)
    policies = len(np.unique(found.data.behaviour))
    if config.candidates != "none" and policies > 1:
        raise ValueError(
            f"candidates: expected none for a log of {policies} behaviour policies, as mixtures "
            f"are with the one in use, got {config.candidates}"
        )
    _require_few_numbers(found, _basis(config.order, len(found.names)).num_features)
    improvement.require_possible(
        found.data,
        found.seen,
        functools.partial(found.place, column="probability", array="probabilities"),
    )
    # All that is learnt from the log but the verdict is learnt from its training part, so that the
    # candidate is independent of what it is tested on.
    split_key, key = two_keys(np.uint32(config.seed))
    parts = divide(found, np.asarray(in_training(split_key, found.data)))
    basis = _basis(config.order, len(parts.names))
    softmax = improvement.LinearSoftmax(basis, max(parts.num_actions, 2))
    name = "CMA_ES" if softmax.example().size <= _MOST_FOR_FULL else "Sep_CMA_ES"
    strategy = Strategy(name, population_size=16)
    search = improvement.CandidateSearch(config.candidates, strategy=strategy)
    bound = improvement.bound_called(config.bound)
    method = improvement.PolicyImprovement(softmax, returns, bound, search)
    return Log(method, parts, found.said, key)


def _basis(order: int, inputs: int) -> Affine | Fourier:
    return Fourier(order, inputs) if order else Affine(inputs)


def _require_few_numbers(loaded: Loaded, num_features: int) -> None:
    """Raise if policies would have too many weights, or all steps too many features."""
    actions = np.asarray(loaded.data.actions)
    row, step = (int(index) for index in np.unravel_index(actions.argmax(), actions.shape))
    most = _MOST_WEIGHTS // num_features
    if most < 2:
        raise ValueError(
            f"order: expected policies of at most {_MOST_WEIGHTS} weights, got {num_features} of "
            "each action"
        )
    if actions[row, step] >= most:  # perhaps a number that is no action's
        raise ValueError(
            f"{loaded.place(row, step)}: expected at most {most - 1}, as policies have at most "
            f"{_MOST_WEIGHTS} weights, {num_features} of each action, got {actions[row, step]}"
        )
    count, horizon = actions.shape
    if count * horizon * num_features > _MOST_FEATURES:
        raise ValueError(
            f"order: expected at most {_MOST_FEATURES:,} features of all steps together, got "
            f"{num_features:,} of each of {count:,} x {horizon:,} steps"
        )


def _from_log(config: ImproveConfig, log: Log) -> Done:
    method, parts, said, key = log
    if config.floor is None:
        # With the other returns the floor, and the candidate with it, would know the test.
        earned = np.asarray(method.returns.returns(parts.train), np.float64)
        stderr = float(earned.std(ddof=1) / np.sqrt(len(earned)))
        floor = Worth(round(float(earned.mean()), 6), stderr)
    else:
        floor = Worth(config.floor, 0.0)
    # Of a mean that is 1 or 0, rounding.
    wanted = min(max(floor.mean, 0.0), 1.0)
    params = method.params(wanted, config.delta)
    found = method.run_on(key, parts.train, parts.test, params)
    weights = _weights_of(method, found.policy, parts.test)
    check = improvement.check_weights(weights)
    # Weights whose mean is above 1 make every policy look better than it is.
    passed = np.asarray(found.is_found) & ~np.asarray(check.is_refuted)
    count = len(parts.train.behaviour) + len(parts.test.behaviour)
    tests = {
        "trajectories": count,
        "passed": passed,
        "added": passed,
        "lower_bound": found.lower_bound,
        "estimate": found.estimate,
        "delta": found.delta,
    }
    summary = {
        "lower_bound": float(found.lower_bound),
        "estimate": float(found.estimate),
        "alpha": round(float(found.policy.alpha), 6),
        "weights": {
            "mean": check.mean if np.isfinite(check.mean) else None,
            "stderr": check.stderr if np.isfinite(check.stderr) else None,
            "level": WEIGHT_LEVEL,
            "is_refuted": check.is_refuted,
            "is_low": check.is_low,
        },
        "said": list(said),
    }
    if summary["alpha"] > 0 and max(p.taken.shape[1] for p in (parts.train, parts.test)) == 1:
        weights = np.asarray(weights, np.float64)
        summary["estimates"] = estimates_of(method, found.policy, parts, weights, config.delta)
    # What is mixed with the policy in use, alpha below 1, is for its owner to mix.
    policy = jax.tree.map(lambda x: np.asarray(x)[None], found.policy)
    scaling = {"order": config.order, "names": np.array(parts.names)}
    scaling |= {"low": parts.low, "high": parts.high}
    if parts.action_names is not None:
        scaling["actions"] = np.array(parts.action_names)
    if summary["alpha"] > 0:
        summary["policy"] = policy_in_words(method, found.policy, parts)
    columns = {name: np.asarray(value)[None, None] for name, value in tests.items()}
    return Done(columns, policy, floor, summary, scaling)


@bounded_jit(1, work=lambda *_: 0.0)
def _weights_of(
    method: improvement.PolicyImprovement, policy: improvement.Mixed, data: improvement.Trajectories
) -> jax.Array:
    """Importance weights of the candidate, float32 [n]."""
    return jnp.exp(log_weights(policy, evidence(method.softmax, data, method.returns, None)))


def _simulate(config: ImproveConfig, bench: Workbench) -> Done:
    domain = DOMAINS[config.task]
    start = floor_of(domain, config.seed)
    start = start._replace(mean=round(start.mean, 6))
    floor = start if config.floor is None else Worth(config.floor, 0.0)
    search = improvement.CandidateSearch(config.candidates)
    bound = improvement.bound_called(config.bound)
    method = improvement.PolicyImprovement(domain.softmax, domain.returns, bound, search)
    # A single batch is a run of Daedalus that ends after its first test.
    is_batch = config.chosen_method == "batch"
    size = config.trajectories if is_batch else config.chosen_batch
    keeps = config.chosen_method == "daedalus2"
    daedalus = improvement.Daedalus(method, size, config.trajectories // size, keeps, config.spend)
    trials = run_trials(
        bench, config.task, domain, daedalus, config.delta, floor, start, config.repeats
    )
    row = trials.row
    tests = {
        "trajectories": row.trajectories,
        "passed": row.is_found,
        "added": row.is_added,
        "lower_bound": row.lower_bound,
        "estimate": row.estimate,
        "delta": row.delta,
        "performance": trials.performance,  # of the policy then in use
    }
    summary = {
        "start": start.mean,
        "performance": runs.mean_and_stderr(trials.performance[:, -1]),
        "worse_than_floor": int(trials.is_worse[:, -1].sum()),
    }
    policy = jax.tree.map(lambda x: x[:, -1], row.current)
    columns = {name: np.asarray(values) for name, values in tests.items()}
    return Done(columns, policy, floor, summary, {})


def _summary(config: ImproveConfig, done: Done) -> dict[str, Any]:
    """Of the last test, and of all."""
    passed = done.tests["passed"]
    is_safe = improvement.bound_called(config.bound).is_safe
    is_whole = config.spend or passed.size == 1
    return {
        "method": config.chosen_method,
        "bound": config.bound,
        "bound_is_safe": is_safe,
        "is_safe": is_safe and config.chosen_method != "daedalus2",
        "delta": config.delta,
        "delta_holds_for": "the whole run" if is_whole else "a test",
        "floor": done.floor.mean,
        "floor_stderr": done.floor.stderr,
        "floor_is_estimate": config.is_file and config.floor is None,
        "tests": passed.shape[1],
        "repeats": passed.shape[0],
        "passed": runs.mean_and_stderr(passed.any(1).astype(float)),
        **done.found,
    }


def _figure(
    config: ImproveConfig, tests: dict[str, np.ndarray], found: dict[str, Any]
) -> "plots.Figure":
    figure, [[panel]] = plots.panels((7, 4.4))
    start = found["start"]
    performance = tests["performance"]
    x = np.append(0, tests["trajectories"][0])
    curves = np.concatenate([np.full((len(performance), 1), start), performance], 1)
    panel.plot(x, curves.T, color="C0", alpha=0.25, lw=1)
    panel.plot(x, curves.mean(0), color="C0", lw=2, label="mean of the repeats")
    panel.axhline(start, color="0.5", lw=0.8, label="the policy at the start")
    panel.set(xlabel="trajectories", ylabel="performance of the policy in use")
    panel.set_title(f"{config.task}: {config.chosen_method}, bound {config.bound}")
    plots.tidy(panel, "x")
    panel.legend(frameon=False)
    return figure


def print_improvement(console: Console, folder: Path) -> None:
    """Say of a run folder of ``improve`` what was found, and what it is worth."""
    summary = runs.read_summary(folder)
    lines = _of_file(summary) if "performance" not in summary else _of_simulation(summary)
    if not (summary.get("weights") or {}).get("is_refuted"):
        lines.append(_worth(summary))
    say(console, *lines, f"policies and all tests: {folder}")


def _of_file(summary: dict[str, Any]) -> list[str]:
    bound, floor = f"{summary['lower_bound']:.3f}", f"{summary['floor']:.3f}"
    wanted = f"(wanted {floor}, estimate {summary['estimate']:.3f})"
    kind = "confidence" if summary["bound_is_safe"] else "approximate confidence"
    confidence = f"with {kind} {100 * (1 - summary['delta']):.4g}%"
    weights = summary.get("weights")
    if weights and weights["is_refuted"]:
        said = "nothing can be said: the logged probabilities are too small; "
        lines = [f"{said}keep the policy in use"]
    elif not summary["passed"]["mean"]:
        said = f"nothing found: the bound of the candidate {confidence} is {bound} {wanted}; "
        lines = [f"{said}keep the policy in use"]
    elif not summary["alpha"]:
        said = f"nothing better found: {confidence} the policy in use performs at least {bound}"
        lines = [f"{said} {wanted}; keep it"]
    elif summary["estimate"] <= summary["floor"] + _ROUNDING:
        said = f"nothing better found: {confidence} its performance is at least {bound} {wanted}, "
        lines = [f"{said}but it is not even estimated to exceed that; keep the policy in use"]
    else:
        lines = [f"found: {confidence} its performance is at least {bound} {wanted}"]
        if summary["alpha"] < 1:
            lines.append(
                f"a mixture: what policy.npz says with probability {summary['alpha']:.2g}, the "
                "policy in use otherwise, in every decision"
            )
    if weights:
        lines += _of_weights(weights)
    lines += [*lines_of_policy(summary), *lines_of(summary)]
    lines += summary.get("said", [])
    if summary["floor_is_estimate"]:
        lines.append(
            f"floor {floor} = mean return of the fifth that was searched +- "
            f"{summary['floor_stderr']:.3f}: an estimate of the policy in use, or of all that "
            "are in the log, and what is said is about that number; --floor sets another one"
        )
    return lines


def _of_weights(weights: dict[str, Any]) -> list[str]:
    numbers = [
        "beyond what float32 holds" if number is None else f"{number:.3f}"
        for number in (weights["mean"], weights["stderr"])
    ]
    said = f"mean weight of the tested trajectories {' +- '.join(numbers)}: "
    if weights["is_refuted"]:
        return [
            f"{said}if probabilities were logged as they are, it would be 1, and so large with "
            f"probability {weights['level']:g} at most"
        ]
    if weights["is_low"]:
        return [
            f"{said}less than 1; either probabilities were logged too large, or the policy in use "
            "never does all that this one does, which then performs better than is said"
        ]
    level = f"by a test that errs with probability {weights['level']:g}"
    return [f"{said}1 if probabilities were logged as they are (not refuted, {level})"]


def _of_simulation(summary: dict[str, Any]) -> list[str]:
    performance = summary["performance"]
    error = "" if performance["stderr"] is None else f" +- {performance['stderr']:.3f}"
    return [
        f"policy at the start: performance {summary['start']:.3f}",
        f"policy in the end:   performance {performance['mean']:.3f}{error}, mean of "
        f"{summary['repeats']} repeats of {summary['tests']} tests",
        f"found something in {summary['passed']['mean']:.0%} of the repeats; "
        f"worse than the floor, {summary['floor']:.3f}, in the end: {summary['worse_than_floor']}",
    ]


def _worth(summary: dict[str, Any]) -> str:
    if summary["is_safe"]:
        return (
            f"bound {summary['bound']} is safe: a policy worse than the floor with probability at "
            f"most {summary['delta']:g} for {summary['delta_holds_for']}"
        )
    why = []
    if summary["method"] == "daedalus2":
        why.append("daedalus2 tests on data that it has seen")
    if not summary["bound_is_safe"]:
        why.append(f"bound {summary['bound']} is semi-safe, that is approximate")
    return f"not a strict guarantee: {', and '.join(why)}"
