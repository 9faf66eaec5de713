"""What other programs leave: a small file each in its documented shape, as people bring it."""

import json
from pathlib import Path

import pytest

import jaxrace
from jaxrace.tables import read_log, read_scores, read_votes, readers

DATA = Path(__file__).parent / "data" / "programs"
CURVE = "a run of Stable-Baselines3 counts by the mean return of its last"

# File, arguments, scores by option, tasks, and is smaller better.
FILES = [
    (
        "google_benchmark.json",
        {"score_column": "cpu_time"},
        {"BM_Sort/1024": [895e-6, 896e-6, 897e-6]},
        (),
        True,
    ),
    (
        "jmh.json",
        {},
        {"Hashes.plain (size=8)": [21, 22], "Hashes.mixed (size=8)": [31, 30]},
        (),
        True,
    ),
    (
        "asv",
        {"failed": 1},
        {"01234567": [0.02, 0.04, 0.3], "fedcba98": [0.01, 0.03, 1]},
        ("time_sort(10)", "time_sort(20)", "time_join"),
        True,
    ),
    ("criterion.csv", {}, {"sort/quick/64": [101] * 3, "sort/merge/64": [121] * 3}, (), True),
    (
        "zoo",
        {},
        {"ppo": [200, 200], "sac": [150, 150]},
        (),
        False,
    ),
    (
        "monitors",
        {},
        {"ppo": [202.5, 203.5], "sac": [152.5, 153.5]},
        ("seed 1", "seed 2"),
        False,
    ),
    (
        "rliable.json",
        {"task_column": "game"},
        {"DQN": [2, 3, 4], "Rainbow": [3, 5, 7]},
        ("game 1", "game 2", "game 3"),
        False,
    ),
    ("rliable.json", {"task_column": "run"}, {"DQN": [2, 4], "Rainbow": [4, 6]}, (), False),
    (
        "cv_results.csv",
        {},
        {"C=0.1": [0.8, 0.82, 0.79], "C=1.0": [0.9, 0.91, 0.88]},
        ("split 0", "split 1", "split 2"),
        False,
    ),
    (
        "mlflow.csv",
        {"score_column": "accuracy", "failed": 0},
        {"lr=0.1": [0.8, 0.81], "lr=0.01": [0.9, 0]},
        ("0", "1"),
        False,
    ),
    ("ray.csv", {}, {"lr=0.1": [20, 21], "lr=0.01": [30, 29]}, ("0", "1"), False),
    ("wandb.csv", {}, {"ppo": [500, 410], "dqn": [250]}, (), False),
    (
        "promptfoo.json",
        {"failed": 0},
        {"openai:large": [1, 1, 0.5], "openai:small": [0, 1, 0]},
        ("test 0", "test 1", "test 2"),
        False,
    ),
    ("promptfoo.csv", {}, {"[openai:large] Say {{x}}": [1, 1]}, ("test 1", "test 2"), False),
    (
        "openai",
        {},
        {"gpt-large": [1, 1, 0], "gpt-small": [1, 0, 0]},
        ("sums.dev.0", "sums.dev.1", "sums.dev.2"),
        False,
    ),
    (
        "deepeval",
        {"failed": 0},
        {"model-large": [0.9, 0.8], "model-small": [0.5, 0]},
        ("test_case_0", "test_case_1"),
        False,
    ),
    (
        "helm",
        {"score_column": "exact_match"},
        {"org_large": [1, 1], "org_small": [0, 0]},
        ("mmlu:subject=anatomy id0", "mmlu:subject=anatomy id1"),
        False,
    ),
    (
        "swe",
        {},
        {"20260102_large": [1, 1, 0, 0], "20260102_small": [1, 0, 0, 0]},
        ("a__a-1", "b__b-2", "c__c-3", "d__d-4"),
        False,
    ),
    ("pyperf.json", {}, {"list": [0.375, 0.5], "heap": [1, 1.25]}, (), True),
    (
        "go_bench.txt",
        {},
        {"BenchmarkQuick": [276820, 276821], "BenchmarkMerge": [145504.5]},
        (),
        True,
    ),
    ("dotnet-measurements.csv", {}, {"Md5": [100, 101], "Sha": [150]}, (), True),
    ("tensorboard", {}, {"ppo": [3.5, 4.5], "sac": [5.5]}, (), False),
    ("criterion_old.csv", {}, {"sort/quick": [101, 101], "sort/merge": [121]}, (), True),
    (
        "evalplus",
        {},
        {"large_temp_0.0": [1, 1, 0], "small_temp_0.0": [1, 0, 0]},
        ("HumanEval/0", "HumanEval/1", "HumanEval/2"),
        False,
    ),
    (
        "human_eval",
        {},
        {"large": [1, 1, 0], "small": [1, 0, 0]},
        ("HumanEval/0", "HumanEval/1", "HumanEval/2"),
        False,
    ),
    (
        "spinup",
        {},
        {"ppo": [10.5, 11.5], "sac": [20.5, 21.5]},
        ("seed 0", "seed 10"),
        False,
    ),
    ("irace.csv", {}, {"1": [102.5, 101.5], "4": [96.5, 102, 97]}, ("1", "2", "3"), True),
    ("mt_bench_single.jsonl", {}, {"large": [9, 8, 8.5, 7.5, 7, 6]}, ("81", "82", "83"), False),
]


@pytest.mark.parametrize(("name", "given", "scores", "tasks", "smaller"), FILES)
def test_a_file_is_read(name, given, scores, tasks, smaller):
    found = read_scores(DATA / name, **given)
    values = dict(zip(found.names, found.values, strict=True))
    for option, expected in scores.items():
        assert values[option].tolist() == pytest.approx(expected)
    assert len(found.names) == 2
    assert (found.task_names, found.smaller) == (tasks, smaller)
    assert found.said


def test_what_is_said():
    said = "; ".join(read_scores(DATA / "google_benchmark.json").said)
    assert "made of repetitions: 2 aggregates" in said
    assert "each fork is a run" in read_scores(DATA / "jmh.json").said[0]
    assert f"{CURVE} 100 episodes" in read_scores(DATA / "monitors").said[0]
    assert f"{CURVE} evaluation, of 2 episodes" in read_scores(DATA / "zoo").said[0]
    assert "bounds of curves: 6 columns" in "; ".join(read_scores(DATA / "wandb.csv").said)


# What is refused, and what the message advises: a command that must then work.
ADVICE = [
    ("rliable.json", {}, "--task-column game takes games", {"task_column": "game"}),
    (
        "mlflow.csv",
        {"failed": 0},
        "--score-column metrics.accuracy takes",
        {"score_column": "metrics.accuracy"},
    ),
    ("helm", {}, "--score-column exact_match takes one", {"score_column": "exact_match"}),
    ("promptfoo.json", {}, "--failed worst", {"failed": "worst"}),
    ("deepeval", {}, "--failed drop", {"failed": "drop"}),
    ("asv", {}, "--failed NUMBER", {"failed": 9}),
]


@pytest.mark.parametrize(("name", "given", "advice", "then"), ADVICE)
def test_advice_works(name, given, advice, then):
    with pytest.raises(ValueError, match=advice):
        read_scores(DATA / name, **given)
    assert len(read_scores(DATA / name, **given, **then).names) == 2


def test_comparisons():
    votes = read_votes(DATA / "alpaca_eval.json")
    assert (votes.names, votes.scores.tolist(), votes.kind) == (("ref", "mine"), [1, 0, 0.5], "win")
    votes = read_votes(DATA / "mt_bench_pair.jsonl")
    assert (votes.names, votes.scores.tolist()) == (("large", "small"), [1, 0.5, 0])


AB = {"a": [2.5, 2.6], "b": [3.5, 3.4]}
TEXTS = [
    ("seed,a,b\n,s,s\n1,2.5,3.5\n2,2.6,3.4\n", AB, "a row of units: 's'"),
    (
        'seed,a,b\n1,"1,759.4",2\n2,"1,760.1",3\n',
        {"a": [1759.4, 1760.1], "b": [2, 3]},
        "parted by commas",
    ),
    (
        "seed;a;b\n1;1.509,15;2\n2;1.510,2;3\n",
        {"a": [1509.15, 1510.2], "b": [2, 3]},
        "parted by points",
    ),
    ("seed,a,b\n1,2.50 s,3.5s\n2,2.6 s,3.4s\n", AB, "numbers in s"),
    ("task,a,b\nx,2.5 ± .1,3.5+/-1\ny,2.6 ± .2,3.4 +/- 1\n", AB, "such as '2.5 ± .1': the number"),
    ("task,a,b\nx,2.5 (.1),3.5(1)\ny,2.6 (.2),3.4 (2)\n", AB, "such as '2.5 (.1)': the number"),
    (
        "| task | a | b |\n|:-----|--:|---|\n| x | 2.5 | 3.5 |\n| y | 2.6 | 3.4 |\n",
        AB,
        "a table of Markdown",
    ),
    (
        "task,a,b\nx,2.5,3.5\ny,-,-\nz,2.6,3.4\n",
        AB,
        "dashes among numbers are empty cells",
    ),
    ("seed,a,b\n1,2.5,3.5\n# half\n2,2.6,3.4\n", AB, "lines of comments, left out: 1"),
    ("seed,a,b\n1,2.5,3.5\nseed,a,b\n2,2.6,3.4\n", AB, "repeat the heads, left out: 1"),
    (",acc,acc\nseed,a,b\n1,2.5,3.5\n2,2.6,3.4\n", AB, "two rows of heads"),
    (
        "model,#Params (B),arc,bbh,mmlu,Average\na,7,2.5,2.6,1,2.033\nb,70,3.5,3.4,2,2.967\n",
        {"a": [2.5, 2.6, 1], "b": [3.5, 3.4, 2]},
        "left out, as no benchmarks: '#Params (B)', 'Average'",
    ),
]


@pytest.mark.parametrize(("text", "scores", "said"), TEXTS)
def test_what_stands_beside_numbers(tmp_path, text, scores, said):
    (tmp_path / "t.csv").write_text(text, "utf-8")
    found = read_scores(tmp_path / "t.csv")
    assert dict(zip(found.names, (x.tolist() for x in found.values), strict=True)) == scores
    assert said in "; ".join(found.said)


def test_brackets_that_are_no_spread(tmp_path):
    """Negative amounts of accounts are no numbers before a bracket, and copies are not one task."""
    (tmp_path / "t.csv").write_text("seed,a,b\n1,2.5,(4.0)\n2,2.6,3.4\n")
    with pytest.raises(ValueError, match=r"a number in .*, line 2, column 'b', got '\(4\.0\)'"):
        read_scores(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("task,a,b\n1 (1),2.5,3.5\n1 (2),2.6,3.4\n")
    assert read_scores(tmp_path / "t.csv").task_names == ("1 (1)", "1 (2)")


def test_units_say_the_direction(tmp_path):
    for text in ("seed,a,b\n1,2.50 s,3.5 s\n2,2.6 s,3.4 s\n", "seed,a,b\n,ms,ms\n1,2,3\n2,3,4\n"):
        (tmp_path / "t.csv").write_text(text)
        with pytest.raises(ValueError, match="whether smaller scores are better"):
            jaxrace.race(tmp_path / "t.csv", shared=True)


def test_other_packings(tmp_path):
    import gzip

    text = "seed,ä,b\n1,2.5,3.5\n2,2.6,3.4\n"
    (tmp_path / "w.csv").write_bytes(text.encode("cp1252"))
    (tmp_path / "z.csv.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "u.csv").write_bytes(text.replace("ä", "a").encode("utf-16-le"))
    found = {path.name: read_scores(path) for path in tmp_path.iterdir()}
    assert found["w.csv"].names == found["z.csv.gz"].names == ("ä", "b")
    assert found["u.csv"].names == ("a", "b")
    assert found["w.csv"].said[0] == "text in Windows-1252"
    rows = [
        f'{{"model":"{m}","seed":{s},"score":{s + len(m)}}}' for m in ("a", "bb") for s in (1, 2)
    ]
    (tmp_path / "l.json").write_text("\n".join(rows))
    assert read_scores(tmp_path / "l.json").names == ("a", "bb")
    (tmp_path / "z.csv.gz").write_bytes(gzip.compress(text.encode())[:20])
    with pytest.raises(ValueError, match="expected a file packed by gzip"):
        read_scores(tmp_path / "z.csv.gz")


def test_a_reader_of_another_package(tmp_path, monkeypatch):
    (tmp_path / "x.mine").write_text("a 1\nb 2\n")

    class Entry:
        def load(self):
            return lambda path: {"a": [1, 2], "b": [2, 3]} if path.suffix == ".mine" else None

    monkeypatch.setattr(readers, "entry_points", lambda group: [Entry()])
    assert read_scores(tmp_path / "x.mine").names == ("a", "b")
    assert read_scores(DATA / "jmh.json").names[0].startswith("Hashes")


def test_a_log_of_vowpal_wabbit():
    log = read_log(DATA / "vw.dsjson")
    assert log.names == ("User.age", "User.device=desk", "User.device=phone")
    assert (log.actions.tolist(), log.reward) == ([1, 2, 1, 2, 1, 2], "cost")
    assert (log.rewards.tolist(), log.probabilities[0]) == ([-1, 0, 0, -1, 0, 0], 0.5)
    assert "features of actions are left out" in log.said[0]


def test_seeds_alone_are_cut_from_names(tmp_path):
    """Numbers at the end of a name may be settings."""
    runs = ["ppo-lr0.01", "ppo-lr0.001", "ppo seed 1", "ppo seed 2", "resnet-18", "seed3-wide"]
    heads = ",".join(["Step", *(f'"{run} - acc"' for run in runs)])
    (tmp_path / "w.csv").write_text(heads + "\n0,1,2,3,4,5,6\n1,2,3,4,5,6,7\n")
    found = read_scores(tmp_path / "w.csv")
    assert found.names == ("ppo-lr0.01", "ppo-lr0.001", "ppo", "resnet-18", "wide")
    assert found.values[2].tolist() == [4, 5]


IRACE = [
    # A test, with one configuration less; seeds, which do not say that these are costs.
    ('"1" "2"\n"1t" 5.5 4\n"2t" 7 6.5\n', ("1t", "2t"), True),
    ("instance,seed,1,2\n1,77,5.5,4\n1,78,7,6.5\n", ("1",), False),
]


@pytest.mark.parametrize(("text", "tasks", "smaller"), IRACE)
def test_configurations_of_irace_are_the_options(text, tasks, smaller, tmp_path):
    (tmp_path / "i.csv").write_text(text)
    found = read_scores(tmp_path / "i.csv")
    assert (found.names, found.task_names, found.smaller) == (("1", "2"), tasks, smaller)
    assert [x.tolist() for x in found.values] == [[5.5, 7], [4, 6.5]]
    if not smaller:
        with pytest.raises(ValueError, match="whether smaller scores are better"):
            jaxrace.race(tmp_path / "i.csv")


def test_numbers_as_heads_are_no_configurations_of_irace(tmp_path):
    """A full matrix of 1, 2, ... may be of anything; --options says that its heads are names."""
    (tmp_path / "i.csv").write_text('"","1","2"\n"1",5.5,4\n"2",7,6.5\n')
    with pytest.raises(ValueError, match="--options names columns that are called by numbers"):
        read_scores(tmp_path / "i.csv")
    assert read_scores(tmp_path / "i.csv", options="1,2").names == ("1", "2")


def test_runs_of_one_name_stay_apart(tmp_path):
    """In a table of Weights & Biases, and after pandas has numbered its columns."""
    rows = "0,1,2,3\n1,2,3,4\n"
    (tmp_path / "w.csv").write_text("Step,ppo - acc,ppo - acc,dqn - acc\n" + rows)
    with pytest.raises(ValueError, match="such as 'ppo seed 2 - acc' for another run of 'ppo'"):
        read_scores(tmp_path / "w.csv")
    for second in ("ppo seed 2 - acc", "ppo - acc.1"):
        (tmp_path / "w.csv").write_text(f"Step,ppo - acc,{second},dqn - acc\n" + rows)
        found = read_scores(tmp_path / "w.csv")
        assert dict(zip(found.names, map(list, found.values), strict=True)) == {
            "ppo": [2, 3],
            "dqn": [4],
        }
    assert found.said[-1] == "another run of the same name each: 'ppo - acc.1'"
    (tmp_path / "w.csv").write_text("Name,ID,acc\nppo,x,.5\nppo,y,.6\ndqn,z,.3\n")
    assert list(read_scores(tmp_path / "w.csv").values[0]) == [0.5, 0.6]


def test_how_a_run_ended_names_no_option(tmp_path):
    """Words below "result" were options, and "passed" was certified."""
    rows = [f"t{n},{'passed' if n % 2 else 'failed: x'},{n % 2}" for n in range(6)]
    (tmp_path / "r.csv").write_text("\n".join(["task_id,result,passed", *rows]))
    with pytest.raises(ValueError, match="expected"):
        read_scores(tmp_path / "r.csv")


METRICS = [
    # Measures of one system, of users, and an average below data sets.
    ("question,response,faithful,relevant\nu,x,.5,.6\nv,y,.7,.4\n", "measures of what is in"),
    ("user,version,rounds,retained\n1,u,5,True\n2,v,7,False\n3,w,4,True\n", "truth values in"),
    ("Dataset,a,b\nu,.5,.6\nv,.7,.4\nAverage rank,1.5,1.5\n", "got 'Average rank'"),
]


@pytest.mark.parametrize(("text", "message"), METRICS)
def test_measures_are_no_options(text, message, tmp_path):
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_scores(tmp_path / "m.csv")


def test_groups_of_one_option_each_are_no_tasks(tmp_path):
    """As the arms of a trial beside the pages that they saw."""
    rows = [f"{n},{('control', 'new')[n % 2]},{'ab'[n % 2]},0" for n in range(6)]
    (tmp_path / "ab.csv").write_text("\n".join(["user_id,group,page,converted", *rows]))
    found = read_scores(tmp_path / "ab.csv")
    assert (found.names, found.tasks) == (("a", "b"), None)


def test_rows_below_a_name(tmp_path):
    """As the history of SMAC has them: the only list of objects."""
    rows = [{"config_id": c, "seed": s, "cost": c + s / 8} for c in (1, 2) for s in (0, 1)]
    content = {"stats": {"submitted": 4}, "data": rows, "configs": {"1": {"x": 1}}}
    (tmp_path / "r.json").write_text(json.dumps(content))
    found = read_scores(tmp_path / "r.json")
    assert (found.names, found.task_names) == (("1", "2"), ("0", "1"))
    assert found.said[0] == "the rows are below 'data'"


def test_numbers_of_processors_stay_apart(tmp_path):
    lines = [f"BenchmarkSort-{n}  10  {n}5 ns/op\n" for n in (2, 4)]
    (tmp_path / "go.txt").write_text("".join(lines))
    assert read_scores(tmp_path / "go.txt").names == ("BenchmarkSort-2", "BenchmarkSort-4")


def test_what_no_file_lists_is_not_resolved(tmp_path):
    """Files with resolved instances alone: those of others count 0."""
    for name, resolved in (("one", ["a", "b", "c"]), ("two", ["b"])):
        (tmp_path / name / "results").mkdir(parents=True)
        text = json.dumps({"no_generation": ["z"], "no_logs": [], "resolved": resolved})
        (tmp_path / name / "results" / "results.json").write_text(text)
    found = read_scores(tmp_path)
    assert found.fits_shared
    assert {*found.task_names} == {*"abcz"}
    assert [sorted(x.tolist()) for x in found.values] == [[0, 1, 1, 1], [0, 0, 0, 1]]


def test_sizes_are_no_benchmarks(tmp_path):
    text = "Model,Params (B),ARC,HellaSwag,MMLU,Type\nsmall,7,71,85,63,chat\nbig,70,60,80,52,base\n"
    (tmp_path / "l.csv").write_text(text)
    found = read_scores(tmp_path / "l.csv")
    assert found.task_names == ("ARC", "HellaSwag", "MMLU")
    assert "left out, as no benchmarks: 'Params (B)', 'Type'" in found.said
    wrong = text.replace("Type", "Average").replace("chat", "73").replace("base", "80")
    (tmp_path / "l.csv").write_text(wrong.replace("Params (B)", "Hugs"))
    with pytest.raises(ValueError, match="benchmarks of which 'Average' is the mean"):
        read_scores(tmp_path / "l.csv")


def test_summaries_in_other_languages(tmp_path):
    (tmp_path / "m.csv").write_text("Lauf;A;B\n1;2,5;3,5\n2;2,7;3,7\nMittelwert;2,6;3,6\n")
    with pytest.raises(ValueError, match="Mittelwert"):
        read_scores(tmp_path / "m.csv")


def test_sizes_of_benchmarks_are_tasks(tmp_path):
    rows = [
        {"name": f"{name}/{size}", "real_time": float(size), "time_unit": "s"}
        for name in ("radix", "merge")
        for size in (64, 8192)
    ]
    (tmp_path / "g.json").write_text(json.dumps({"benchmarks": rows}))
    found = read_scores(tmp_path / "g.json")
    assert (found.names, found.task_names) == (("radix", "merge"), ("64", "8192"))


def test_repetitions_of_a_size_are_one_score(tmp_path):
    """In their order, size after size, they were taken for runs that drift."""
    rows = [
        {"name": f"{name}/{size}", "real_time": size * slow + again, "time_unit": "s"}
        for name, slow in (("radix", 1.0), ("merge", 2.0), ("heap", 3.0))
        for size in (64, 8192)
        for again in range(12)
    ]
    (tmp_path / "g.json").write_text(json.dumps({"benchmarks": rows}))
    found = jaxrace.race(tmp_path / "g.json")
    assert (found.kind, [one.runs for one in found.options]) == ("shared", [2, 2, 2])
    scores = read_scores(tmp_path / "g.json")
    assert scores.values[1].tolist() == [2 * 64 + 5.5, 2 * 8192 + 5.5]
    assert any("the means of repetitions: 6 of 72 runs" in text for text in scores.said)
    # The repetitions of one size are runs.
    (tmp_path / "g.json").write_text(
        json.dumps({"benchmarks": [r for r in rows if "/64" in r["name"]]})
    )
    assert [len(own) for own in read_scores(tmp_path / "g.json").values] == [12, 12, 12]


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path):
    for folder in ("ppo/A-v0_2", "ppo/A-v0_10", "sac/A-v0_1", "sac/A-v0_2"):
        (tmp_path / folder).mkdir(parents=True)
        lines = ['#{"t_start": 1.0, "env_id": "A-v0"}', "r,l,t", "1.5,9,1", "2.5,9,2"]
        (tmp_path / folder / "0.monitor.csv").write_text("\n".join(lines) + "\n")
    said = "; ".join(read_scores(tmp_path).said)
    assert "4 files together: 'ppo/A-v0_2/0.monitor', 'ppo/A-v0_10/0.monitor', 'sac/A-v0_1/" in said


@pytest.mark.parametrize(
    ("prompts", "names"),
    [
        (
            ["Answer the support question: {{question}} now", "Say {{x}}"],
            ["Answer the support question: {{question}}", "Say {{x}}"],
        ),
        # Alike in 40 letters: they were one option.
        (["x" * 50 + "1", "x" * 50 + "2"], ["x" * 50 + "1", "x" * 50 + "2"]),
        (["{{a}} " * 6 + "{{long name}} and", "b"], ["{{a}} " * 6 + "{{long name}}", "b"]),
    ],
)
def test_prompts_are_told_apart(prompts, names, tmp_path):
    rows = [
        {"provider": "p", "prompt": {"raw": prompt}, "score": 1.0, "testIdx": test}
        for prompt in prompts
        for test in range(2)
    ]
    (tmp_path / "p.json").write_text(json.dumps({"results": {"results": rows}}))
    assert read_scores(tmp_path / "p.json").names == tuple(f"p, {name}" for name in names)


def test_parameters_of_jmh_are_tasks(tmp_path):
    runs = [
        {
            "benchmark": f"p.{name}",
            "mode": "avgt",
            "params": {"size": size},
            "primaryMetric": {"scoreUnit": "ns/op", "rawData": [[slow * 8.0], [slow * 8.0 + 2]]},
        }
        for name, slow in (("A.plain", 1), ("A.mixed", 2))
        for size in ("8", "64")
    ]
    (tmp_path / "j.json").write_text(json.dumps(runs))
    found = read_scores(tmp_path / "j.json")
    assert [own.tolist() for own in found.values] == [[9, 9], [17, 17]]
    assert found.asked_alike


@pytest.mark.parametrize(
    "text",
    [
        "# job=1, host=gpu0\nagent,seed,return\na,1,2.5\nb,1,3.5\n",
        "# agent seed return\na 1 2.5\nb 1 3.5\n",
    ],
)
def test_comments_above_the_heads(tmp_path, text):
    (tmp_path / "c.csv").write_text(text)
    assert read_scores(tmp_path / "c.csv").names == ("a", "b")


def test_what_all_are_asked_is_compared_task_by_task():
    """Questions of an evaluation; seeds and folds need --shared."""
    found = jaxrace.race(DATA / "openai")
    assert found.kind == "shared"
    assert found.notes[-1].startswith("all options were asked the same")
    assert found.to_dict() == jaxrace.race(DATA / "openai", shared=True).to_dict() | {
        "notes": [*found.notes]
    }


def test_a_word_in_all_rows_names_no_option(tmp_path):
    """As in the table of runs that MLflow shows: the message sends to a column that can."""
    rows = ["name,source,user,lr,seed,acc"]
    rows += [f"fox-{i},train.py,kim,{(0.1, 0.01)[i % 2]},{i // 2},0.{60 + i}" for i in range(8)]
    (tmp_path / "r.csv").write_text("\n".join(rows))
    with pytest.raises(ValueError, match="--option-column and --score-column say so"):
        read_scores(tmp_path / "r.csv")
    found = read_scores(
        tmp_path / "r.csv", option_column="lr", score_column="acc", task_column="seed"
    )
    assert found.names == ("0.1", "0.01")
