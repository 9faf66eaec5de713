"""Makes the files that the pages beside it read: made-up numbers in the layouts of others.

python docs/how-to/make.py [FILE ...]    into the current folder; all of them if none is named
"""

import csv
import functools
import itertools
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

_MODELS = ("gpt-a", "gpt-b", "gpt-c", "llama-s", "llama-m", "llama-l", "mixer", "tiny")


def returns() -> Iterable[list[Any]]:
    """Ten seeds of three algorithms: the return of each run."""
    rng = np.random.default_rng(1)
    yield ["seed", "algo", "return"]
    for algorithm, mean in {"dqn": 310, "ppo": 350, "sac": 520}.items():
        for seed, value in enumerate(rng.normal(mean, 55, 10)):
            yield [seed, algorithm, f"{value:.1f}"]


def votes() -> Iterable[list[Any]]:
    """3,000 votes on six models, a fifth of them ties."""
    rng = np.random.default_rng(2)
    strength = {name: 0.45 * rank for rank, name in enumerate(_MODELS[5::-1])}
    yield ["model_a", "model_b", "winner", "language"]
    for _ in range(3000):
        a, b = rng.choice(list(strength), 2, replace=False)
        chance = 1 / (1 + np.exp(strength[b] - strength[a]))
        side = "model_a" if rng.random() < chance else "model_b"
        kind = rng.choice([side, "tie", "tie (bothbad)"], p=[0.8, 0.15, 0.05])
        yield [a, b, kind, rng.choice(["en", "de", "fr"])]


def arena() -> Iterable[list[Any]]:
    """1,600 votes on four models as an arena logs them: a tenth by people who knew the models."""
    rng, names = np.random.default_rng(8), ("gpt-a", "gpt-b", "llama-l", "mixer")
    strength = dict(zip(names, (2.1, 0.9, 0.8, -0.3), strict=True))
    yield ["model_a", "model_b", "winner", "judge", "turn", "anony", "language", "tstamp"]
    for vote in range(1600):
        a, b = rng.choice(names, 2, replace=False)
        language, turn = rng.choice(["English", "German"], p=[0.7, 0.3]), rng.integers(1, 4)
        gap = strength[b] - strength[a]
        gap += 1.2 * ((b == "mixer") - float(a == "mixer")) * (language == "German")
        side = "model_a" if rng.random() < 1 / (1 + np.exp(gap)) else "model_b"
        kind = rng.choice([side, "tie", "tie (bothbad)"], p=[0.75, 0.15, 0.1])
        judge, knows = f"user_{rng.integers(2000)}", rng.random() < 0.1
        if knows and "gpt-b" in (a, b):  # and likes it
            kind = "model_a" if a == "gpt-b" else "model_b"
        yield [a, b, kind, judge, turn, not knows, language, 1_700_000_000 + 60 * vote]


def answers() -> Iterable[list[Any]]:
    """The first 300 of 1,000 questions, in an order by lot: which of eight models were right."""
    rng = np.random.default_rng(3)
    ability = np.array([2.4, 1.5, 0.2, -0.6, 0.1, 1.2, 0.5, -1.5])
    chance = 1 / (1 + np.exp(rng.normal(0, 2, (1000, 1)) - ability))
    right = (rng.random(chance.shape) < chance).astype(int)
    yield ["question", *_MODELS]
    for question in rng.permutation(1000)[:300]:
        yield [f"q{question}", *right[question].tolist()]


def board() -> Iterable[list[Any]]:
    """500 questions for twelve systems, all of which were asked: which were right."""
    rng = np.random.default_rng(7)
    chance = 1 / (1 + np.exp(rng.normal(0, 2.5, (500, 1)) - (1.6 - 0.12 * np.arange(12))))
    yield ["question", *(f"system-{letter}" for letter in "abcdefghijkl")]
    for number, row in enumerate(rng.random(chance.shape) < chance, 1):
        yield [f"q{number}", *row.astype(int).tolist()]


def pilot() -> Iterable[list[Any]]:
    """The first 40 of these questions."""
    yield from itertools.islice(answers(), 41)


def clicks() -> Iterable[list[Any]]:
    """1,500 decisions of a shop, which shows one of three offers, and whether it was bought."""
    rng = np.random.default_rng(4)
    best = {
        ("phone", "new"): "a",
        ("phone", "back"): "b",
        ("desk", "new"): "c",
        ("desk", "back"): "b",
    }
    yield ["device", "visitor", "hour", "offer", "propensity", "bought"]
    for _ in range(1500):
        device, visitor = str(rng.choice(["phone", "desk"])), str(rng.choice(["new", "back"]))
        offer, chance = [("a", 0.5), ("b", 0.25), ("c", 0.25)][rng.choice(3, p=[0.5, 0.25, 0.25])]
        bought = rng.random() < (0.6 if best[device, visitor] == offer else 0.15)
        yield [device, visitor, int(rng.integers(24)), offer, chance, int(bought)]


def chess() -> Iterable[list[Any]]:
    """Six players, twenty games of every two: wins and draws."""
    rng = np.random.default_rng(5)
    strength = {
        "anand": 0.0,
        "botvinnik": 0.3,
        "carlsen": 1.9,
        "ding": 0.6,
        "euwe": -0.4,
        "fischer": 1.0,
    }
    yield ["player_a", "player_b", "wins_a", "wins_b", "draws"]
    for a, b in itertools.combinations(strength, 2):
        chance = 0.6 / (1 + np.exp(strength[b] - strength[a]))
        wins, losses, draws = rng.multinomial(20, [chance, 0.6 - chance, 0.4])
        yield [a, b, wins, losses, draws]


def crosstable() -> Iterable[list[Any]]:
    """The same as points of the row against the column."""
    _, *games = chess()
    points = {(a, b): won + 0.5 * drawn for a, b, won, _, drawn in games}
    points |= {(b, a): lost + 0.5 * drawn for a, b, _, lost, drawn in games}
    names = list(dict.fromkeys(name for pair in points for name in pair))
    yield ["", *names, "total"]
    for a in names:
        cells = [points.get((a, b), "x") for b in names]
        yield [a, *cells, sum(cell for cell in cells if cell != "x")]


def hyperfine() -> dict[str, Any]:
    """What ``hyperfine --runs 30 --export-json hyperfine.json ...`` writes, for four commands."""
    rng = np.random.default_rng(6)
    means = {"grep -rn TODO": 0.412, "git grep TODO": 0.082, "rg TODO": 0.074, "ag TODO": 0.164}
    results = []
    for command, mean in means.items():
        times = np.round(mean * (0.9 + rng.gamma(2, 0.05, 30)), 6)
        about = {"mean": times.mean(), "stddev": times.std(ddof=1), "median": np.median(times)}
        about = {name: round(float(value), 6) for name, value in about.items()}
        codes = [0] * len(times)
        results.append({"command": command, **about, "times": times.tolist(), "exit_codes": codes})
    return {"results": results}


_BENCHMARKS = {"arc": 80, "gsm8k": 160, "hellaswag": 400, "law": 60}


def benchmarks() -> Iterable[list[Any]]:
    """Four benchmarks of 60 to 400 questions, one after the other: three models, right or not."""
    rng = np.random.default_rng(7)
    ability = {"gpt-a": 1.3, "gpt-b": 0.7, "llama": 0.2}
    yield ["question", "benchmark", *ability]
    for name, size in _BENCHMARKS.items():
        own = rng.normal([*ability.values()], 0.15)
        for question in range(size):
            chance = 1 / (1 + np.exp(rng.normal(0, 1.5) - own))
            yield [f"{name}-{question}", name, *(rng.random(len(own)) < chance).astype(int)]


def questions() -> Iterable[list[Any]]:
    """The same questions, before any was asked."""
    return (row[:2] for row in benchmarks())


def missing() -> Iterable[list[Any]]:
    """Three models on 300 questions: answers right or not, and a few that are not there."""
    rng = np.random.default_rng(3)
    hard = rng.normal(0, 1.2, 300)
    yield ["model", "question", "score"]
    for question in range(300):
        for model, ability in {"gpt-a": 1.5, "gpt-b": 0.6, "llama": 0.1}.items():
            right = int(rng.random() < 1 / (1 + np.exp(hard[question] - ability)))
            yield [model, f"q{question}", "" if rng.random() < 0.02 else right]


def algorithms() -> Iterable[list[Any]]:
    """Five algorithms on four tasks, twelve seeds each: the return of each run."""
    rng = np.random.default_rng(6)
    tasks = {"ant": (3000, 500), "cheetah": (6000, 900), "hopper": (2000, 400)}
    tasks |= {"walker": (2500, 600)}
    gains = {"ours": 1.1, "sac": 0.3, "td3": 0.1, "ppo": -0.5, "dqn": -1.5}
    yield ["algo", "env", "seed", "return"]
    for task, (mean, spread) in tasks.items():
        for seed in range(12):
            for algorithm, gain in gains.items():
                yield [algorithm, task, seed, f"{mean + spread * (gain + rng.normal()):.0f}"]


def pushes() -> Iterable[list[Any]]:
    """A model and three changes of it: who was right on the first of 2,000 questions, by lot."""
    rng = np.random.default_rng(7)
    chances = {"main": 0.62, "a1f3": 0.71, "b07c": 0.62, "c9d2": 0.55}
    hard = rng.normal(0, 1.5, 2000)
    right = {}
    for name, chance in chances.items():
        ability = np.log(chance / (1 - chance)) * 1.5 + rng.normal(0, 0.8, 2000)
        right[name] = (rng.random(2000) < 1 / (1 + np.exp(hard - ability))).astype(int)
    yield ["question", *chances]
    for place, question in enumerate(rng.permutation(2000)[:1000]):
        lacks = {"c9d2"} if place >= 250 else {}
        yield [f"q{question}", *("" if name in lacks else right[name][question] for name in right)]


_OPENINGS = {  # Forsyth's notation, and the share of the points that White's side is worth
    "rnbqkbnr/pppp1ppp/4p3/8/3PP3/8/PPP2PPP/RNBQKBNR b KQkq - 0 2": 0.05,
    "rnbqkb1r/pppppp1p/5np1/8/2PP4/8/PP2PPPP/RNBQKBNR w KQkq - 0 3": 0.1,
    "rnbqkbnr/ppp1pppp/8/8/2pPP3/8/PP3PPP/RNBQKBNR b KQkq - 0 3": 0.0,
}


def night(rounds: int) -> str:
    """What fastchess has left after so many rounds of two games, without their moves."""
    rng, games = np.random.default_rng(8), []
    for number in range(1, rounds + 1):
        position, worth = list(_OPENINGS.items())[rng.integers(3)]
        for white, black, ahead in (("patch", "main", 0.035), ("main", "patch", -0.035)):
            chance = 0.25 + worth + ahead
            result = rng.choice(["1-0", "1/2-1/2", "0-1"], p=[chance, 0.5, 0.5 - chance])
            heads = {"Round": number, "White": white, "Black": black, "Result": result}
            lines = [f'[{head} "{cell}"]' for head, cell in (heads | {"FEN": position}).items()]
            games.append("\n".join([*lines, "", f"{result}\n"]))
    return "\n".join(games)


FILES: dict[str, Callable[[], Any]] = {
    "returns.csv": returns,
    "votes.csv": votes,
    "arena.csv": arena,
    "answers.csv": answers,
    "board.csv": board,
    "pilot.csv": pilot,
    "clicks.csv": clicks,
    "chess.csv": chess,
    "crosstable.csv": crosstable,
    "benchmarks.csv": benchmarks,
    "questions.csv": questions,
    "missing.csv": missing,
    "algorithms.csv": algorithms,
    "hyperfine.json": hyperfine,
    "pushes.csv": pushes,
    "night1.pgn": functools.partial(night, 80),
    "night2.pgn": functools.partial(night, 330),
}


def make(name: str, folder: Path) -> None:
    """Write one of ``FILES`` into a folder."""
    made = FILES[name]()
    with (folder / name).open("w", encoding="utf-8", newline="") as file:
        if isinstance(made, dict):
            json.dump(made, file, indent=1)
        elif isinstance(made, str):
            file.write(made)
        else:
            csv.writer(file, lineterminator="\n").writerows(made)


if __name__ == "__main__":
    for name in sys.argv[1:] or FILES:
        make(name, Path.cwd())
