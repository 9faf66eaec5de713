"""Tables of scores: the right numbers, or an error that names place and remedy."""

import json
import subprocess
import sys

import numpy as np
import pytest
from refusals import assert_refused

from jaxrace.tables import read_scores
from jaxrace.tables import table as cells
from jaxrace.tables.delimited import parse
from jaxrace.tables.table import Place

AB = {"a": [1.0, 0.5], "b": [2.0, 3.0]}

# The text of a file, what is found in it, the tasks, and what of it is said.
READ = {
    "wide": ("a,b\n1,2\n.5,3\n", AB, "1 2", ""),
    "spaces": ("a  b\n1 2\n.5 3  \n", AB, "1 2", "spaces between the columns"),
    "a frame as it is printed": ("    a  b\n0   1 2\n1  .5 3\n", AB, "1 2", "numbers the rows"),
    "R's names of rows": ('"a" "b"\n"x" 1 2\n"y" 0.5 3\n', AB, "x y", "tasks from column 'index'"),
    "R's names with commas": ("a,b\nx,1,2\ny,.5,3\n", AB, "x y", "no head: read as names of the"),
    "R's numbers of rows": ("a,b\n1,1,2\n2,.5,3\n", AB, "1 2", "no head: read as numbers of the"),
    "one row without halves": ("a,b\nx,1,2\ny,,3\n", {"a": [1], "b": [2, 3]}, "x y", "no head"),
    "R's whole numbers with tabs": (
        "a\tb\n0\t5\t7\n1\t7\t3\n",
        {"a": [5, 7], "b": [7, 3]},
        "1 2",
        "no head: read as numbers",
    ),
    "three decimals": ("a\tb\n1.020\t0.850\n", {"a": [1.02], "b": [0.85]}, "1", ""),
    "three decimals or none": (
        "a,b\n1.125,2\n3,1.250\n",
        {"a": [1.125, 3], "b": [2, 1.25]},
        "1 2",
        "",
    ),
    "NumPy's heads": ("# a b\n1 2\n0.5 3\n", AB, "1 2", ""),
    "names with spaces": ("model a,score\nx 1,5\ny 2,6\n", {"x 1": [5], "y 2": [6]}, None, ""),
    "spaces and commas without heads": (
        "lr=0,1 lr=0,2\n0,5 1\n0,25 3\n",
        {"lr=0,1": [0.5, 0.25], "lr=0,2": [1, 3]},
        "1 2",
        "spaces between",
    ),
    "decimal commas": ("a;b\n1;2\n0,5;3\n", AB, "1 2", "semicolons between"),
    "heads with commas": (
        "lr=0,1;lr=0,2\n1;2\n0,5;3\n",
        {"lr=0,1": [1, 0.5], "lr=0,2": [2, 3]},
        "1 2",
        "",
    ),
    "a proof of decimal commas": ("a;b\n0,5;1,234\n", {"a": [0.5], "b": [1.234]}, "1", ""),
    "mark and CRLF": ("\ufeffa,b\r\n1,2\r\n0.5,3\r\n", AB, "1 2", ""),
    "pandas' index": (",a,b\n0,1,2\n1,.5,3\n", AB, "1 2", "the first column numbers the rows"),
    "trailing commas below": ("a,b\n1,2,\n.5,3,,\n", AB, "1 2", ""),
    "blank": ("a,b\n1,NA\n,2\n.5,3\n", AB, "1 2 3", "blank cells between others, no runs: 2"),
    "a title": ("June 2026\n\nseed,a,b\n3,1,2\n4,.5,3\n", AB, "3 4", "as a title: 'June 2026'"),
    "a pivot": (
        ",score,score\nmodel,a,b\nseed,,\n3,1,2\n4,.5,3\n",
        AB,
        "3 4",
        "tasks from column 'seed'",
    ),
    "percents": ("a,b\n100%,200 %\n50%,300%\n", AB, "1 2", "percents divided by 100"),
    "truth": ("question,a,b\nx,True,false\ny,false,TRUE\n", {"a": [1, 0], "b": [0, 1]}, "x y", ""),
    "notes": ("seed,a,b,note\n3,1,2,slow\n4,.5,3,\n", AB, "3 4", "nothing in them is a number"),
    "long": ("option,score\na,1\nb,2\nb,3\na,.5\n", AB, None, ""),
    "cases": ("Option,Seed,SCORE\na,1,1\nb,1,2\na,2,.5\nb,2,3\n", AB, "1 2", "from column 'Seed'"),
    "two columns of tasks": (
        "algo,env,seed,return\na,x,0,1\nb,x,0,2\na,y,0,.5\na,y,1,.5\nb,y,0,3\n",
        {"a": [1, 0.5, 0.5], "b": [2, 3]},
        "env=x seed=0 env=y seed=0 env=y seed=1",
        "columns 'env', 'seed' together",
    ),
    "ids of rows, and times": (
        "id,date,model,seed,acc\n1,2026,a,1,1\n2,2026,b,1,2\n3,2027,a,2,.5\n4,2027,b,2,3\n",
        AB,
        "1 2",
        "left out: 'date'",
    ),
    "years": ("year,a,b\n2025,1,2\n2026,.5,3\n", AB, "1 2", "left out: 'year'"),
    "unknown heads": ("who,points\na,1\nb,2\na,.5\nb,3\n", AB, None, "named in column 'who'"),
    "an option called agent": (
        "agent,random\n1,2\n.5,3\n",
        {"agent": [1, 0.5], "random": [2, 3]},
        "1 2",
        "",
    ),
    "a row for each option": (
        "model,fold1,fold2\na,1,.5\nb,2,3\n",
        AB,
        "fold1 fold2",
        "a row for each",
    ),
}


@pytest.mark.parametrize("name", READ)
def test_what_is_read(name, tmp_path):
    text, expected, tasks, said = READ[name]
    path = tmp_path / ("s.tsv" if name == "tabs" else "s.csv")
    path.write_text(text, "utf-8", newline="")
    found = read_scores(path)
    assert dict(zip(found.names, map(list, found.values), strict=True)) == expected
    assert (None if found.tasks is None else " ".join(found.task_names)) == tasks
    assert said in "; ".join(found.said)


# The text of a file, arguments, and what the error says.
# Words that may name options, below a head that nobody knows.
GERMAN = "Modell;Lauf;Punkte\na;1;0,5\nb;1;0,7\na;2;0,6\nb;2;0,8\n"

ANSWERS = "1,0\n0,1\n0,1\n1,1\n0,0\n1,1\n0,0\n"
NUMBERED = "".join(f"q{n},{row}\n" for n, row in enumerate(ANSWERS.split()))

REFUSED = [
    (GERMAN, {}, "words that repeat in column 'Modell': if they name the options, --option-column"),
    ("", {}, "expected a table with something in it in 's.csv', got none"),
    ("a,b\n", {}, "expected runs below the names of the columns in 's.csv', got none"),
    ("a\n1\n", {}, "two columns or more with commas, semicolons, tabs, bars or spaces between"),
    ("a,b,a\n1,2,3\n", {}, "in 's.csv', line 1, got 'a' twice: give each column a name"),
    ("command,mean,stddev\nls,1,2\n", {}, "got means alone: hyperfine --export-json has them"),
    ('{"op_code": 0}\n', {}, "got a journal of Optuna: study.trials_dataframe()"),
    ('a,b\n1,"2\n' + "1,2\n" * 40_000, {}, "field larger than field limit"),
    ("a,a\n1,2\n", {}, "expected different names of columns in 's.csv', line 1, got 'a' twice"),
    ("a,b\n1,2\n3\n", {}, "expected 2 cells in 's.csv', line 3, got 1"),
    ("a,b\n1,2\n3,x\n", {}, "expected a number in 's.csv', line 3, column 'b', got 'x'"),
    ("a,b\n1,nan\n", {}, "line 2, column 'b', got 'nan': leave it blank if there was no run"),
    ("a,b\n1,9007199254740993\n", {}, "float64 does not hold it"),
    ("option,score\na,1\nb,\n", {}, "line 3, column 'score', got '': leave the row out if"),
    ("1,2\n3,4\n", {}, "with --no-header it is a run"),
    (",x,x,y\nmodel,a,b,a\nseed,,,\n3,1,2,5\n", {}, "got 'x', 'y': frame['x'].to_csv writes"),
    ("seed,a,b\n3,1,2\nmean,1,2\n", {}, "line 3, column 'seed', got 'mean': leave out rows that"),
    (f"a,b\n{ANSWERS}7,7\n", {}, "line 9, got the number of those above below each option"),
    (f"id,a,b\n{NUMBERED}acc,.429,.571\n", {}, "line 9, got the mean of those above"),
    (f"id,a,b\n{NUMBERED}acc,42.86,57.14\n", {}, "line 9, got the mean of those above"),
    (f"id,a,b\n{NUMBERED}n,3,4\n", {}, "line 9, got the sum of those above below each option"),
    (f"question_id,run1,run2\n{NUMBERED}", {}, "'run1', 'run2', which seem to be runs: --option-c"),
    ("seed,a,b,All\n3,1,2,1.5\n4,2,3,2.5\n", {}, "got 'All': leave out what is made of"),
    # A head is missing, or a decimal comma is between commas.
    ("model,score\nm0,0,0.52\nm1,1,0.20\n", {}, "expected 2 cells in 's.csv', line 2, got 3: "),
    ("a,seed\nx,.5,1\ny,.7,2\n", {}, "which column has no head is not clear beside 'seed'"),
    ("model score\nm0 0 .52\nm1 1 .20\n", {}, "got 3: which column has no head is not clear"),
    ("a,b\n0,5,7\n1,7,3\n", {}, "line 2, got 3: commas may be decimal ones, as in 0,5: then sem"),
    ("a,b\n1,5,7\n2,7,3\n", {"delimiter": "comma"}, "decimal ones, as in 1,5: then semicolons"),
    ("who,pts\nx,0,52\ny,-0,2\n", {}, "decimal ones, as in 0,52"),
    ("a,b\n0,5%,7%\n1,25%,3%\n", {}, "decimal ones, as in 0,5%"),
    (
        "option,score\na,1\n,2\n",
        {},
        "a name of an option in 's.csv', line 3, column 'option', got none",
    ),
    ("seed,a,b\n3,1,2\n,.5,3\n", {}, "name of a task in 's.csv', line 3, column 'seed', got none"),
    (
        "q w,a,b\n" + "".join(f"{i},{-i},{i % 3}\n" for i in range(9)),
        {},
        "--task-column 'q w' says so",
    ),
    ("x\na,1\nb,2\n", {}, "line 2, got 'a', '1' below 'x': a name above each column says which"),
    (
        "Results\nm 1 m 2\n-0,1 -1,7\n0,4 -0,8\n",
        {},
        "line 3, got '-0', '1 -1', '7' below 'm 1 m 2'",
    ),
    (
        '"r1",4,48,2,98\n"r2",3,52,0,016\n',
        {"header": False},
        "got '016', behind a comma: semicolons",
    ),
    ("May\nm 1;m 2\nr1;1,0;\nr2;2,0;0,5\nr3;1,0;2,0\n", {}, "expected 2 cells in 's.csv', line"),
    # Read in two ways.
    ("a\tb\n1.020\t850\n990\t1.100\n", {}, "got '1.020': --decimal comma or --decimal point"),
    ("a,b\n1.020,850\n990,1.100\n", {}, "got '1.020': --decimal comma or --decimal point"),
    ("model,acc\na,1.020\nb,850\n", {}, "got '1.020': --decimal comma or --decimal point"),
    ('a,b\n"1,234",2\n', {}, "got '1,234': --decimal comma or --decimal point says"),
    ("a;x|b;y\n1;2|3;4\n", {}, "got semicolons or bars: --delimiter says which it is"),
    ("model,acc,f1\na,1,2\nb,3,4\n", {}, "'acc', 'f1': --score-column says which it is"),
    ("lr,score\n.1,2\n.2,4\n", {}, "got 'score': --option-column and --score-column say so"),
    ("qq,a,b\n" + "".join(f"{i},{-i},{i % 3}\n" for i in range(9)), {}, "--task-column qq says so"),
    (
        "seed,a\n1,2\n2,1\n",
        {},
        "two columns of scores or more in 's.csv', got 'a': add a column, such",
    ),
    ("a,b,steps\n1,2,.5\n2,1,1\n", {}, "column 'steps', got '.5': --task-column says which column"),
    ("model_a,model_b,winner\nx,y,tie\n", {}, "of 'model_a' and 'model_b': `jaxrace select"),
    ("a,b,wins_a,wins_b,ties\nx,y,1,2,0\n", {}, "expected scores of options in 's.csv', got comp"),
    ("algo,seed,step,return\na,0,1,2\na,0,2,3\nb,0,1,2\n", {}, "each curve, as --where step=1 ("),
    ("algo,seed,step,return\na,0,1,2\na,0,2,3\nb,0,2,2\nb,1,1,2\n", {}, "of each curve; -"),
    ("a\0b,c\n1,2\n", {}, "expected text in 's.csv', got a zero byte"),
    (None, {}, "expected a file that can be read, got 's.csv': No such file"),
]


@pytest.mark.parametrize(("text", "given", "message"), REFUSED)
def test_what_is_refused(text, given, message, tmp_path):
    assert_refused(read_scores, "scores", tmp_path, "s.csv", text, message, **given)


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("1,2\n.5,3\n", {"header": False}, {"option 1": [1, 0.5], "option 2": [2, 3]}),
        ("a;b\n1,234;2\n", {"decimal": "comma"}, {"a": [1.234], "b": [2]}),
        ("a;b\n1,234;2\n", {"decimal": "point"}, {"a": [1234], "b": [2]}),
        ("a;b\n1.234;2\n", {"decimal": "comma"}, {"a": [1234], "b": [2]}),
        ("a|x,b|y\n1,2\n", {"delimiter": "comma"}, {"a|x": [1], "b|y": [2]}),
        ("model,acc,f1\na,1,2\nb,3,4\n", {"score_column": "f1"}, {"a": [2], "b": [4]}),
        (
            "lr,score\n.1,2\n.2,4\n",
            {"option_column": "lr", "score_column": "score"},
            {".1": [2], ".2": [4]},
        ),
        (
            ",,0\n0,a,1\n0,b,2\n1,a,.5\n1,b,3\n",
            {"option_column": "column 2", "score_column": "0", "task_column": "column 1"},
            AB,
        ),
        ("run,a,b\n1,2,3\n", {"task_column": "a"}, {"run": [1], "b": [3]}),
    ],
)
def test_what_is_asked_for_settles_it(text, given, expected, tmp_path):
    (tmp_path / "s.csv").write_text(text)
    found = read_scores(tmp_path / "s.csv", **given)
    assert dict(zip(found.names, map(list, found.values), strict=True)) == expected


def test_the_same_tasks_are_seen(tmp_path):
    (tmp_path / "s.csv").write_text("model,seed,acc\na,2,1\nb,1,2\nb,2,3\na,1,4\na,1,5\na,2,6\n")
    found = read_scores(tmp_path / "s.csv")
    assert found.fits_shared
    assert found.tasks is not None
    # That of b says where the task is that a has not run yet.
    assert found.task_names == ("1", "2")
    assert [x.tolist() for x in found.tasks] == [[1, 0, 0, 1], [0, 1]]
    (tmp_path / "s.csv").write_text("model,seed,acc\na,2,1\nb,1,2\nb,2,3\n")
    assert not read_scores(tmp_path / "s.csv").fits_shared


JSON = [
    ("s.json", {"a": [1, 0.5], "b": [2, 3]}),
    ("s.json", [{"a": 1, "b": 2}, {"a": 0.5, "b": 3}]),
    ("s.json", {"columns": ["a", "b"], "index": [0, 1], "data": [[1, 2], [0.5, 3]]}),
    ("s.json", {"a": {"x": 1, "y": 0.5}, "b": {"y": 3, "x": 2}}),
    ("s.jsonl", [{"model": m, "score": s} for m, s in zip("abab", (1, 2, 0.5, 3), strict=True)]),
]


@pytest.mark.parametrize(("name", "content"), JSON)
def test_json_is_read(name, content, tmp_path):
    lines = map(json.dumps, content)
    (tmp_path / name).write_text("\n".join(lines) if name == "s.jsonl" else json.dumps(content))
    found = read_scores(tmp_path / name)
    assert {n: sorted(x) for n, x in zip(found.names, found.values, strict=True)} == {
        "a": [0.5, 1.0],
        "b": [2.0, 3.0],
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": [1], "a": [2], "b": [3]}', "'a' twice in one object"),
        ("[1, 2]", "expected a mapping of columns in 's.json', record 0, got 1"),
        ("[" * 10_000, "expected JSON in 's.json'"),
        ('{"results": {"gsm8k": {}}, "configs": {}}', "lm_eval --log_samples writes them"),
    ],
)
def test_json_that_is_no_table_is_refused(text, message, tmp_path):
    assert_refused(read_scores, "scores", tmp_path, "s.json", text, message)


def frames():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    wide, long = {"a": [1, 0.5], "b": [2, 3]}, {"model": list("abab"), "acc": [1, 2, 0.5, 3]}
    return {
        "pandas": pd.DataFrame(wide),
        "pandas, missing": pd.DataFrame({"a": [1, np.nan, 0.5], "b": [2, 3, np.nan]}),
        "pandas, an index": pd.DataFrame(wide, index=pd.Index(["x", "y"], name="question")),
        "pandas, a pivot": pd.DataFrame(wide).set_axis([["acc", "acc"], ["a", "b"]], axis=1),
        "pandas, long": pd.DataFrame(long),
        "pandas, categories": pd.DataFrame(long).astype({"model": "category"}),
        "polars": pl.DataFrame(wide, strict=False),
        "polars, missing": pl.DataFrame({"a": [1, None, 0.5], "b": [2.0, 3.0, None]}, strict=False),
        "polars, lazy": pl.LazyFrame(long, strict=False),
        "pyarrow": pa.table(long),
        "mapping": {"a": np.array([1, 0.5]), "b": (2, 3)},
        "ragged": {"a": [1, 0.5, None], "b": [2, 3]},
    }


def two_kinds():
    import pandas as pd

    return pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("x", "a"), ("y", "a")]))


def test_frames_are_read():
    for name, frame in frames().items():
        found = read_scores(frame)
        values = dict(zip(found.names, map(list, found.values), strict=True))
        assert values == AB, name
    assert read_scores(frames()["pandas, an index"]).task_names == ("x", "y")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"a": [1, float("nan")], "b": [2, 3]}, "a dict, row 1, column 'a', got nan"),
        (two_kinds(), "got 'x', 'y': frame['x'] has those of one"),
        ({"a": np.ones((2, 2)), "b": [2]}, "got shape [2, 2]"),
        ({"a": "12", "b": [2]}, "a list or array [n] as 'a', got '12'"),
        (3, "expected a path, a data frame or a mapping of columns, got a builtins int"),
    ],
)
def test_what_is_no_table_of_scores_is_refused(source, message):
    with pytest.raises(ValueError, match=r"^scores: expected") as error:
        read_scores(source)
    assert message in str(error.value)


def test_other_texts_are_refused(tmp_path):
    (tmp_path / "s.csv").write_bytes(b"a,b\n1,2\n3,\x81\n")  # nor in Windows-1252
    with pytest.raises(ValueError, match=r"text in UTF-8 in '.*s\.csv', line 3, .*`CSV UTF-8`"):
        read_scores(tmp_path / "s.csv")


def test_sheets_are_read(tmp_path):
    import polars as pl
    import xlsxwriter

    frame = pl.DataFrame({"seed": [3, 4], "a": [1, 0.5], "b": [2.0, 3.0]}, strict=False)
    frame.write_parquet(tmp_path / "s.parquet")
    frame.write_ipc(tmp_path / "s.feather")
    frame.write_excel(tmp_path / "s.xlsx")
    for path in sorted(tmp_path.iterdir()):
        found = read_scores(path)
        assert dict(zip(found.names, map(list, found.values), strict=True)) == AB
        assert found.task_names == ("3", "4")
    # A title, and the heads of a pivot of pandas.
    for above in (["June", "", ""], [None]), (["", "acc", ""], ["model", "a", "b"]):
        heads = ["seed", "a", "b"] if above[0][0] else ["seed", None, None]
        with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
            sheet = book.add_worksheet()
            for number, row in enumerate((*above, heads, [3, 1, 2], [4, 0.5, 3])):
                sheet.write_row(number, 0, [None if cell == "" else cell for cell in row])
        found = read_scores(tmp_path / "t.xlsx")
        assert dict(zip(found.names, map(list, found.values), strict=True)) == AB
        assert found.task_names == ("3", "4")
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:  # as pandas writes its index
        for sheet in (book.add_worksheet("runs"), book.add_worksheet("more")):
            for number, row in enumerate(([None, "a", "b"], [0, 1, 2], [1, 0.5, 3])):
                sheet.write_row(number, 0, row)
    found = read_scores(tmp_path / "t.xlsx")
    assert dict(zip(found.names, map(list, found.values), strict=True)) == AB
    assert found.said == ("sheet 'runs', the first of 2", "the first column numbers the rows")
    (tmp_path / "s.parquet").write_bytes(b"no parquet")
    with pytest.raises(ValueError, match=r"^scores: expected a \.parquet file in "):
        read_scores(tmp_path / "s.parquet")


def test_a_file_for_each_option(tmp_path):
    for name, numbers in AB.items():
        rows = "".join(f"{seed},{x}\n" for seed, x in enumerate(numbers))
        (tmp_path / f"{name}.csv").write_text(f"seed,return\n{rows}")
    found = read_scores({name: tmp_path / f"{name}.csv" for name in AB})
    assert dict(zip(found.names, map(list, found.values), strict=True)) == AB
    assert found.task_names == ("0", "1")
    assert found.fits_shared


def test_no_jax_is_imported(tmp_path):
    (tmp_path / "s.csv").write_text("a,b\n1,2\n")
    code = (
        "import sys\nfrom jaxrace.tables import read_scores\nread_scores('s.csv')\n"
        "assert not {'jax', 'polars', 'narwhals', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


@pytest.mark.parametrize("seed", range(3))
def test_what_pandas_writes_is_what_is_read(seed, tmp_path):
    """Wide and long, by any separator, decimal sign and index: to the last digit."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    sizes = {f"lr={i},x": int(rng.integers(12, 20)) for i in range(4)}
    scores = {name: rng.normal(10.0 ** rng.integers(-3, 4), 1, n) for name, n in sizes.items()}
    wide = pd.DataFrame({name: pd.Series(x) for name, x in scores.items()})
    runs = [(name, i, x) for name, values in scores.items() for i, x in enumerate(values)]
    long = pd.DataFrame(rng.permutation(len(runs)), columns=["id"])
    long[["model", "seed", "auc"]] = runs
    for table in (wide, long):
        for sep, decimal in ((",", "."), (";", ","), (";", "."), ("\t", ","), ("|", ".")):
            for index in (False, True):
                table.to_csv(tmp_path / "s.csv", sep=sep, decimal=decimal, index=index)
                found = read_scores(tmp_path / "s.csv")
                assert found.names == tuple(scores)
                for values, expected in zip(found.values, scores.values(), strict=True):
                    np.testing.assert_array_equal(values, expected)


def test_columns_of_other_languages_are_named():
    table = [line.split(";") for line in GERMAN.replace(",", ".").splitlines()]
    rows = [dict(zip(table[0], row, strict=True)) for row in table[1:]]
    found = read_scores(rows, option_column="Modell", score_column="Punkte", task_column="Lauf")
    assert (found.names, [x.tolist() for x in found.values]) == (
        ("a", "b"),
        [[0.5, 0.6], [0.7, 0.8]],
    )


def test_a_kind_of_question_beside_scores_is_no_option():
    rows = [{"kind": "xy"[i % 2], "p": 3 * i % 5, "q": 4 * i % 7, "r": 1} for i in range(6)]
    assert read_scores(rows).names == ("p", "q", "r")


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1, 2 \nx,\u00e9\u00a0\n",
        "\n\na,b\r\n1,2\r\n3,\r\n\r\n",
        "a,b,\n1,2,\n",
        ",b\nx,1\ny,2\n",
        "a,b\n1,2\n,\n3,4\n",
        "a,b\n1,2\r3,4\n",
        "a,b\n1,2\n\n3,4",
        "a,b\n1,2\n3\n",
        'a,b\n1,"2,3"\n',
        "a title\na,b\n1,2\n",
        "a,b\n1," + "2" * 200_000 + "\n",
    ],
)
def test_what_is_split_at_once_is_what_csv_reads(text, monkeypatch):
    """The same cells of the same lines, or the same error."""

    def read():
        try:
            table = parse(Place("scores", "'s.csv'"), text)
        except ValueError as error:
            return str(error)
        return table.heads, [*map(list, table.columns)], list(table.lines), table.said

    found = read()
    monkeypatch.setattr("jaxrace.tables.delimited._plain_rows", lambda *_: None)
    assert read() == found


def test_words_are_looked_at_once(tmp_path, monkeypatch):
    """And the first line of a bad one is named."""
    looked, own = [], cells._kind
    monkeypatch.setattr(cells, "_kind", lambda cell: looked.append(cell) or own(cell))
    rows = ["x,1\n", "y,2\n"] * 500
    (tmp_path / "s.csv").write_text("model,score\n" + "".join(rows) + "x,1_000\n" * 2)
    with pytest.raises(ValueError, match=r"line 1002, column 'score', got '1_000'"):
        read_scores(tmp_path / "s.csv")
    assert len(looked) < 1_000
