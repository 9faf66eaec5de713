"""Right answers about columns: which are options, tasks and groups, and how names are read."""

import functools
import itertools
import json
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas
import pytest
from right_answers import check, params

import jaxrace
from jaxrace.core.validation import BadArgument
from jaxrace.judging import DependentRunsWarning
from jaxrace.judging.scores import as_table
from jaxrace.tables import read_scores, read_votes

rng = np.random.default_rng(7)
ROWS = 40
# Whole numbers that name, count or place what was run, in no order.
WHOLE = {
    "patient": 1001 + rng.permutation(ROWS),
    "participant": rng.permutation(ROWS) + 1,
    "respondent": rng.choice(9_000, ROWS, False),
    "user": rng.integers(10**6, 10**7, ROWS),
    "user_id": rng.integers(10**6, 10**7, ROWS),
    "image": rng.permutation(ROWS),
    "session": rng.integers(1, 9, ROWS),
    "student": rng.choice(10**5, ROWS, False),
    "rater": rng.integers(0, 5, ROWS),
    "pid": rng.choice(10**5, ROWS, False),
    "patient no": 1001 + rng.permutation(ROWS),
    "x": 5 * rng.permutation(ROWS),
    "t": rng.permutation(ROWS),
    "hour": rng.integers(0, 24, ROWS),
    "day": rng.integers(1, 31, ROWS),
    "year": rng.integers(1990, 2026, ROWS),
    "timestamp": 1_700_000_000 + rng.integers(0, 10**6, ROWS),
    "unix": 1_700_000_000 + rng.integers(0, 10**6, ROWS),
    "size": 2 ** rng.integers(4, 12, ROWS),
    "batch_size": 2 ** rng.integers(4, 9, ROWS),
    "length": rng.integers(10, 2000, ROWS),
    "prompt length": rng.integers(10, 2000, ROWS),
    "width": rng.integers(100, 2000, ROWS),
    "max_depth": rng.integers(1, 20, ROWS),
    "device": rng.integers(0, 8, ROWS),
    "zip": rng.integers(10_000, 99_999, ROWS),
    "port": rng.integers(1024, 65_535, ROWS),
    "n_samples": rng.integers(100, 5000, ROWS),
    "num_layers": rng.integers(2, 48, ROWS),
    "token count": rng.integers(10, 2000, ROWS),
    "gpus": 2 ** rng.integers(0, 4, ROWS),
    "cores": 2 ** rng.integers(0, 6, ROWS),
    "threads": 2 ** rng.integers(0, 6, ROWS),
    "node": rng.integers(0, 64, ROWS),
    "params": 10**8 * rng.integers(1, 70, ROWS),
    "epoch": rng.integers(1, 100, ROWS),
    "epochs": rng.integers(1, 100, ROWS),
    "age": rng.integers(18, 90, ROWS),
    "Nummer": rng.permutation(ROWS) + 1,
    "qq": 5001 + rng.permutation(ROWS),
}
SCORES = {
    "fractions": rng.random((ROWS, 2)).round(3),
    "percents": (100 * rng.random((ROWS, 2))).round(1),
    "answers": rng.integers(0, 2, (ROWS, 2)),
    "grades": rng.integers(1, 6, (ROWS, 2)),
    "milliseconds": rng.integers(100, 5000, (ROWS, 2)),
    "returns": rng.integers(-200, 300, (ROWS, 2)),
}
GOOD = {
    **SCORES,
    "one far better": np.c_[rng.integers(90, 100, ROWS), rng.integers(10, 21, (ROWS, 2))],
    "counts": rng.poisson([3, 30, 9], (ROWS, 3)),
    "capped returns": np.minimum(rng.gamma(2, [50, 200, 400], (ROWS, 3)).round(), 500),
    "an oracle": np.c_[np.full(ROWS, 100), (100 * rng.random((ROWS, 2))).round(1)],
    "a baseline of nothing": np.c_[np.zeros(ROWS, int), rng.random((ROWS, 2)).round(2)],
    "hard and soft votes": np.c_[rng.integers(0, 2, ROWS), rng.random((ROWS, 2)).round(2)],
    "times of other scales": rng.lognormal([3, 4, 5], 0.3, (ROWS, 3)).round(),
    "halves": rng.integers(0, 20, (ROWS, 3)) / 2,
    "rare successes": rng.poisson([0.1, 0.1, 5], (ROWS, 3)),
    "points of a hundred": rng.binomial(100, [0.2, 0.5, 0.9], (ROWS, 3)),
    "returns of one that fails": np.c_[rng.integers(0, 2, ROWS), rng.integers(9, 500, (ROWS, 2))],
    "milliseconds of one that is slow": rng.lognormal([4, 4.2, 6.5], 0.3, (ROWS, 3)).round(),
    "places": np.stack([1 + rng.permutation(ROWS) for _ in range(3)], 1),
}
NAMES = ("ppo", "sac", "dqn")
# Whole numbers below a head that is not known as one of ids, and scores that they are beside.
MANY = 400
ANSWERS = rng.integers(0, 2, (MANY, 2))
POINTS = rng.integers(0, 11, (MANY, 2))
UNKNOWN_IDS = {
    "of a thousand": (1 + rng.permutation(1000)[:MANY], ANSWERS),
    "few": (3 + rng.permutation(1000)[:30], ANSWERS[:30]),
    "few beside points": (3 + rng.permutation(1000)[:30], POINTS[:30]),
    "beside points": (1 + rng.permutation(1000)[:MANY], POINTS),
    "beside percents": (1 + rng.permutation(1000)[:MANY], rng.integers(0, 101, (MANY, 2))),
    "several rows each": (rng.integers(1, 101, MANY), ANSWERS),
    "four rows each": (rng.permutation(np.repeat(1 + np.arange(100), 4)), POINTS),
    "hashes": (rng.integers(0, 2**31, MANY), ANSWERS),
}


def column(cells):
    return [int(x) if float(x).is_integer() else float(x) for x in cells]


def columns(rows):
    return {name: column(x) for name, x in zip(NAMES, np.transpose(rows), strict=False)}


def text(table, sep=","):
    rows = zip(*table.values(), strict=True)
    return "".join(sep.join(map(str, row)) + "\n" for row in [table.keys(), *rows])


def read(content, **asked):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "s.csv").write_text(content)
        return read_scores(Path(folder) / "s.csv", **asked)


def options_of(table, how):
    """The options that are found, or None if it is refused with what settles it."""
    sources = {
        "file": lambda: read(text(table)),
        "frame": lambda: read_scores(pandas.DataFrame(table)),
        "mapping": lambda: as_table(table, shared=False),
        "arrays": lambda: as_table({k: np.array(v) for k, v in table.items()}, shared=True),
    }
    try:
        return sorted(sources[how]().names)
    except ValueError as error:
        settles = any(option in str(error) for option in ("--options", "--cluster-column"))
        return None if settles else str(error)


def raced_whole_numbers():
    """Heads of whole numbers that are options somewhere, of 40 beside six kinds of scores."""
    found = []
    for head, cells in WHOLE.items():
        for kind, scores in SCORES.items():
            table = {"ppo": column(scores[:, 0]), head: column(cells), "sac": column(scores[:, 1])}
            for how in ("file", "frame", "mapping", "arrays"):
                if options_of(table, how) not in (None, ["ppo", "sac"]):
                    found.append((head, kind, how))
    return found


def refused_scores():
    """Good tables whose columns are not all options somewhere."""
    found = []
    for kind, scores in GOOD.items():
        table = columns(scores)
        for how in ("file", "frame", "mapping", "arrays"):
            if options_of(table, how) != sorted(table):
                found.append((kind, how))
    return found


def raced_unknown_ids(heads):
    """Kinds of ids, below some heads, that are options of some source, beside two of scores."""
    found = []
    for (kind, (cells, scores)), head in itertools.product(UNKNOWN_IDS.items(), heads):
        names = [head, "main", "cand"]
        table = dict(zip(names, map(column, [cells, *scores.T]), strict=True))
        for how in ("file", "frame", "mapping", "arrays"):
            if options_of(table, how) is not None:
                found.append((kind, head, how))
    return found


A, B = rng.normal(1, 0.3, ROWS), rng.normal(0, 0.3, ROWS)
MIXED = {"dataset": ["law"] * 30 + ["art"] * 10, "a": A, "b": B}
SEEDED = {"seed": rng.permutation(ROWS), "ppo": A, "sac": B}
SIZED = {"size": rng.choice(np.arange(5, 99), ROWS, False), "ppo": A, "sac": B}
GAPS = {**SIZED, "ppo": np.where(np.arange(ROWS) == 3, np.nan, A)}


def raced(data, **settings):
    """Who is certified, whose runs there are, and the first note."""
    found = jaxrace.race(data, **settings)
    runs = {option.name: option.runs for option in found.options}
    return found.best if found.certified else None, runs, [*found.notes, ""][0]


def series(shuffle, drop=0):
    labels = [f"q{i}" for i in range(ROWS)]
    order = rng.permutation(ROWS) if shuffle else np.arange(ROWS)
    other = pandas.Series(B[order], [labels[i] for i in order])
    return {"a": pandas.Series(B + 0.01, labels), "b": other[: ROWS - drop]}


def by_index(**settings):
    """One is better on each task by a hundredth: seen only if they are paired by their labels."""
    return [raced(series(shuffle), shared=True, **settings)[0] for shuffle in (False, True)]


class DataArray:
    """As xarray has it."""

    def __init__(self, values):
        self.values = values

    def to_series(self):
        return self.values


def of_frame():
    """Columns of one frame whose rows were chosen, or whose labels repeat, are its rows."""
    frame = pandas.DataFrame({"who": ["x", "y", "z"] * 2, "points": range(6)}, [3, 3, 5, 6, 7, 8])
    kept = [frame, frame[frame.who != "z"]]
    found = [read_scores({name: one[name] for name in one}) for one in kept]
    games = {"white": kept[1].who[:2], "black": ["z", "z"], "result": ["1-0"] * 2}
    return [one.names for one in found], read_votes(games).names


def of_disjoint(**settings):
    data = {
        "a": pandas.Series(A, range(0, 2 * ROWS, 2)),
        "b": pandas.Series(B, range(1, 2 * ROWS, 2)),
    }
    return raced(data, **settings)[:2]


def grouped(content, **asked):
    """The tasks, their groups, and what is said of these."""
    found = read(content, **asked)
    said = [line for line in found.said if "groups" in line]
    return found.task_names[-1], [found.groups.count(g) for g in dict.fromkeys(found.groups)], said


ANSWERS = [f"{m},{m}{i % 2},{i},1" for m in "xy" for i in range(4)]
PREFIXED = [f"{name}/{i},1,2" for name in ("gsm8k", "mmlu_law") for i in range(5)]
PAIRS = [(name, i) for name, number in (("mmlu", 4), ("arc", 3)) for i in range(number)]
WIDE = [f"{name},{i},{i % 2},{i % 3}" for name, i in PAIRS]
LONG = [f"{m},{name},{i},{i % 3}" for name, i in PAIRS for m in "xy"]
BY_FILE = ("law", "art"), "2 groups of tasks from the names of files: law 4, art 4"
SAID = "2 groups of tasks from column {!r}: mmlu 4, arc 3"


def lines(head, rows):
    return "\n".join([head, *rows, ""])


def without_id(rows, place):
    cells = (row.split(",") for row in rows)
    return [",".join([*row[:place], *row[place + 1 :]]) for row in cells]


def two_files(head, row):
    """The first and last task, the groups, and the last note."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.csv" for name in ("law", "art")]
        for path in paths:
            rows = [row.format(i=f"{path.stem[0]}{i}", a=i % 2, b=i % 3) for i in range(4)]
            path.write_text(lines(head, rows))
        found = read_scores(paths)
        return found.task_names[:1], found.groups[3:5], found.said[-1]


def harness():
    with tempfile.TemporaryDirectory() as folder:
        for model in ("m", "n"):
            for task in ("arc", "mmlu_law"):
                path = Path(folder) / model / f"samples_{task}_2026-01-01T00-00-00.jsonl"
                path.parent.mkdir(exist_ok=True)
                about = {"resps": [], "metrics": ["acc"], "acc": 1}
                rows = [{"doc_id": i, **about} for i in range(2)]
                path.write_text("\n".join(map(json.dumps, rows)))
        found = read_scores(folder)
        return found.task_names, found.groups, found.said[-1]


DIFFER = "that differ by case, spaces or forms of letters"


def said_of(content, **asked):
    found = read(content, **asked)
    return found.names, [line for line in found.said if "differ" in line or "seen" in line]


CASES = [
    # Whole numbers that are no scores, and tables of scores.
    ("whole numbers are no options, whatever is beside them", raced_whole_numbers, []),
    (
        "ids below an unknown head are asked about",
        lambda: raced_unknown_ids(["name", "Frage"]),
        [],
    ),
    (
        "ids that are named as an option are one",
        lambda: read(text({"Frage": WHOLE["qq"], "main": WHOLE["t"]}), options="Frage,main").names,
        ("Frage", "main"),
    ),
    ("tables of scores are read, whatever they are", refused_scores, []),
    (
        "seeds in a mapping",
        lambda: raced(SEEDED, shared=True)[:2],
        (["ppo"], {"ppo": 40, "sac": 40}),
    ),
    ("seeds of shared tasks", lambda: raced(SEEDED, shared=True)[2], "tasks from column 'seed'"),
    (
        "a mean in a mapping",
        lambda: raced({"ppo": A, "sac": B, "mean": (A + B) / 2}),
        ValueError("got 'mean': leave out what is made of the others; --options names"),
    ),
    (
        "a total beside gaps",
        lambda: read("a,b,total\n1,2,3\n,,\n,4,4\n5,1,6\n"),
        ValueError("got 'total': leave out"),
    ),
    (
        "a total of other things",
        lambda: read("a,b,total\n1,2,3\n,4,4\n5,1,7\n").names,
        ("a", "b", "total"),
    ),
    (
        "sizes in a mapping",
        lambda: raced(SIZED),
        ValueError("'size', .* --task-column size .* --options .* such as ppo,sac"),
    ),
    (
        "sizes that are left out",
        lambda: raced(SIZED, options="ppo,sac"),
        (["ppo"], {"ppo": 40, "sac": 40}, "left out, as --options does not name them: 'size'"),
    ),
    (
        "sizes that are an option",
        lambda: raced(SIZED, options=["size", "ppo", "sac"])[1],
        {"size": 40, "ppo": 40, "sac": 40},
    ),
    (
        "sizes that are tasks",
        lambda: raced(SIZED, shared=True, task_column="size")[0],
        ["ppo"],
    ),
    (
        "gaps beside options that are named",
        lambda: raced(GAPS, shared=True, gaps="skip", options=["ppo", "sac"])[1],
        {"ppo": 39, "sac": 40},
    ),
    (
        "options and a column of options",
        lambda: read("a,b\n1,2\n", options="a,b", option_column="a"),
        ValueError("options: expected names in column 'a': some of '1', got 'a', 'b'"),
    ),
    (
        "options of other names",
        lambda: read("a,b\n1,2\n", options="a,c"),
        ValueError("expected a column 'c' in .*, got 'a', 'b'"),
    ),
    (
        "scores of one option by name",
        lambda: raced({"accuracy": A, "f1": B}),
        ValueError("got 'accuracy': .* --options names the columns of options"),
    ),
    (
        "measures that are options",
        lambda: raced({"accuracy": A, "f1": B}, options="accuracy,f1")[0],
        ["accuracy"],
    ),
    ("names that are numbers", lambda: raced({0: A, 1: B})[0], ["0"]),
    (
        "values on tasks beside seeds",
        lambda: raced({**SEEDED, "ppo": np.c_[A, A]}, shared=True)[:2],
        (["ppo"], {"ppo": 80, "sac": 40}),
    ),
    (
        "words in a mapping",
        lambda: raced({"who": ["x", "y"] * 20, "points": [2, 1] * 20})[1],
        {"x": 20, "y": 20},
    ),
    (
        "ids in an array",
        lambda: raced(np.c_[WHOLE["qq"], A, B]),
        ValueError("'option 0', 5001 to 5040 in equal steps, each once"),
    ),
    (
        "an option that may name tasks",
        lambda: raced({"image": [0, 1] * 20, "text": [1, 0] * 20, "both": [1, 1] * 20}),
        ValueError("got 'image', which may name tasks or be one: --task-column says .* --options"),
    ),
    (
        "the same where it is named",
        lambda: raced(
            {"image": [0, 1] * 20, "text": [1, 0] * 20}, options="image,text", dependent=True
        )[1],
        {"image": 40, "text": 40},
    ),
    (
        "ids that float64 does not hold",
        lambda: read("user_id,a,b\n9007199254740993,1,2\n9007199254740992,3,1\n").task_names,
        ("9007199254740993", "9007199254740992"),
    ),
    *(
        (
            f"odd columns, {name}",
            lambda column=column, more=more: raced({"a": column, "b": [1, 2], "c": [2, 3]}, **more),
            ValueError(message),
        )
        for name, column, more, message in (
            (
                "nothing",
                None,
                {"shared": True},
                r"scores \[T\] or \[T, R\] of a, got an array \[\]",
            ),
            ("a number", 3, {}, r"scores \[n\] of a, got an array \[\]"),
            (
                "beyond floats",
                [10**400, 1],
                {"by": "mean", "low": 0, "high": 9},
                "got int too large",
            ),
            ("none of its own", [None, None], {"options": ["a", "b"]}, "expected scores of 'a'"),
        )
    ),
    # Series are paired by their index.
    ("series by their index", by_index, [["a"], ["a"]]),
    (
        "outcomes by their index",
        lambda: by_index(compare=lambda x, y: int(x > y) - int(x < y)),
        [["a"], ["a"]],
    ),
    (
        "a list of series by their index",
        lambda: raced([*series(True).values()], shared=True)[0],
        ["option 0"],
    ),
    (
        "arrays with labels",
        lambda: raced({k: DataArray(x) for k, x in series(True).items()}, shared=True)[0],
        ["a"],
    ),
    ("columns of one frame", of_frame, ([("x", "y", "z"), ("x", "y")], ("x", "z", "y"))),
    (
        "votes of other rows",
        lambda: read_votes(
            {"white": pandas.Series(["x"]), "black": pandas.Series(["y"], [5]), "result": ["1-0"]}
        ),
        ValueError("one index of all columns in a dict, got series of other labels"),
    ),
    ("series as runs", of_disjoint, (["a"], {"a": 40, "b": 40})),
    (
        "series of other tasks",
        lambda: of_disjoint(shared=True),
        ValueError("expected tasks that options have in common, got others for each"),
    ),
    (
        "a series beside a list",
        lambda: raced({**series(False), "c": A}, shared=True),
        ValueError("an index of tasks in all columns .* as 'c': reset_index"),
    ),
    (
        "a label twice",
        lambda: raced({"a": pandas.Series(A, [1] * ROWS), "b": B}, shared=True),
        ValueError("different labels in the index in the series 'a', got '1' twice"),
    ),
    # Groups of tasks.
    *(
        (
            f"groups of a wide table, {head}",
            lambda head=head, task=task: grouped(lines(f"{head},id,a,b", WIDE)),
            (task, [4, 3], [SAID.format(head)]),
        )
        for head, task in {
            "dataset": "arc 2",
            "benchmark": "arc 2",
            "category": "arc 2",
        }.items()
    ),
    (
        "groups without ids",
        lambda: grouped(lines("Subject,a,b", without_id(WIDE, 1))),
        ("7", [4, 3], [SAID.format("Subject")]),
    ),
    (
        "groups of a long table",
        lambda: grouped(lines("model,suite,id,acc", LONG)),
        ("arc 2", [4, 3], [SAID.format("suite")]),
    ),
    (
        "environments and seeds",
        lambda: grouped(lines("algo,env,seed,return", LONG)),
        ("env=arc seed=2", [4, 3], [SAID.format("env")]),
    ),
    (
        "a column of groups that is asked for",
        lambda: grouped(lines("art,id,a,b", WIDE), group_column="art"),
        ("arc 2", [4, 3], [SAID.format("art")]),
    ),
    (
        "the same of a long table",
        lambda: grouped(lines("model,art,id,acc", LONG), group_column="art"),
        ("arc 2", [4, 3], [SAID.format("art")]),
    ),
    (
        "a kind of answer is no group of tasks",
        lambda: grouped(
            lines(
                "model,category,id,acc", [f"{m},{m}{i % 2},{i},1" for m in "xy" for i in range(4)]
            )
        ),
        ("3", [], []),
    ),
    (
        "benchmarks are no options",
        lambda: read(lines("benchmark,acc", ["arc,1", "mmlu,2"] * 4)),
        ValueError("two columns of scores or more .*, got 'acc'"),
    ),
    (
        "a group of a trial is an option",
        lambda: read(lines("group,outcome", ["control,1", "treated,2"] * 4)).names,
        ("control", "treated"),
    ),
    (
        "groups in the names of tasks",
        lambda: grouped(lines("item,a,b", PREFIXED)),
        ("mmlu_law/4", [5, 5], ["2 groups of tasks from the names of tasks: gsm8k 5, mmlu_law 5"]),
    ),
    (
        "names of tasks with a number",
        lambda: grouped(lines("item,a,b", [f"q-{i},1,2" for i in range(9)])),
        ("q-8", [], []),
    ),
    *(
        (f"a group for each file, {head}", functools.partial(two_files, head, row), (first, *right))
        for head, row, first, right in (
            ("item,a,b", "{i},{a},{b}", ("l0",), BY_FILE),
            ("a,b", "{a},{b}", ("law 1",), BY_FILE),
            ("model,acc", "x,{a}\ny,{b}", (), ((), "runs of 2 files together: 'law', 'art'")),
        )
    ),
    (
        "a group for each task of the harness",
        harness,
        (
            ("arc 0", "arc 1", "mmlu_law 0", "mmlu_law 1"),
            ("arc", "arc", "mmlu_law", "mmlu_law"),
            "2 groups of tasks from the names of the harness's tasks: arc 2, mmlu_law 2",
        ),
    ),
    (
        "groups of a mapping",
        lambda: raced(MIXED, shared=True, order_by_lot=1)[2],
        "2 groups of tasks from column 'dataset': law 30, art 10",
    ),
    *(
        (
            f"rows of benchmarks are no independent runs, {name}",
            lambda source=source: jaxrace.race(source),
            DependentRunsWarning("options have tasks in common"),
        )
        for name, source in {"a mapping": MIXED, "a frame": pandas.DataFrame(MIXED)}.items()
    ),
    # Names.
    (
        "invisible characters in names",
        lambda: said_of("model,acc\nGPT\u200b-4,1\nGPT-4,2\n\u202eb\u00a0c,3\n"),
        (
            ("GPT-4", "b c"),
            [
                r"names with characters that cannot be seen, 2: 'GPT\u200b-4' is 'GPT-4', "
                r"'\u202eb\xa0c' is 'b c'"
            ],
        ),
    ),
    (
        "two heads that look alike",
        lambda: read("a\u00ad,a,b\n1,2,3\n"),
        ValueError("different names of columns in .*, got 'a' twice"),
    ),
    (
        "two names that look alike in a mapping",
        lambda: raced({"a\u200b": A, "a": B, "b": B}),
        ValueError("different names"),
    ),
    (
        "one name in two forms",
        lambda: said_of("model,acc\ne\u0301,1\n\u00e9,2\nb,1\n")[0],
        ("\u00e9", "b"),
    ),
    (
        "names that differ by case",
        lambda: said_of("model,acc\nGPT-4,1\ngpt-4,2\n"),
        (
            ("GPT-4", "gpt-4"),
            [f"options {DIFFER}: 'GPT-4', 'gpt-4'; are they one?"],
        ),
    ),
    (
        "tasks that differ by case",
        lambda: said_of("q,a,b\nX 1,1,2\nx  1,2,3\n")[1],
        [f"tasks {DIFFER}: 'X 1', 'x  1'; are they one?"],
    ),
    (
        "letters of other scripts",
        lambda: read("model,acc\n\u0645\u06cc\u200c\u0634,1\nb,2\n").names[0],
        "\u0645\u06cc\u200c\u0634",
    ),
]


@pytest.mark.parametrize(("act", "right"), params(CASES))
def test_right_answers(act, right):
    check(act, right)


def seconds_to_refuse(count, cells):
    """Processor seconds until as many columns are refused, the lesser of two.

    Heads and cells are others each time: what is kept of a reading may help the next.
    """
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "wide.csv")
        for name in ["option", "other"]:
            heads = ["seed", *(f"{name} {place}" for place in range(count))]
            numbers = enumerate(cells(count).tolist())
            rows = [",".join(map(str, [place, *row])) for place, row in numbers]
            path.write_text("\n".join([",".join(heads), *rows]))
            begin = time.process_time()
            with pytest.raises(ValueError, match="at most 5,000 options, got"):
                jaxrace.race(path, shared=True)
            found.append(time.process_time() - begin)
    return min(found)


@pytest.mark.parametrize("kind", ["whole", "fractions"])
def test_time_does_not_grow_with_the_square_of_the_columns(kind):
    """Twice as many columns take twice as long, not four times."""
    rng = np.random.default_rng(0)

    def cells(count):
        shape = 6, count
        return rng.integers(0, 50, shape) if kind == "whole" else rng.random(shape).round(3)

    assert seconds_to_refuse(11_000, cells) < 3 * seconds_to_refuse(5_500, cells)


BY_ITEM = ["model,item,score", *[f"{m},{n},.{n}{k}" for n in range(6) for k, m in enumerate("abc")]]


def test_options_are_names_of_columns_or_in_a_column(tmp_path):
    """Rows of others are not read: what they lack does not matter."""
    long, rows = tmp_path / "long.csv", tmp_path / "rows.csv"
    long.write_text("\n".join([*BY_ITEM, "c,7,timeout"]))
    found = read_scores(long, options="c,a", where={"item": "1"}, failed="drop")
    assert found.names == ("a", "c")
    found = read_scores(long, options=["a", "b"])
    assert (found.names, [len(x) for x in found.values]) == (("a", "b"), [6, 6])
    assert "left out, as --options does not name them: 'c'" in found.said
    rows.write_text("model,q1,q2,q3\na,1,0,1\nb,0,0,1\nc,1,1,1\n")
    assert read_scores(rows, options="b,c").names == ("b", "c")
    with pytest.raises(BadArgument, match="options: expected names in column 'model': some of 'a'"):
        read_scores(long, options="a,d")
