"""Right answers of the command: files as they are, folders of others, texts that are not ours."""

import functools
import json
from typing import Any

import numpy as np
import pytest
from command_runs import raced, ran, refused, table
from right_answers import check, params

from jaxrace.agents.outcomes import Return
from jaxrace.agents.policies import Sigmoid
from jaxrace.envs import medical
from jaxrace.judging import race
from jaxrace.racing import HoeffdingRace, PreferenceRace
from jaxrace.search import PolicySearch

rng = np.random.default_rng(0)
SCORES = rng.normal(size=(60, 3)) + np.array([0, 1, 3])
EVEN = rng.normal(size=(75, 2))
DRIFT = np.cumsum(rng.normal(size=(60, 3)), 0)

RACE = "race s.csv --horizon 22"
DUEL = "papers.duels m.csv --algorithm uniform --horizon 20 --repeats 2"
BEATS = "0.5,0.7,0.6\n0.3,0.5,0.8\n0.4,0.2,0.5\n"


def race_of(text, options=""):
    """Who is certified, how many runs there are, and what is warned of."""
    found = raced(f"--horizon 22 {options}", text)
    runs = sum(option["runs"] for option in found["options"])
    return found["best"] if found["certified"] else None, runs, len(found["doubts"])


@functools.cache
def finished():
    """Matrix and folder of simulated duels."""
    return ran(f"{DUEL} --out d", {"m.csv": BEATS}).files


def resumed(name, content):
    """Go on where a file of the folder has other content."""
    files = finished()
    content = content(files[name]) if callable(content) else content
    return refused(f"{DUEL} --out d --resume", {**files, name: content})


def without(*keys):
    """JSON without some keys; otherwise as it was, its checksum included."""

    def change(content):
        found = json.loads(content)
        return json.dumps({key: value for key, value in found.items() if key not in keys})

    return change


def with_(**more):
    return lambda content: json.dumps({**json.loads(content), **more})


def lost(command, files):
    """Which of the user's own files are not as they were when a run has ended."""
    found = ran(command, files)
    return sorted(name for name, content in files.items() if found.files.get(name) != content)


def evidence_beyond_the_horizon():
    """Is it that of the bets for the horizon, and is it that of bets for all the room there is?"""
    (pair,) = raced("--horizon 70", table(EVEN, "a,b\n"))["pairs"]
    of_horizons = (race(list(EVEN.T), horizon=horizon) for horizon in (70, 140))
    shares = [found.pairs[0].evidence for found in of_horizons]
    return [abs(share - pair["evidence"]) < 1e-4 for share in shares]


def raced_in(capacity):
    return PreferenceRace(7, 3, capacity, medical.prefer)


def rounds_of(race, **numbers):
    search = PolicySearch(medical.Medical(), Sigmoid(2), FOLDS[type(race)], race)
    params = search.params(sigma0=1.0, **numbers)
    return int(params.min_rounds), int(params.max_rounds)


FOLDS: Any = {PreferenceRace: medical.TreatmentOutcome(), HoeffdingRace: Return()}


def npy(shape, descr="<f8"):
    """The header of an array, without the array."""
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def duel_of(content, name="m.npy"):
    return refused(f"duel {name}", {name: content})


MANY = [f"o{i}" for i in range(9_000)]
BARE = table(SCORES[:22], "")
ESC = "\x1b[31m,[red]b[/red],\x01\x9b\u202e\n"
INTEGERS = "a,b,c\n" + "".join(f"{2**53},{2**53 + 1 + i % 2},{i % 7}\n" for i in range(22))
MATRIX = np.array([[0.5, 0.7], [0.3, 0.5]])
TRAIN = "train medical --method constant --repeats 2 --test-patients 3"

CASES = [
    # Tables of scores.
    (
        "numbers as names",
        lambda: refused(RACE, {"s.csv": BARE}),
        ValueError(r"scores: expected names of columns in the first row .*, got .*--no-header"),
    ),
    ("no header", lambda: race_of(BARE, "--no-header"), (["option 3"], 66, 0)),
    (
        "no header is said",
        lambda: "numbered by their columns" in ran(f"{RACE} --no-header", {"s.csv": BARE}).out,
        True,
    ),
    (
        "a header that is none",
        lambda: refused(f"{RACE} --no-header", {"s.csv": table(SCORES[:22])}),
        ValueError("scores: expected a number in 's.csv', line 1, column 'option 1', got 'a'"),
    ),
    (
        "no runs",
        lambda: refused(RACE, {"s.csv": "a,b,c\n"}),
        ValueError("scores: expected runs below the names of the columns in 's.csv', got none"),
    ),
    (
        "no runs in rows",
        lambda: refused(RACE, {"s.csv": "option,score\n\n"}),
        ValueError("scores: expected runs below the names"),
    ),
    ("more runs than planned", lambda: race_of(table(SCORES[:43])), (["c"], 129, 0)),
    ("the bets stay", evidence_beyond_the_horizon, [True, False]),
    (
        "integers beyond floats",
        lambda: refused(RACE, {"s.csv": INTEGERS}),
        ValueError("expected a number that a float holds|expected .*9007199254740993"),
    ),
    (
        "runs that depend on each other",
        lambda: refused(RACE, {"s.csv": table(DRIFT)}),
        ValueError(r"runs: expected independent .* lag-1 rank correlation of 0.*; --dependent"),
    ),
    (
        "repeated runs",
        lambda: refused(RACE, {"s.csv": table(np.repeat(SCORES[:12], 5, 0))}),
        ValueError("each of them 5 times"),
    ),
    (
        "dependent runs knowingly",
        lambda: raced("--dependent", table(DRIFT[:43]))["is_dependent"],
        True,
    ),
    ("many rows", lambda: race_of("a,b\n" + "1,2\n" * 10**5)[0], ["b"]),
    (
        "many columns",
        lambda: refused(RACE, {"s.csv": table([range(9_000)], f"{','.join(MANY)}\n")}),
        ValueError("data: expected at most 5,000 options, got 9,000"),
    ),
    (
        "an open quote",
        lambda: refused(RACE, {"s.csv": table(SCORES[:22]) + '1,2,"3\n'}),
        ValueError("scores: expected a table in 's.csv', got other text .unexpected end of da"),
    ),
    (
        "a file without end",
        lambda: refused("race /dev/zero"),
        ValueError("scores: expected a plain file in '/dev/zero', got"),
    ),
    # Texts that are not ours.
    (
        "names",
        lambda: [
            name in ran(RACE, {"s.csv": table(SCORES[:22], ESC)}).out
            for name in (r"\x1b[31m ", "[red]b[/red]", r"\x01\x9b\u202e", "\x1b", "\x9b")
        ],
        [True, True, True, False, False],
    ),
    (
        "names in errors",
        lambda: refused(RACE, {"s.csv": "\x1b[31m,\x9bb\n0,1\nx,1\n"}),
        ValueError(r"line 3, column '\\x1b\[31m', got 'x'"),
    ),
    (
        "names of folders",
        lambda: ran(TRAIN, {}, "--out", "\x1b[31m[red]\udcff").out.splitlines()[-1][-19:],
        r"\x1b[31m[red]\udcff",
    ),
    # Other people's files.
    (
        "files with a point",
        lambda: refused(f"{TRAIN} --out d", {"d/.mine.tmp": b"mine"}),
        ValueError("--out: expected a new or an empty folder, got 'd', which is not empty"),
    ),
    (
        "a lock of others",
        lambda: refused(f"{TRAIN} --out d", {"d/.lock": b"mine"}),
        ValueError("which is not empty"),
    ),
    (
        "files beside a run",
        lambda: lost(f"{DUEL} --out d --resume", {**finished(), "d/.x.tmp": b"1", "d/.lock": b"2"}),
        [],
    ),
    (
        "what was half-written",
        lambda: sorted(ran(f"{TRAIN} --out d", {"d/.log.csv.jaxrace-7.tmp": b"half"}).files),
        ["d/config.json", "d/log.csv", "d/summary.json", "d/timing.json"],
    ),
    # Runs that are gone on with.
    *(
        (
            f"config.json is {content}",
            lambda content=content: resumed("d/config.json", content),
            ValueError(
                "--out: expected the folder of a run to resume, got a damaged one: d/config.json:"
            ),
        )
        for content in ("[]", "null", "3", '{"config": []}', "", "\xff", "[" * 100_000, "NaN")
    ),
    *(
        (
            f"summary.json is {name}",
            lambda content=content: resumed("d/summary.json", content),
            ValueError(
                "--out: expected the files of a finished run, got others: d/summary.json: expected"
            ),
        )
        for name, content in {
            "[]": "[]",
            "{}": "{}",
            "without what was found": without("best"),
            "without its checksum": without("checksum"),
            "of another that is best": with_(best=["c"]),
        }.items()
    ),
    *(
        (
            f"log.csv, {name}",
            lambda change=change: resumed("d/log.csv", change),
            ValueError(
                "--out: expected the files of a finished run, got others: d/log.csv is not as it"
            ),
        )
        for name, change in (
            ("cut", lambda content: content[:-9]),
            ("without rows", lambda content: content.splitlines(True)[0]),
            ("with another number", lambda content: content.replace(b"1", b"2")),
        )
    ),
    (
        "another table",
        lambda: resumed("m.csv", BEATS.replace("0.8", "0.9").replace(",0.2,", ",0.1,")),
        ValueError("matrix: expected the file that the run in 'd' has read, got another one"),
    ),
    (
        "another command",
        lambda: refused(
            "train medical --out d --resume",
            {k: v for k, v in finished().items() if k != "m.csv"},
        ),
        ValueError("--out: expected the folder of a run of train, got 'd', which is of duels"),
    ),
    # Numbers.
    ("rounds of a small race", lambda: rounds_of(raced_in(30)), (3, 30)),
    ("rounds of a tiny race", lambda: rounds_of(raced_in(2)), (2, 2)),
    ("rounds of a large race", lambda: rounds_of(raced_in(500)), (3, 100)),
    (
        "a budget of 2^40",
        lambda: rounds_of(raced_in(30), budget=2**40),
        ValueError("budget: expected at most 1073741824, got 1099511627776"),
    ),
    (
        "a simulator with 2^40",
        lambda: rounds_of(raced_in(30), env_params=np.int64(2**40)),
        ValueError("env_params: expected numbers that an int32 holds, got 1099511627776"),
    ),
    ("rounds of any number", lambda: rounds_of(HoeffdingRace(7, 3), value_range=1.0), (3, 100)),
    # Matrices.
    ("complex", lambda: duel_of(MATRIX + 0j), ValueError("matrix: expected numbers")),
    ("text", lambda: duel_of(MATRIX.astype(str)), ValueError("matrix: expected numbers")),
    ("dates", lambda: duel_of(np.zeros((2, 2), "M8[s]")), ValueError("matrix: expected numbers")),
    *(
        (
            f"a matrix that {name}",
            lambda content=content: duel_of(content),
            ValueError("matrix: expected a .npy file, got m.npy"),
        )
        for name, content in (
            ("has a broken header", npy("(2, 2")),
            ("is cut", npy("(2, 2)") + b"12345678"),
            ("claims much", npy("(100000, 100000)")),
            ("claims more", npy((2**40, 2**40))),
            ("is smaller than nothing", npy("(-1, 2)")),
            ("is empty", b""),
            ("holds objects", npy("(2, 2)", "|O") + bytes(32)),
        )
    ),
    (
        "a matrix without end",
        lambda: refused("duel /dev/zero"),
        ValueError("matrix: expected a plain file in '/dev/zero', got"),
    ),
]


@pytest.mark.parametrize(("act", "right"), params(CASES))
def test_right_answers(act, right):
    check(act, right)
