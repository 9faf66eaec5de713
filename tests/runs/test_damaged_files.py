"""Files that are damaged by chance: what reads them answers, or says in one line what is wrong.

There is no traceback and nothing takes long; a command that refuses a file leaves nothing behind,
and a finished run that is gone on with shows what it has shown before.
"""

import contextlib
import functools
import io
import json
import re
import signal
import tempfile
from pathlib import Path

import made_files
import numpy as np
import polars
import pytest
from without_cache import without_cache

from jaxrace import runs
from jaxrace.commands.cli import main
from jaxrace.improvement import ReturnRange
from jaxrace.judging.policies.loading import load
from jaxrace.judging.rating.front import read_comparisons
from jaxrace.tables import read_matrix, read_scores

rng = np.random.default_rng(0)


def table(head, rows):
    return "\n".join([head, *(",".join(map(str, row)) for row in rows)]).encode() + b"\n"


def saved(save, *arrays, **named):
    file = io.BytesIO()
    save(file, *arrays, **named)
    return file.getvalue()


SCORES = table("a,b,c", (rng.normal(size=(22, 3)) + np.array([0, 1, 3])).round(3))
GAMES = table("first,second,score", [("ab"[i % 2], "bc"[i % 2], i % 3 - 1) for i in range(12)])
LOG = table(
    "trajectory,x,action,probability,reward",
    [(i // 2, i % 7 / 7, i % 2, 0.5, i % 3 / 3) for i in range(80)],
)
ARRAYS = saved(
    np.savez,
    observations=rng.random((40, 2, 1)).round(1),
    actions=rng.integers(2, size=(40, 2)),
    probabilities=np.full((40, 2), 0.5),
    rewards=rng.random((40, 2)).round(1),
)
MATRIX = np.array([[0.5, 0.7, 0.6], [0.3, 0.5, 0.8], [0.4, 0.2, 0.5]])

DONE = (0, 3)  # done; done, and not certain yet
RACE = "race s.csv --horizon 22"
SELECT = "select g.csv --top 1 --next 2"
DUEL = "duel m.csv"
IMPROVE = "improve l.csv --low 0 --high 2 --candidates none --floor 0.2"
STANDING = "duel m.npy"
TRAIN = "train medical --method constant --repeats 2 --test-patients 3 --out d"

# A command, and the files that it reads; what is resumed are the files that it has left, too.
COMMANDS = {
    RACE: {"s.csv": SCORES},
    SELECT: {"g.csv": GAMES},
    DUEL: {"m.csv": saved(np.savetxt, MATRIX, delimiter=",")},
    STANDING: {"m.npy": saved(np.save, MATRIX)},
    IMPROVE: {"l.csv": LOG},
    IMPROVE.replace("csv", "npz"): {"l.npz": ARRAYS},
    TRAIN: {},
}
READERS = {
    "s.csv": read_scores,
    "g.csv": read_comparisons,
    "m.csv": read_matrix,
    "m.npy": read_matrix,
    "l.csv": lambda path: load(path, ReturnRange(0, 2)),
    "l.npz": lambda path: load(path, ReturnRange(0, 2)),
    "d/config.json": lambda path: runs.read_config(path.parent),
    "d/summary.json": lambda path: runs.read_summary(path.parent),
    "d/timing.json": runs.read_json,
    "d/log.csv": lambda path: runs.read_log(path.parent),
}

TOKENS = [
    *(b"", b"\0", b'"', b"'", b",", b"\n", b"\r", b"{", b"[", b"}", b":", b"-", b" ", b"\xff"),
    *(b"\xef\xbb\xbf", b"\x1b[31m", b"null", b"true", b"[]", b"{}", b"nan", b"-inf", b"1e999"),
    *(b"1" * 400, b"9" * 20, b"0", b"-1", b"1e-400", b"0x10", b"1_0", b"1j", "\u202e٣".encode()),
]


def damaged(content, rng):
    """The same file after one to three accidents; mostly small ones."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        content = accident(content, rng) if rng.random() < 0.6 else slip(content, rng)
    return content


def slip(content, rng):
    """One character is another one of the same file, or a digit another one."""
    place, source = rng.integers(max(len(content), 1), size=2)
    other = b"%d" % rng.integers(10) if rng.random() < 0.5 else content[source : source + 1]
    return content[:place] + other + content[place + 1 :]


def accident(content, rng):
    begin, end = sorted(rng.integers(len(content) + 1, size=2))
    if rng.random() < 0.7:  # small ones
        end = min(end, begin + int(rng.integers(1, 9)))
    token = TOKENS[rng.integers(len(TOKENS))]
    kind = rng.integers(8)
    if kind == 0:
        return content[:begin]
    if kind == 1:
        return content[:begin] + content[end:]
    if kind == 2:
        return content[:end] + content[begin:]
    if kind == 3:
        return content[:begin] + rng.bytes(end - begin) + content[end:]
    if kind == 4:
        return content[:begin] + token + content[begin:]
    if kind == 5:  # one that is there by another
        words = content.split(b",")
        words[rng.integers(len(words))] = token
        return b",".join(words)
    if kind == 6:
        lines = content.split(b"\n")
        rng.shuffle(lines)
        return b"\n".join(lines)
    return content[:begin] + token + content[end:]


@contextlib.contextmanager
def folder_of(files):
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, content in files.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(content)
        yield


@contextlib.contextmanager
def in_time(seconds):
    def stop(*_):
        raise AssertionError(f"it takes more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def ran(command, files):
    """Its status, what it says, and the files that are there then."""
    said = io.StringIO(), io.StringIO()
    with folder_of(files), in_time(120):
        with contextlib.redirect_stdout(said[0]), contextlib.redirect_stderr(said[1]):
            status = main(without_cache(command.split()))
        paths = [path for path in Path().rglob("*") if path.is_file()]
        left = {path.as_posix(): path.read_bytes() for path in paths}
    return status, said[0].getvalue(), said[1].getvalue(), left


@functools.cache
def finished(command):
    status, _, _, files = ran(command, COMMANDS[command])
    assert status in DONE
    status, out, *_ = ran(f"{command} --resume", files)
    assert status in DONE
    return files, answer(out)


def answer(out):
    """What is said, but for how long it took."""
    return re.sub("compile .*, run .* s; ", "", out)


def check_command(command, seed, kind):
    """With one of its files damaged, or gone: its own, or those that a run has left."""
    rng = np.random.default_rng(seed)
    files, right_answer = COMMANDS[command], None
    if kind != "new":
        files, right_answer = finished(command)
        command = f"{command} --resume"
    name = sorted(files)[rng.integers(len(files))]
    files = dict(files)
    content = files.pop(name)
    if rng.random() < 0.95:
        files[name] = damaged(content, rng)
    status, out, err, left = ran(command, files)
    if status in DONE:
        if kind == "finished":
            assert answer(out) == right_answer, name
        return
    assert status in (1, 2), name
    *stages, last = err.splitlines()
    assert all(line.endswith(" ...") for line in stages), err
    assert last.startswith("jaxrace: error: "), err
    assert last.isprintable(), err
    assert left == files, name


def name_of(command):
    return command.replace("d ", "").split()[0] + ("_npy" if "np" in command else "")


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("command", "kind"), [(SELECT, "new"), (TRAIN, "finished")])
def test_commands_that_end_at_once(command, kind, seed):
    check_command(command, seed, kind)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 15))
@pytest.mark.parametrize("command", COMMANDS, ids=name_of)
@pytest.mark.parametrize("kind", ["new", "finished"])
def test_commands(command, kind, seed):
    if kind == "new" and not COMMANDS[command]:
        pytest.skip("it reads no file")
    if kind == "finished" and command != TRAIN:
        pytest.skip("it is answered at once, and never resumed")
    check_command(command, seed, kind)


@pytest.mark.parametrize("name", READERS)
def test_readers(name):
    """An error is of one line, in which the file or what is wrong has a name."""
    all_files = {name: content for files in COMMANDS.values() for name, content in files.items()}
    content = all_files.get(name) or finished(TRAIN)[0][name]
    said = [said_of(name, damaged(content, np.random.default_rng(seed))) for seed in range(30)]
    assert all(said)
    assert not any("\n" in words for words in said)


def said_of(name, content):
    with folder_of({name: content}), in_time(60):
        try:
            READERS[name](Path(name))
        except (OSError, ValueError) as error:
            return str(error)
    return "it is read"


ROWS = [{"ppo": round(i * 0.37 % 1, 3), "sac": round(i * 0.61 % 1, 3)} for i in range(12)]
FRAME = polars.DataFrame(ROWS)
# Files of scores by their ending; of one model alone there are two, one of them damaged.
TABLES = {
    "s.csv": SCORES,
    "s.json": json.dumps(ROWS).encode(),
    "s.jsonl": "\n".join(map(json.dumps, ROWS)).encode(),
    "s.parquet": saved(FRAME.write_parquet),
    "s.arrow": saved(FRAME.write_ipc, compression="zstd"),
    "s.xlsx": made_files.workbook(*made_files.TABLE),
    "s.db": made_files.content_of(made_files.study()),
    "s.eval": made_files.log_of(),
    "samples_s.jsonl": b"\n".join(made_files.harness(doc_id=i) for i in range(4)),
}
OF_ONE_MODEL = ("s.eval", "samples_s.jsonl")


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("seeds", [range(7), pytest.param(range(7, 63), marks=pytest.mark.slow)])
def test_readers_of_scores(name, seeds, capfd):
    """500 inputs: a result without NaN, or one line that names the file; nothing is printed."""
    content, taken = TABLES[name], 0
    for seed in seeds:
        found = broken(content, np.random.default_rng(seed))
        with folder_of({name: found, "other/" + name: content}), in_time(20):
            other = {"a": name, "b": f"other/{name}"}
            try:
                scores = read_scores(other if name in OF_ONE_MODEL else name)
            except ValueError as error:
                said = str(error)
                assert said.isprintable(), seed
                assert name in said, (seed, said)
                continue
        taken += 1
        assert not any(np.isnan(column).any() for column in scores.values), seed
    assert taken < len(seeds)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", TABLES)
def test_a_race_of_a_broken_file(name):
    status, _, err, _ = ran(f"race {name}", {name: broken(TABLES[name], np.random.default_rng(0))})
    assert status in (*DONE, 2)
    assert status in DONE or (err.startswith("jaxrace: error: ") and err.count("\n") == 1)


def broken(content, rng):
    """The same with bits flipped or bytes cut out or put in, or with other accidents."""
    if rng.random() < 0.3:
        return damaged(content, rng)
    for _ in range(rng.integers(1, 4)):
        place, size = int(rng.integers(len(content))), int(rng.integers(1, 9))
        bit = bytes([content[place] ^ 1 << int(rng.integers(8))])
        new, gone = [(bit, 1), (b"", size), (rng.bytes(size), 0)][rng.integers(3)]
        content = content[:place] + new + content[place + gone :]
        content = content or b"0"
    return content
