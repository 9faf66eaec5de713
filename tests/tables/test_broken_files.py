"""Files that are broken by hand, or hold more than they seem to: each is refused in one line."""

import contextlib
import io
import os
import sqlite3
import tempfile
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
import zstandard
from made_files import HEADER, SAMPLE, TABLE, harness, log_of, of_zip, study, workbook
from right_answers import check, params

from jaxrace import improve, race
from jaxrace.improvement import ReturnRange
from jaxrace.judging.policies.loading import load
from jaxrace.judging.policies.saved import load_policy
from jaxrace.racing import SharedRace
from jaxrace.runs.files import read_json
from jaxrace.tables import read_log, read_matrix, read_scores, read_votes

MANY = 600_000_000  # bytes: more than are read
DEEP = 100_000


def read(content, name, reader=read_scores):
    """What is read of a file of this content, or what makes it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content) if isinstance(content, bytes) else content(path)
        return reader(path)


def scores(content, name="s.json"):
    found = read(content, name)
    return {key: x.tolist() for key, x in zip(found.names, found.values, strict=True)}


_TOO_DEEP = "(recursion|Stack overflow)"  # until Python 3.13, and from 3.14 on


def refused(expected, got, name):
    return ValueError(rf"^\w+: expected {expected}.*{name}'.*{got}")


def bomb():
    """600 MB in Zstandard, which are stated to be 1,000 bytes."""
    packer = zstandard.ZstdCompressor(level=1).compressobj()
    pieces = [packer.compress(bytes(10_000_000)) for _ in range(MANY // 10_000_000)]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("samples/1.json", b"".join([*pieces, packer.flush()]))
        archive.writestr("header.json", HEADER)
        about = archive.getinfo("samples/1.json")
        about.compress_type, about.file_size = 93, 1_000
    return file.getvalue()


def peak(content, name):
    """MB that Python takes to refuse a file."""
    tracemalloc.start()
    with contextlib.suppress(ValueError):
        read(content, name)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most // 1_000_000


def flipped(content, bit):
    return content[:bit] + bytes([content[bit] ^ 16]) + content[bit + 1 :]


def stated(content, size):
    """The same with files of this size stated to have 600 MB."""
    return content.replace(size.to_bytes(4, "little"), MANY.to_bytes(4, "little"))


def large_sheet():
    content = workbook(*TABLE)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return stated(content, archive.getinfo("xl/worksheets/sheet1.xml").file_size)


def panics():
    """What is neither read nor refused of tables of Arrow with one bit flipped."""
    file = io.BytesIO()
    polars.DataFrame({"a": [1.0, 2.0], "b": [1.0, 2.0]}).write_ipc(file)
    found = []
    for place in range(500, 560):
        try:
            read(flipped(file.getvalue(), place), "s.arrow")
        except ValueError as error:
            found += [str(error)] if "s.arrow'" not in str(error) else []
        except BaseException as error:  # what the test is about
            found.append(type(error).__name__)
    return found


def repeated(path):
    """One number 100 million times."""
    polars.DataFrame({"a": polars.repeat(1.0, 100_000_000, eager=True)}).write_parquet(path)


def endless(path):
    """A view in the place of a table, which counts for ever."""
    count = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x, 'a' FROM c"
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(f"CREATE VIEW Studies (study_id, study_name) AS {count}")
        db.commit()


def set_param(words):
    return study(f"UPDATE trial_params SET {words}")


def pipes():
    """Readers, and names of files, for which a pipe is not refused at once."""
    found = []
    tables = read_scores, read_votes, read_log, read_matrix
    for reader in (*tables, logged, load_policy, read_json):
        for name in ("s.csv", "s.json", "s.parquet", "s.eval", "s.npy", "s.npz"):
            try:
                read(os.mkfifo, name, reader)
                found.append((reader, name))
            except ValueError as error:
                found += [] if "a pipe, a socket or a device" in str(error) else [str(error)]
    return found


def logged(path):
    return load(path, ReturnRange(0, 2))


def by_mean(low, high, scale=1.0, **settings):
    values = {"a": [0.5, 1, 0, 1, 0.5], "b": [0, 0.5, 0, 1, 1]}
    return race(
        {k: np.multiply(x, scale) for k, x in values.items()},
        by="mean",
        low=low,
        high=high,
        **settings,
    ).certified


def by_wins(**settings):
    return race({"a": [1.0, 2], "b": [2.0, 1]}, **settings).certified


def improved(**settings):
    return improve([{"x": 1, "action": 0, "probability": 1, "reward": 1}], 0, 1, **settings)


NESTED = b"[" * DEEP + b"]" * DEEP
ODD_PARAMS = {
    "value that is a text": "param_value = 'x'",
    "place that is no choice": "param_value = -1",
    "place that is infinite": "param_value = 9e999",
    "place that is none": "param_value = NULL",
    "list": "distribution_json = '[]'",
    "other JSON": "distribution_json = '{\"name\": 3}'",
    "no JSON": "distribution_json = '{'",
    "blob": "distribution_json = x'ff'",
    "nesting": f"distribution_json = '{'[' * DEEP}'",
}
ODD: Any = 1
ODD_WORD: Any = "no"  # which is true
ODD_METRICS = (None, {"a": 1}, [1.0], float("nan"), float("inf"), "x", 10**400)

CASES = [
    ("a study is read", lambda: scores(study(), "s.db"), {"p=u": [0, 1], "p=v": [1, 2]}),
    *(
        (
            f"a parameter with a {name}",
            lambda change=change: read(set_param(change), "s.db"),
            refused("a study of Optuna", "a cell of another kind", r"s\.db"),
        )
        for name, change in ODD_PARAMS.items()
    ),
    (
        "a study whose tables never end",
        lambda: read(endless, "s.db"),
        refused("a study of Optuna", "views .*'studies'", r"s\.db"),
    ),
    *(
        (
            f"a step {step}",
            lambda step=step: read(
                study(f"UPDATE trial_intermediate_values SET step = {step}"), "s.db"
            ),
            refused("a study of Optuna", "a cell of another kind", r"s\.db"),
        )
        for step in ("NULL", "'x'", "9e999")
    ),
    (
        "a study without a name",
        lambda: read(
            study("UPDATE studies SET study_name = NULL; INSERT INTO studies VALUES (2, NULL)"),
            "s.db",
        ),
        refused("one study", "None", r"s\.db"),
    ),
    (
        "a log of Inspect",
        lambda: read(log_of(), "l.eval"),
        ValueError("two options .* got 'm' alone"),
    ),
    *(
        (
            f"a log of Inspect: {name}",
            lambda content=content: read(content, "l.eval"),
            refused(*right, r"l\.eval"),
        )
        for name, content, right in (
            ("a list", log_of(header="[]"), ("an object", "a list")),
            ("a sample that is a list", log_of(sample="[1]"), ("an object", "a list")),
            ("nesting", log_of(sample=NESTED), ("JSON", _TOO_DEEP)),
            ("no UTF-8", log_of(sample=b'{"id": "\xff"}'), ("text in UTF-8", "invalid start byte")),
            ("twice", log_of(header='{"eval": 1, "eval": 1}'), ("JSON", "'eval' twice")),
            ("a flipped bit", flipped(log_of(), 50), ("a log of Inspect", "another")),
            ("a name", of_zip({"header": HEADER}), ("a log of Inspect", "another")),
            ("bzip2", log_of(method=zipfile.ZIP_BZIP2), ("a log of Inspect", "packed in a way")),
            (
                "large files",
                stated(log_of(), len(SAMPLE)),
                ("a log of Inspect", "unpacked, of at most"),
            ),
        )
    ),
    (
        "a log of Inspect: a bomb",
        lambda: read(bomb(), "l.eval"),
        refused("a log of Inspect", "(bad size or|Bad) CRC-32", r"l\.eval"),
    ),
    ("memory for a bomb", lambda: peak(bomb(), "l.eval") < 50, True),
    ("panics of polars", panics, []),
    (
        "one number many times",
        lambda: read(repeated, "s.parquet"),
        refused(r"a \.parquet file", "100,000,000 x 1 cells", r"s\.parquet"),
    ),
    ("a workbook", lambda: scores(workbook(*TABLE), "s.xlsx"), {"a": [1, 2], "b": [1, 2]}),
    (
        "a cell far away",
        lambda: read(workbook(*TABLE, (1_000_000, 16_000, 1)), "s.xlsx"),
        refused(r"a \.xlsx file", "1,000,001 x 16,001 cells", r"s\.xlsx"),
    ),
    (
        "a large sheet",
        lambda: read(large_sheet(), "s.xlsx"),
        refused(r"a \.xlsx file", "bytes unpacked, of at most", r"s\.xlsx"),
    ),
    (
        "samples of a harness",
        lambda: read(harness(), "samples_t.jsonl"),
        ValueError("two options or more"),
    ),
    (
        "samples of a harness, right or wrong",
        lambda: read(harness(acc=True), "samples_t.jsonl"),
        ValueError("two options or more"),
    ),
    *(
        (
            f"samples of a harness: {str(value)[:9]}",
            lambda value=value: read(harness(acc=value), "samples_t.jsonl"),
            refused("a number", "got", r"samples_t\.jsonl"),
        )
        for value in ODD_METRICS
    ),
    *(
        (
            f"metrics of a harness: {value}",
            lambda value=value: read(harness(metrics=value), "samples_t.jsonl"),
            refused("names of metrics", "got", r"samples_t\.jsonl"),
        )
        for value in ([None], [{}], [["acc"]], [1])
    ),
    *(
        (
            f"{name} in JSON, {reader.__name__}",
            lambda content=content, reader=reader: read(content, "s.json", reader),
            ValueError(right),
        )
        for reader in (read_scores, read_votes, read_log, read_matrix)
        for name, content, right in (
            ("nesting", NESTED, rf"expected JSON in '.*s\.json', got .*{_TOO_DEEP}"),
            (
                "a name twice",
                b'{"a": [1], "a": [2]}',
                r"expected JSON in '.*s\.json', got .*'a' twice",
            ),
            (
                "5,000 digits",
                b'{"a": [1], "b": [' + b"1" * 5_000 + b"]}",
                r"expected JSON in '.*s\.json', got .*digits",
            ),
            ("1e999", b'{"a": [1], "b": [1e999]}', r"expected JSON in '.*s\.json', got .*beyond"),
            (
                "NaN",
                b'{"a": [1, 1], "b": [NaN, 1]}',
                r"got nan|read in one way|expected .* in '.*s\.json'",
            ),
            ("no UTF-8", b'{"a": [1], "b": ["\xff"]}', r"text in UTF-8 in '.*s\.json', line 1"),
            ("lists in lists", b'{"a": [[1], [2]], "b": [1, 2]}', r"expected .*s\.json"),
        )
    ),
    (
        "5,000 digits beside points",
        lambda: read(b"a,b\n" + b"9" * 5_000 + b",1\n1.020,2\n", "s.csv"),
        ValueError(r"s\.csv'"),
    ),
    ("pipes", pipes, []),
    (
        "a device",
        lambda: read_scores("/dev/zero"),
        ValueError("scores: expected a plain file in '/dev/zero', got a pipe"),
    ),
    (
        "a folder",
        lambda: read_votes(Path(__file__).parents[1] / "core"),
        ValueError(r"expected a file, or a folder with \*\.pgn, .*, got '.*core'"),
    ),
    *(
        (
            f"a range from {low!r} to {high!r}, shared {shared}",
            lambda low=low, high=high, shared=shared: by_mean(low, high, shared=shared),
            ValueError(right),
        )
        for shared in (False, True)
        for low, high, right in (
            ("0", "1", "^low: expected a number .* got '0'"),
            (0, "1", "^high: expected a number .* got '1'"),
            (float("nan"), 1, "^low: expected a number"),
            (0, float("inf"), "^high: expected a number"),
            (-(10**400), 1, "^low: expected a number"),
            (-1e308, 1e308, "^low: expected a number of at most 1e[+]300, got -1e[+]308"),
            (-1e300, 2, "^low, high: expected a range in which scores can be told apart"),
        )
    ),
    ("a large range", lambda: by_mean(0, 1e300, 1e300), False),
    (
        "a range of a race on devices",
        lambda: SharedRace(2, 1, 10, by="mean", low=-1e300, high=1e300),
        ValueError("low, high: expected a range in which float32"),
    ),
    (
        "a horizon",
        lambda: race({"a": [1.0, 2], "b": [2.0, 1]}, horizon=10**400),
        ValueError("^horizon: expected at most"),
    ),
    (
        "a score of failed runs",
        lambda: race({"a": [1.0, 2], "b": [2.0, 1]}, failed=10**400),
        ValueError("^failed: expected 'worst', 'drop' or a number"),
    ),
    *(
        (
            f"a direction that is {ODD_WORD!r}, {use.__name__}",
            lambda use=use: use(smaller=ODD_WORD),
            ValueError("^smaller: expected True or False, got 'no'"),
        )
        for use in (by_wins, improved)
    ),
    (
        "a floor",
        lambda: improved(floor=10**400),
        ValueError(r"^floor: expected a mean return in \[0, 1\)"),
    ),
    (
        "a preference",
        lambda: race({"a": [1.0, 2], "b": [2.0, 1]}, compare=ODD),
        ValueError("^compare: expected a function"),
    ),
    (
        "a list of tasks",
        lambda: race({"a": [1.0, 2], "b": [2.0, 1]}, shared=True, of=10**400),
        ValueError("^of: expected at most"),
    ),
    (
        "ties alone",
        lambda: (
            race({"a": [1.0] * 40, "b": [1.0] * 40}, shared=True, by="mean", low=0, high=2).best
        ),
        ["a"],
    ),
]


@pytest.mark.parametrize(("act", "right"), params(CASES))
def test_right_answers(act, right):
    check(act, right)
