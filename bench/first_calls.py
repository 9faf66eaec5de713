"""What the first and the second call of every driver take from plain Python.

    python bench/first_calls.py [--only NAME ...] [--rounds 1]

Processor seconds, each driver in a process of its own, which has imported JAX and made its
arguments; of the first call, of a second one with another key, and of one with the function of the
user defined again, as a cell of a notebook does it. Medians of the rounds. Beside them how many
programs the first call compiles, and a digest of what all the calls return.
"""

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

_FLOOR = """
import jax, matplotlib.pyplot
jax.jit(lambda x: x @ x)(jax.numpy.ones((8, 8))).block_until_ready()
"""

# Each defines `anew()`, which gives a function of the user, and `call(key, function)`.
_RACE = """
race = racing.{kind}({size}, {top}, {capacity}, kernels.total_order)
params, options = race.params(delta=0.05), jnp.arange({size}) / 3.0
def anew():
    def sample(key, mean):
        return mean + jax.random.normal(key)
    return sample
def call(key, sample):
    return racing.run(race, key, sample, options, params)
"""
_SHARED = """
race = racing.SharedRace(10, 3, capacity=2000, by="wins", compare=kernels.total_order)
params, options = race.params(delta=0.05), jnp.arange(10) / 20.0
def anew():
    def sample(key, skill, task):
        return skill + jax.random.normal(jax.random.fold_in(key, (20 * skill).astype(int)))
    return sample
def call(key, sample):
    return racing.run(race, key, sample, options, params)
"""
_SELECTION = """
selector = selection.{kind}(10, 3)
problem = selection.thurstone(jax.random.key(7), 10)
def anew():
    return lambda key, problem, first, second: selection.normal_score(key, problem, first, second)
def call(key, compare):
    return selection.run(selector, key, compare, problem, 535, selector.params(), interval=20)
"""
_DUELING = """
algorithm = dueling.{kind}
problem = dueling.duels(dueling.matrices.flat(10, 0.7))
def anew():
    return None
def call(key, _):
    return dueling.run(algorithm, key, problem, 2000, algorithm.params({params}))
"""
_IMPROVEMENT = """
from jaxrace import improvement
from jaxrace.agents.bases import Fourier
done = np.arange(400)[:, None] % 2
data = improvement.trajectories(
    np.zeros((400, 1, 1)), done, np.full((400, 1), 0.5), 0.1 + 0.8 * done
)
method = improvement.PolicyImprovement(
    improvement.LinearSoftmax(Fourier(1, 1), 2), improvement.ReturnRange(0, 1)
)
params = method.params(floor=0.5)
def anew():
    return None
def call(key, _):
    return method.run(key, data, params)
"""
_SEARCH = """
from jaxrace import search
from jaxrace.envs import medical
from jaxrace.agents.policies import Sigmoid
race = racing.PreferenceRace(num_options=7, top=3, capacity=100, compare=medical.prefer)
learner = search.PolicySearch(medical.Medical(), Sigmoid(2), medical.TreatmentOutcome(), race)
params = learner.params(sigma0=10.0, budget=2000)
def anew():
    return None
def call(key, _):
    return search.run(learner, jax.random.split(key, 4), params).rows
"""


def _race(kind: str, size: int, top: int, capacity: int) -> tuple[str, str]:
    code = _RACE.format(kind=kind, size=size, top=top, capacity=capacity)
    return f"{kind}, K = {size:,}, n_max {capacity:,}", code


DRIVERS = dict(
    [
        _race("DominanceRace", 10, 3, 300),
        _race("DominanceRace", 20, 5, 700),
        _race("DominanceRace", 200, 10, 100),
        _race("DominanceRace", 1_000, 10, 100),
        _race("PreferenceRace", 10, 3, 300),
        _race("PreferenceRace", 200, 10, 100),
        _race("PreferenceRace", 1_000, 10, 100),
        (
            "HoeffdingRace, K = 10, n_max 300",
            _RACE.replace("({size}, {top}, {capacity}, kernels.total_order)", "(10, 3)")
            .replace("delta=0.05", "0.05, 300, value_range=8.0")
            .format(kind="HoeffdingRace", size=10),
        ),
        ("shared tasks, K = 10, 2,000 tasks", _SHARED),
        *(
            (f"selection.run, {kind}", _SELECTION.format(kind=kind))
            for kind in ("Pocbam", "MlPocbam")
        ),
        *(
            (f"dueling.run, {kind}", _DUELING.format(kind=kind, params=params))
            for kind, params in (
                ("Rucb(10)", ""),
                ("Savage(10, dueling.CopelandWinner(10))", "horizon=2000"),
                ("SupKlucb(10)", ""),
                ("DoubleThompson(10)", ""),
            )
        ),
        ("PolicyImprovement.run, 400 steps", _IMPROVEMENT),
        ("search.run, 4 of 2,000 episodes", _SEARCH),
    ]
)

_MEASURE = """
import sys; sys.path.insert(0, {here!r})
import first_calls
first_calls.measure(anew, call)
"""
_IMPORTS = """
import jax, jax.numpy as jnp, numpy as np
from jaxrace import dueling, kernels, racing, selection
"""


def measure(anew: Any, call: Any) -> None:
    """Print what three calls take, the programs that the first one compiles, and a digest."""
    import jax

    jax.jit(lambda x: x @ x)(jax.numpy.ones((8, 8))).block_until_ready()
    keys, found = [jax.random.key(number) for number in range(3)], hashlib.sha256()
    compiled: list[str] = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, *_, **__: compiled.append(event) if "backend_compile" in event else None
    )
    function = anew()
    seconds, counts = [], []
    for key, given in zip(keys, (function, function, anew()), strict=True):
        started, before = time.process_time(), len(compiled)
        result = jax.block_until_ready(call(key, given))
        seconds.append(time.process_time() - started)
        counts.append(len(compiled) - before)
        for leaf in jax.tree.leaves(result):
            found.update(jax.device_get(leaf).tobytes())
    print(json.dumps([seconds, counts, found.hexdigest()[:12]]))


def _process(code: str) -> tuple[float, str]:
    """The processor seconds of a process, and the last line that it prints."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    before = os.times()
    command = [sys.executable, "-W", "ignore", "-c", code]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if said.returncode:
        raise RuntimeError(said.stderr[-3000:])
    after = os.times()
    used = after.children_user + after.children_system
    return used - before.children_user - before.children_system, said.stdout.strip().split("\n")[-1]


def main() -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", action="append", help="a part of a name")
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    chosen = [
        name for name in DRIVERS if not arguments.only or any(o in name for o in arguments.only)
    ]
    found: dict[str, list[Any]] = {name: [] for name in chosen}
    floors = []
    for _ in range(arguments.rounds):
        floors.append(_process(_FLOOR)[0])
        for name in chosen:
            code = _IMPORTS + DRIVERS[name] + _MEASURE.format(here=str(ROOT / "bench"))
            found[name].append(json.loads(_process(code)[1]))
            print(name, found[name][-1], file=sys.stderr, flush=True)
    floor = statistics.median(floors)
    print(f"The floor took {floor:.2f} s.\n")
    print("| Driver | first call | second | function anew | first, floors | programs | digest |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, rounds in found.items():
        calls = [statistics.median(one[0][i] for one in rounds) for i in range(3)]
        shown = " | ".join(f"{x:.3g}" for x in calls)
        counts = "+".join(map(str, rounds[0][1]))
        print(f"| {name} | {shown} | {calls[0] / floor:.1f} | {counts} | {rounds[0][2]} |")


if __name__ == "__main__":
    main()
