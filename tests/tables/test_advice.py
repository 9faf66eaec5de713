"""Every option that a message advises is followed: the command then works.

A message that no case shows fails the last test.
"""

import ast
import contextlib
import functools
import io
import json
import random
import re
import shlex
from pathlib import Path
from typing import NamedTuple

import made_files
import pytest

import jaxrace
from jaxrace.commands.cli import main

PACKAGE = Path(jaxrace.__file__).parent
DATA = Path(__file__).parent / "data"


class Case(NamedTuple):
    """A command, its file, a part of what it says, and commands as that advises."""

    command: str
    content: str | bytes | dict[str, str]  # of FILE, or of files by name
    says: str
    # Added to the command, or a command of its own.
    then: tuple[str, ...]


def table(heads, *rows):
    return "\n".join([heads, *rows, ""])


X = ["0.31", "0.72", "0.45", "0.64", "0.23", "0.81", "0.57", "0.38"]
Y = ["0.52", "0.41", "0.77", "0.28", "0.66", "0.35", "0.83", "0.49"]
Z = ["0.11", "0.92", "0.44", "0.73", "0.25", "0.63", "0.36", "0.58"]
WIDE = [f"{x},{y}" for x, y in zip(X, Y, strict=True)]
NUMBERED = [f"{number},{row}" for number, row in enumerate(WIDE)]
WHO = [f"{'ab'[number % 2]},{number // 2},{row}" for number, row in enumerate(WIDE)]


def in_blocks(*sizes, blank=()):
    """Two models on groups x and y, one after the other; model a lacks the scores of some tasks."""
    lot = random.Random(0)
    tasks = [f"{g}{n}" for g, size in zip("xy", sizes, strict=True) for n in range(size)]
    scores = [(m, task, lot.randrange(2)) for task in tasks for m in "ab"]
    lines = [f"{m},{x[0]},{x},{'' if m == 'a' and x in blank else one}" for m, x, one in scores]
    return table("model,suite,id,score", *lines)


SEVEN = [f"{m},{n},{'' if (m, n) == ('a', 3) else n % 3}" for n in range(7) for m in "ab"]

LOT = random.Random(0).sample(range(180), 180)  # numbers in a random order
RACE, VOTES = "race FILE.csv", "select FILE.csv"
LOG = "improve FILE.csv --low 0 --high 1"
GAP = table("task,a,b", "u,0.3,0.1", "v,0.4,", "w,0.6,0.2", "x,0.7,0.8")
IN_GROUPS = table(
    "model,suite,item,score",
    *[
        f"{m},{g},{g}{i},.{(7 * i + 5 * (m == 'a')) % 10}"
        for g in "uv"
        for i in range(6)
        for m in "ab"
    ],
)
SIDES = "model_a,model_b,"
TURNED = "--first-column model_b --second-column model_a"
STUDIES = "INSERT INTO studies VALUES (2, 'y'); INSERT INTO study_directions VALUES"

# Right or wrong: b on four tasks of seven, a on the others.
RIGHT = [f"t{n},{n % 2},{1 - n % 2}" for n in (3, 1, 4, 6, 5, 9, 2)]

PASSAGES = [f"q{n},p{n // 3},{m},{(n * n + (m == 'a')) % 2}" for n in range(30) for m in "ab"]
# Of each passage either a or b is right on all; not in their order.
ALIKE = [(q * 37 % 80, q * 37 % 80 // 4) for q in range(80)]
RIGHT_ON = [random.Random(p).randrange(2) for p in range(20)]
NAMED_SO = [(f"p{p}_{q}", f"{RIGHT_ON[p]},{1 - RIGHT_ON[p]}") for q, p in ALIKE]
ALIKE = [f"q{q},p{p},{RIGHT_ON[p]},{1 - RIGHT_ON[p]}" for q, p in ALIKE]
EPOCHS = [
    f"{i},{e},{m},.{(7 * i + 3 * e + 5 * (m == 'a')) % 10}"
    for i in range(6)
    for e in range(3)
    for m in "ab"
]

APART = [("a", "u"), ("a", "v"), ("b", "u"), ("b", "v"), ("c", "u")]

TABLES = [
    Case(
        RACE,
        table(
            "algo,env,seed,score",
            *[
                f"{m},{e},{m}{n},.{(7 * n + 5 * (m == 'a')) % 10}"
                for n in range(9)
                for m, e in APART
            ],
        ),
        "got none of c in v: --where COLUMN=NAME takes one of them, --options those that ran in",
        ("--where env=u", "--options a,b"),
    ),
    Case(
        RACE,
        table(
            "algo,env,seed,score",
            *[
                f"{m},{e},{m}{n},{9 * (e == 'u')}.{(7 * n + 5 * (m == 'a')) % 10}"
                for m in "ab"
                for e in "uvw"
                for n in range(20)
            ],
        ),
        "runs of several 'env' are no runs of one kind: --where env=NAME (where='env=NAME')",
        ("--where env=u",),
    ),
    Case(
        RACE,
        table("question_id,run1,run2", *[f"q{n},{n % 2},{n % 3 % 2}" for n in range(9)]),
        "'run1', 'run2', which seem to be runs: --option-column question_id if its rows are the",
        ("--option-column question_id",),
    ),
    Case(
        "rank FILE.csv --shared --by mean --low 0 --high 1 --weights size",
        table("benchmark,task,a,b", *[f"{'xy'[n % 2]},q{n},{row}" for n, row in enumerate(WIDE)]),
        "--weights: expected sizes that are known, got a table that may grow: order_by_lot=1",
        ("--order-by-lot 1", "--of 8"),
    ),
    Case(
        "rank FILE.csv --weights equal",
        table("benchmark,task,a,b", *[f"{'xy'[n % 2]},q{n},{row}" for n, row in enumerate(WIDE)]),
        "--weights: expected shared tasks, got independent runs: shared=True (--shared) says",
        ("--shared",),
    ),
    Case(
        "gate FILE.csv --baseline a --shared --margin 0.1",
        table("id,a,b", *[f"q{n},{n % 3 / 2},{n % 4 // 2 / 2}" for n in range(9)]),
        "--margin: expected by='mean', low=0, high=1 (--by mean --low 0 --high 1) for answers",
        ("--by mean --low 0 --high 1",),
    ),
    Case(
        f"{RACE} --shared",
        table("id,a,b,easy", *[f"q{n},{'CI'[n % 2]},{'CI'[n % 3 > 0]},no" for n in range(9)]),
        "column 'easy', got 'no': words of one pair are read as 1 and 0",
        ("--options a,b",),
    ),
    Case(
        f"{RACE} --shared",
        table("question_id,passage_id,model,correct", *PASSAGES),
        "30 tasks of 10 different below 'passage_id': if those of one are alike, --cluster-column",
        ("--cluster-column passage_id",),
    ),
    Case(
        f"{RACE} --shared",
        table("question_id,passage_id,a,b", *ALIKE),
        "tasks of one 'passage_id' that are alike: with 20 of these for 80 tasks the mean",
        ("--cluster-column passage_id", "--of 80"),
    ),
    Case(
        f"{RACE} --shared",
        table("question_id,a,b", *[f"{i},{x}" for i, x in NAMED_SO]),
        "80 tasks of 20 different first parts of names, as 'p0' of 'p0_0'",
        (),
    ),
    Case(
        "race FILE --shared",
        table(
            "model,seed,x,score",
            *(
                f"{m},{n},{x},{n * x % 7 + (m == 'a') * x % 3}.5"
                for m in "ab"
                for n in range(8)
                for x in (100, 200, 300)
            ),
        ),
        "got column 'x', which rises in the 3 rows of each, as a step does: of a learning curve",
        ("--where x=300", "--cluster-column seed"),
    ),
    Case(
        f"{RACE} --shared",
        table("id,epoch,model,score", *EPOCHS),
        "got another epoch of the same run of a: keep one row of each curve",
        ("--cluster-column id", "--where epoch=2"),
    ),
    Case(
        f"{RACE} --shared",
        table("Frage,a,b", *[f"{9 * n},{n % 2},{n // 3}" for n in range(5, 11)]),
        "whole numbers, far beyond others that repeat: --task-column Frage if it names the tasks",
        ("--task-column Frage", "--options a,b"),
    ),
    Case(
        f"{RACE} --shared",
        table("id,a,b", *[f"q{n},{n % 2},{3 * n * n}" for n in range(5, 14)]),
        "'b', whole numbers, far beyond others that repeat: if it names the options",
        ("--options a,b",),
    ),
    Case(
        "gate FILE.csv --baseline a --shared --margin 0.05",
        table("task,a,b", *RIGHT),
        "by='mean', low=0, high=1",
        ("--by mean --low 0 --high 1",),
    ),
    # Text, and numbers in it.
    Case(
        RACE,
        "model\ta|score\tseed\nu|v\t.1\t.2\nw|v\t.3\t.1\n",
        "--delimiter says which it is",
        ("--delimiter tab",),
    ),
    Case(
        RACE,
        table("1,2", *WIDE),
        "with --no-header it is a run of options without names; --options names",
        ("--no-header", "--options 1,2"),
    ),
    Case(
        RACE,
        "a;b\n1,234;2,345\n3,456;4,567\n",
        "--decimal comma or --decimal point",
        ("--decimal comma", "--decimal point"),
    ),
    Case(RACE, "a;b\n1.234;2.345\n", "--decimal", ("--decimal comma", "--decimal point")),
    # Which columns are what.
    Case(
        RACE,
        table("model,agent,score", "x,a,.3", "x,b,.2", "x,a,.25", "x,b,.7"),
        "--option-column says which it is",
        ("--option-column agent",),
    ),
    Case(
        f"{RACE} --score-column score",
        table("seed,x,score", "1,5,.3", "2,6,.2", "3,5,.25", "4,6,.7"),
        "--option-column says which",
        ("--option-column x",),
    ),
    Case(
        RACE,
        table("model,bleu,accuracy", "a,5.5,.3", "b,6.5,.2", "a,5.25,.25", "b,6.75,.7"),
        "--score-column says which it is",
        ("--score-column bleu",),
    ),
    Case(
        RACE,
        table("who,note,x", *[f"{'abcde'[n % 5]},{n}n,{x}" for n, x in enumerate(X)]),
        "if it names the options, --option-column who says so",
        ("--option-column who",),
    ),
    Case(
        RACE,
        table("method,page,metric_value", "GET,u,.3", "GET,v,.2", "GET,u,.5", "GET,v,.6"),
        "got 'GET' alone: --option-column says which column names them",
        ("--option-column page",),
    ),
    Case(
        RACE,
        table("question,response,faithful,relevant", "u,x,.5,.6", "v,y,.7,.4"),
        "names the option of each run; if not, --options names the columns of options: --options",
        ("--options faithful,relevant",),
    ),
    Case(
        RACE,
        table("version,rounds,kept", "u,5,True", "v,7,False", "u,4,True", "v,6,True", "w,3,True"),
        "else --options names the columns of options of one of them",
        ("--option-column version --score-column kept",),
    ),
    Case(
        RACE,
        table("dataset,x", "u,.3", "v,.2", "u,.5", "v,.6"),
        "if there is a row for each run, --option-column says which column names the options",
        ("--option-column dataset",),
    ),
    Case(
        RACE,
        table("size,gain", *[f"{64 << n % 2},{x}" for n, x in enumerate(X)]),
        "if it names the options, --option-column size says so",
        ("--option-column size",),
    ),
    Case(RACE, table("image,text", "3,4", "3,5", "4,3"), "--options", ("--options image,text",)),
    Case(RACE, table("run 1,run 2", *WIDE), "--options", ("--options 'run 1,run 2'",)),
    Case(
        RACE,
        table("lr,accuracy,speed", "1.5,.5,2.5", "2.5,.6,3.5", "1.5,.4,2.7", "2.5,.8,3.6"),
        "--option-column and --score-column say so",
        ("--option-column lr --score-column accuracy", "--options lr,speed"),
    ),
    Case(
        RACE,
        table("x,a,b", *NUMBERED),
        "--task-column x says so",
        ("--task-column x", "--options a,b"),
    ),
    Case(
        RACE,
        table("label,a,b", *[f"{n % 2}.5,{row}" for n, row in enumerate(WIDE)]),
        "how right an option was; --options",
        ("--options a,b",),
    ),
    Case(
        RACE,
        table('size,"a, b",c', *[f"{n * n},{row}" for n, row in enumerate(WIDE, 3)]),
        "--task-column size if it names the tasks; else --options names the columns of options, "
        """such as '"a, b",c'""",
        ("--task-column size", """--options '"a, b",c'"""),
    ),
    Case(
        RACE,
        table("a,b,sum", *[f"{x},{y},{float(x) + float(y)}" for x, y in zip(X, Y, strict=True)]),
        "leave out what is made of the others; --options",
        ("--options a,b",),
    ),
    Case(
        RACE,
        table("acc_x,acc_y,loss_x", *[f"{row},.2{n}" for n, row in enumerate(WIDE)]),
        "--options names the columns of options of one of them",
        ("--options acc_x,acc_y",),
    ),
    Case(
        RACE,
        table("seed,a,b", *[f"0.{row}" for row in NUMBERED]),
        "--task-column says which column names the tasks; --options",
        ("--options a,b",),
    ),
    Case(
        RACE,
        table("image,text,sound", "3,4,4", "3,5,2", "4,3,5", "4,4,4"),
        "--task-column says which column names the tasks; --options",
        ("--task-column image", "--options image,text,sound"),
    ),
    Case(
        RACE,
        table("who,seed,x,y", *WHO),
        "--option-column who and --score-column NAME say so; if not, --options names the columns "
        "of options: --options x,y",
        ("--option-column who --score-column x", "--options x,y"),
    ),
    Case(
        RACE,
        table(
            "where,who,a,b,c", *[f"{'uvw'[n % 3]},n{n},{row},{Z[n]}" for n, row in enumerate(WIDE)]
        ),
        "--group-column says if one has groups of tasks",
        ("--group-column where",),
    ),
    # Which rows.
    Case(
        RACE,
        table("model,metric,score", *[f"{m},{k},.{i}" for i in "537" for m in "ab" for k in "uv"]),
        "--where metric=u (where='metric=u') takes its rows",
        ("--where metric=u",),
    ),
    Case(
        RACE,
        table(
            "model,seed,kind,score",
            *[
                f"{m},{s},{k},.{n}"
                for n, (m, s, k) in enumerate(
                    [(m, s, k) for s in "123" for m in "ab" for k in "uv"], 10
                )
            ],
        ),
        "--task-column with the name of the tasks takes all as one quantity",
        ("--where kind=u", "--task-column seed"),
    ),
    Case(
        RACE,
        table("model,step,score", "a,1,.3", "a,2,.4", "b,1,.5", "b,2,.6"),
        "--task-column says what tells the runs apart",
        ("--task-column step",),
    ),
    Case(
        RACE,
        table("white,black,result", "x,y,1-0", "y,z,0-1"),
        "`jaxrace select` ranks by these",
        (f"jaxrace {VOTES}",),
    ),
    # Runs that failed, or are not there.
    Case(
        RACE,
        table("a,b", ".3,timeout", ".4,.5", ".6,.2"),
        "--failed worst (failed='worst')",
        ("--failed worst", "--failed drop", "--failed 0"),
    ),
    Case(RACE, table("a,b", ".3,-1", ".4,.5", ".6,.2"), "--failed -1", ("--failed -1",)),
    Case(
        f"{RACE} --shared",
        table("task,a,b", *[f"t{n},{n * n % 7 // 3 * 100},{n % 2}" for n in LOT[:40]]),
        "got 0 and 1 of b, 0 and 100 of a: write all in one way; --options a,b says that they are",
        ("--options a,b",),
    ),
    Case(
        RACE,
        table("a,b", ".3,", ".4,.5", ".6,.2"),
        "--failed drop (failed='drop') if there was no run",
        ("--failed drop", "--failed worst", "--failed .1", "--shared"),
    ),
    Case(f"{RACE} --shared --final", GAP, "--gaps skip", ("--gaps skip",)),
    Case(f"{RACE} --shared", GAP, "--gaps skip", ("--gaps skip",)),
    # Tasks, groups, direction.
    Case(
        f"{RACE} --shared",
        table("model,what,n,score", "a,x,1,.3", "b,x,1,.4", "a,y,1,.6", "b,y,1,.5"),
        "task_column (--task-column) names",
        ("--task-column what",),
    ),
    Case(
        f"{RACE} --shared",
        table("model,id,what,score", "a,1,x,.3", "b,2,x,.4", "a,1,y,.6", "b,2,z,.5"),
        "task_column (--task-column) names the column of what is the same",
        ("--task-column what",),
    ),
    Case(
        f"{RACE} --shared --weights equal",
        IN_GROUPS.replace("suite", "where"),
        "group_column (--group-column) names their column",
        ("--group-column where --option-column model",),
    ),
    Case(
        f"{RACE} --shared",
        table("question,where,a,b", "u,1x,.3,.4", "v,2x,.6,.5", "v,3y,.2,.1", "w,4x,.7,.9"),
        "--cluster-column question takes their mean; --task-column, once for each column, if",
        ("--cluster-column question", "--task-column question --task-column where"),
    ),
    Case(
        f"{RACE} --shared",
        table(
            "task,seed,a,b", *[f"{t},{s},.{s}{n},.{n}" for n, t in enumerate("uvw") for s in "123"]
        ),
        "--group-column task if these are a fixed suite",
        ("--group-column task",),
    ),
    Case(
        RACE,
        table("model,loss", "a,.3", "b,.2", "a,.25", "b,.7"),
        "--smaller (smaller=True) says that they are",
        ("--smaller", "--larger"),
    ),
    Case(RACE, table("a,b", *WIDE), "--shared compares them task by task", ("--shared",)),
    Case(RACE, table("seed,a,b", *NUMBERED), "shared=True (--shared)", ("--shared",)),
    Case(
        f"{RACE} --shared",
        table("fold,a,b", *NUMBERED),
        "of=N (--of N) asks about the list of all N folds",
        ("--of 8",),
    ),
    Case(
        f"{RACE} --shared",
        table("task,a,b", *[f"{n},.{9 - n // 60}{n},.{1 + n // 60}{n}" for n in range(120)]),
        "order_by_lot=SEED (--order-by-lot SEED)",
        ("--order-by-lot 1", "--of 120"),
    ),
    Case(
        "gate FILE.csv --baseline a --shared --of 8",
        table("seed,a,b", *NUMBERED),
        ": leave out of=N (--of N) to ask about any seed",
        (),
    ),
    Case(
        RACE,
        table("a,b", *[f".{n},.{99 - n}" for n in range(10, 60)]),
        "--dependent (dependent=True)",
        ("--dependent",),
    ),
    Case(
        RACE,
        table("elapsed,a,b", *[f".1{n},{row}" for n, row in enumerate(WIDE)]),
        "leave it out: --options (options=) names the columns of options",
        ("--options a,b",),
    ),
    Case(f"{RACE} --of 8", table("task,a,b", *NUMBERED), "expected shared tasks", ("--shared",)),
    Case(
        f"{RACE} --shared --seed 1",
        IN_GROUPS,
        "weights of groups of tasks (--weights)",
        ("--weights equal",),
    ),
    Case(
        f"{RACE} --shared",
        in_blocks(30, 30),
        "--where suite=x) asks about one group alone; weights='equal' (--weights equal)",
        ("--weights equal", "--order-by-lot 1", "--of 60", "--where suite=x"),
    ),
    Case(
        f"{RACE} --shared --failed drop",
        in_blocks(30, 30, blank=["x0"]),
        "order_by_lot=1 (--order-by-lot 1) and gaps='skip' (--gaps skip)",
        ("--order-by-lot 1 --gaps skip",),
    ),
    Case(
        f"{RACE} --shared --failed drop",
        in_blocks(30, 30, blank=["x0", "y3"]),
        "--of 60 --weights size) asks about these 60 tasks and no others, of which 2 answers",
        ("--of 60 --weights size",),
    ),
    Case(
        f"{RACE} --shared --failed drop --of 60",
        in_blocks(30, 30, blank=["x0", "y3"]),
        "2 answers are missing: fill them, or weights='size' (--weights size)",
        ("--weights size",),
    ),
    Case(
        "race FILE.csv --shared --failed 0",
        {
            "FILE.csv": table("model,task,score", *[r for r in SEVEN if r != "a,3,"]),
            "FILLED.csv": table("model,task,score", *SEVEN),
        },
        "(--failed 0.0) says nothing of tasks that are absent from the table: if one failed, add",
        ("jaxrace race FILLED.csv --shared --failed 0",),
    ),
    Case(
        "gate FILE.csv --baseline a --shared --of 9",
        table("task,a,b", *NUMBERED),
        "to ask about others like them, leave out of (--of)",
        (),
    ),
    Case(
        "gate FILE.csv --baseline a --shared",
        table("task,a,b", *NUMBERED),
        "`jaxrace plan` with the same --baseline and --margin gives quartiles",
        ("jaxrace plan FILE.csv --baseline a --shared",),
    ),
    Case(
        f"{RACE} --shared --failed drop --order-by-lot 1",
        in_blocks(30, 30, blank=["x0"]),
        "gaps='skip' (--gaps skip) leaves out tasks",
        ("--gaps skip",),
    ),
    Case(
        f"{RACE} --shared --failed drop --weights equal",
        in_blocks(30, 30, blank=["x0", "y0"]),
        "failed=NUMBER (--failed NUMBER) if it failed",
        (f"jaxrace {RACE} --shared --weights equal --failed 0", "--gaps skip"),
    ),
    Case(
        f"{RACE} --shared --weights equal",
        in_blocks(20, 60),
        "the 20 tasks of x are used up",
        (f"jaxrace {RACE} --shared --weights equal --final",),
    ),
    Case(
        "plan",
        "",
        "(--options, --gap, --spread)",
        ("--options 3 --gap 1 --spread 1",),
    ),
]
ITEMS = [
    Case(
        "order FILE.csv",
        table("question,kind", "q1,u", "q2,v", "q3,u"),
        "--groups says which",
        ("--groups kind",),
    ),
    Case(
        "order FILE.csv",
        table("subject,left,right", "u,a,b", "v,c,d"),
        "--task-column says which",
        ("--task-column left",),
    ),
]
VOTE_CASES = [
    Case(
        VOTES,
        table("judge,model_a,model_b,winner", *[f"j{n % 9},x,y,{'xy'[n % 9 > 4]}" for n in LOT]),
        "--cluster-column judge counts each judge once; without that column",
        ("--cluster-column judge",),
    ),
    Case(
        "gate FILE.csv --baseline x",
        table("judge,model_a,model_b,winner", *[f"j{n % 9},x,y,{'xy'[n % 2]}" for n in LOT]),
        "what is certain is about these judges; --cluster-column judge counts each once",
        ("--cluster-column judge",),
    ),
    Case(
        VOTES,
        table(f"{SIDES}label", "x,y,1", "y,z,0", "x,z,1"),
        "--score win if 1 says that model_a has won, and with",
        ("--score win", f"--score win {TURNED}"),
    ),
    # Sides that are called 1 and 2, and a draw in a word.
    Case(
        VOTES,
        table("engine1,engine2,result", "x,y,1", "y,x,0", "x,z,draw"),
        "--score win if 1 says that engine1 has won, and with",
        ("--score win", "--score win --first-column engine2 --second-column engine1"),
    ),
    Case(
        "gate FILE.csv --baseline x",
        table("engine,opponent,result", "y,x,1", "y,x,0", "y,x,1"),
        "--score win if 1 says that engine has won, and with",
        ("--score win", "--score win --first-column opponent --second-column engine"),
    ),
    Case(
        VOTES,
        table(f"{SIDES}label", "x,y,1", "y,z,-1", "x,z,1"),
        "--score margin if larger ones say that model_a has won, and with",
        ("--score margin", f"--score margin {TURNED}"),
    ),
    Case(
        f"{VOTES} --score-column score_b",
        table(f"{SIDES}score_b", "x,y,1", "y,z,-1", "x,z,1"),
        "--first-column 'model_b' --second-column 'model_a'",
        (TURNED,),
    ),
    # A scale as it is, and without its middle.
    Case(
        VOTES,
        table(f"{SIDES}label", "x,y,1", "y,z,5", "x,z,4"),
        "from a scale such as 1 to 5 subtract the middle, so that 0 is a tie; then --score margin",
        (),
    ),
    Case(
        VOTES,
        table(f"{SIDES}label", "x,y,-2", "y,z,2", "x,z,1"),
        "",
        ("--score margin", f"--score margin {TURNED}"),
    ),
    Case(
        VOTES,
        table(f"{SIDES}score", "x,y,1", "y,z,5", "x,z,4"),
        "--score margin if scores are by how much the first was better; from a scale",
        ("--score margin",),
    ),
    Case(VOTES, table(f"{SIDES}score", "x,y,.75", "x,z,1"), "--score win", ("--score win",)),
    Case(
        "gate FILE.csv --baseline x --margin 5",
        table("white,black,result", *["x,y,1-0", "y,x,1/2-1/2"] * 3),
        "tolerance (--tolerance) is theirs, in Elo",
        ("jaxrace gate FILE.csv --baseline x --tolerance 5",),
    ),
    Case(
        "gate FILE.csv --baseline a --tolerance 5",
        table("a,b", ".3,.2", ".5,.4", ".6,.7"),
        "margin (--margin) is theirs",
        ("jaxrace gate FILE.csv --baseline a --margin 0.1",),
    ),
    Case(
        "gate FILE.csv --baseline x --gap 5",
        table("player_a,player_b,wins_a,wins_b,draws", "x,y,4,3,2"),
        "leave out gap (--gap), which needs game by game what came before",
        (),
    ),
    Case(
        "gate FILE.csv --baseline x",
        table(f"{SIDES}score", "x,y,.75", "x,z,1"),
        "--score win",
        ("--score win", f"--score win {TURNED}"),
    ),
    Case(
        "gate FILE.csv --baseline x",
        table("winner,loser,margin", "x,y,2", "y,z,3", "x,z,1"),
        "takes it, for the winner; without it each row is a win",
        (),
    ),
    Case(
        VOTES,
        table(f"{SIDES}score", "x,y,1", "y,z,.5", "x,z,-1"),
        "say --score margin if these are margins",
        ("--score margin",),
    ),
    Case(
        VOTES, table(f"{SIDES}score", "x,y,1", "y,z,0"), "--score margin reads", ("--score margin",)
    ),
    Case(
        VOTES,
        table("one,other,winner", "x,y,x", "y,z,z", "x,z,tie"),
        "--first-column and --second-column say which they are",
        ("--first-column one --second-column other",),
    ),
    Case(
        f"{VOTES} --first-column one",
        table("one,other,winner", "x,y,x", "y,z,z"),
        "--first-column and --second-column",
        ("--second-column other",),
    ),
    Case(
        VOTES,
        table(f"{SIDES}who", "x,y,x", "y,z,z", "x,z,tie"),
        "--score-column says which it is",
        ("--score-column who",),
    ),
    Case(
        VOTES,
        table(f"{SIDES}vote,verdict", "x,y,x,y", "y,z,z,z"),
        "--score-column says which it is",
        ("--score-column vote", "--score-column verdict"),
    ),
    Case(
        VOTES,
        table("winner,loser,margin", "x,y,2", "y,z,3", "x,z,1"),
        "--score-column margin --score margin takes it",
        ("--score-column margin --score margin",),
    ),
    Case(
        VOTES,
        table("winner,loser,result", "x,y,1-0", "y,z,1/2-1/2", "x,z,1-0"),
        "--score-column result takes it",
        ("--score-column result",),
    ),
    Case(
        VOTES,
        table("winner,loser,score", "x,y,.75", "y,z,.5"),
        "--score-column score --score margin takes it",
        ("--score-column score --score margin",),
    ),
    Case(
        VOTES,
        ",x,y,z\nx,,.6,.7\ny,.4,,.2\nz,.3,.8,\n",
        "`jaxrace duel` takes shares",
        ("jaxrace duel FILE.csv",),
    ),
    Case(
        "duel FILE.csv",
        ",x,y,z\nx,,3,2\ny,1,,0\nz,2,0,\n",
        "`jaxrace select` ranks",
        (f"jaxrace {VOTES}",),
    ),
]
DECISIONS = ["a,.5,1,30", "b,.5,0,40", "a,.5,0,30"]
LOGS = [
    Case(
        LOG,
        table("action,probability,reward,seen", *["a,.5,1,3", "b,.5,0,2"] * 20),
        "got 'seen': --columns context=NAME,context=NAME names what was known before the action",
        ("--columns context=seen",),
    ),
    Case(
        LOG,
        table("action,probability,won,age", *DECISIONS * 20),
        "--columns reward=NAME says which it is",
        ("--columns reward=won",),
    ),
    Case(
        LOG,
        table("action,probability,reward,t,who,age", *["a,.5,1,0,3,30", "b,.5,0,0,4,40"] * 20),
        "--columns trajectory=NAME says which it is, context=NAME that there is none",
        ("--columns context=age",),
    ),
    Case(
        LOG,
        table("action,probability,reward,dwell_time", *["a,.5,1,3", "b,.5,0,2"] * 20),
        "--columns context=NAME,context=NAME names what to use",
        ("--columns context=dwell_time",),
    ),
    Case(
        LOG,
        table("action,probability,cost,age", *DECISIONS * 20),
        "--smaller (smaller=True) says that these are costs, --larger",
        ("--smaller", "--larger"),
    ),
    Case(
        LOG,
        table(
            "action,probability,reward,age,who",
            *[f"{'ab'[n % 2]},.5,{n % 2},{n},n{n}" for n in range(60)],
        ),
        "--columns context=NAME",
        ("--columns context=age",),
    ),
    Case(
        "improve FILE.csv",
        table("action,probability,reward,age", *DECISIONS * 20),
        "--low 0 --high 1",
        ("--low 0 --high 1",),
    ),
    Case(
        "improve FILE.csv --smaller --high 0 --low -.5",
        table("action,probability,cost,age", *["a,.5,-1,30", *DECISIONS[1:]] * 20),
        "in the log's own sign; in it returns are from -1 to 0",
        ("--low -1",),
    ),
]


def inspected(model):
    scores = {"match": {"value": {"exact": 1, "near": 0}}}
    samples = [{"id": number, "scores": scores} for number in range(3)]
    return json.dumps({"status": "success", "eval": {"model": model}, "samples": samples})


def harness(number, **more):
    return json.dumps(
        {"doc_id": number, "filter": "none", "resps": [], "metrics": ["acc"], "acc": 1} | more
    )


def per_model(name, make):
    return {f"runs/{model}/{name}": make(model) for model in ("large", "small")}


def benchmarks(*groups):
    found = [
        {"group": group, "name": name, "fullname": name, "stats": {"data": [0.3, 0.5, 0.4]}}
        for group in groups
        for name in (f"{group}_one", f"{group}_two")
    ]
    return json.dumps({"benchmarks": found})


def asked_alike(lacking):
    rows = [
        {"provider": model, "score": (7 * test + 5 * (model == "b")) % 10 / 10, "testIdx": test}
        for model in "ab"
        for test in range(8)
        if (model, test) != lacking
    ]
    return json.dumps({"results": {"results": rows}})


def trained(*folders):
    """Runs of training, by their folders: logs with a return each."""
    return {
        f"runs/{name}/progress.txt": f"Epoch\tAverageEpRet\n0\t{7 * place % 10 / 10}\n"
        for place, name in enumerate(folders)
    }


PROGRAMS = [
    Case(
        "race runs --shared",
        trained("ppo/A-v1_1", "ppo/A-v1_2", "sac/A-v1_1", "sac/A-v1_2"),
        "leave out shared=True (--shared) if runs have nothing in common",
        ("without --shared",),
    ),
    Case(
        "race runs",
        trained("ppo/A-v1_1", "sac/A-v1_1", "ppo/B-v1_1"),
        "got none of 'sac' in 'B-v1': --where env=A-v1 takes those of one",
        ("--where env=A-v1",),
    ),
    # Tasks that are shared by themselves.
    Case("race FILE.json", asked_alike(("a", 3)), "(--gaps skip) leaves", ("--gaps skip",)),
    Case("race FILE.json --final", asked_alike(("a", 3)), "--gaps skip", ("--gaps skip",)),
    Case(
        "race FILE.db",
        made_files.content_of(made_files.study(f"{STUDIES} ('MAXIMIZE', 2, 0);")),
        "--score-column x takes one",
        ("--score-column x",),
    ),
    Case(
        "race FILE.db",
        made_files.content_of(
            made_files.study("INSERT INTO study_directions VALUES ('MAXIMIZE', 1, 1);")
        ),
        "--score-column takes one in a file of study.trials_dataframe()",
        (),
    ),
    Case(
        RACE,
        table(
            "number,values_0,values_1,state,params_p",
            *[f"{n},{x},2,COMPLETE,{'uv'[n % 2]}" for n, x in enumerate(X)],
        ),
        "--score-column says which",
        ("--score-column values_0",),
    ),
    Case(
        RACE,
        table(
            "number,value,state,params_p",
            *[f"{n},{x},COMPLETE,{'uv'[n % 2]}" for n, x in enumerate(X)],
        ),
        "if so, --smaller",
        ("--smaller",),
    ),
    Case(
        "race runs",
        per_model("log.json", inspected),
        "--score-column match,exact takes one of them",
        ("--score-column match,exact",),
    ),
    Case(
        "race runs",
        per_model(
            "samples_t.jsonl",
            lambda _: "\n".join([harness(1, filter="strict"), harness(1, filter="flexible")]),
        ),
        "--score-column acc,strict takes one",
        ("--score-column acc,strict",),
    ),
    Case(
        "race FILE.json",
        benchmarks("sort", "join"),
        "--score-column sort takes one",
        ("--score-column sort",),
    ),
    Case(
        "race FILE.json",
        (DATA / "programs" / "rliable.json").read_text(),
        "--task-column game takes games as tasks, by the mean over runs; --task-column run takes",
        ("--task-column game", "--task-column run", "--task-column both --shared --weights equal"),
    ),
]
BESIDE = [  # what stands beside an answer
    Case(
        f"{RACE} --shared",
        table("seed,a,b", *NUMBERED),
        "run next: a, b: 10 tasks (8, 9, 10 and 7 more); all are in next_runs, and --next FILE",
        ("--next next.csv",),
    ),
    Case(
        f"{RACE} --shared",
        table("task,a,b", *[f"{'xy'[number % 2]},{row}" for number, row in enumerate(WIDE)]),
        "2 tasks with up to 4 scores of an option on one: each task counts once",
        ("--group-column task",),
    ),
]
CASES = [*TABLES, *ITEMS, *VOTE_CASES, *LOGS, *PROGRAMS, *BESIDE]


def said_by(command):
    """The exit status of a command, and all that it prints, in one line."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = main(shlex.split(command))
    return status, " ".join(said.getvalue().split())


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """The folder of a case with its files, and what its command says there."""

    @functools.cache
    def shown(number):
        command, content, *_ = CASES[number]
        folder = tmp_path_factory.mktemp("advice")
        file = next((word for word in command.split() if word.startswith("FILE")), "FILE.csv")
        for name, one in (content if isinstance(content, dict) else {file: content}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(one if isinstance(one, bytes) else one.encode())
        with contextlib.chdir(folder):
            return folder, said_by(command)[1]

    return shown


@pytest.mark.parametrize(
    "number", range(len(CASES)), ids=[f"{x.command}: {x.says[:60]}" for x in CASES]
)
def test_advice_works(number, first, monkeypatch):
    case, (folder, said) = CASES[number], first(number)
    monkeypatch.chdir(folder)
    assert case.says in said
    for advice in case.then:
        advised = re.findall(r"--[a-z-]+|`?jaxrace \w+", advice)
        assert any(word in said for word in advised)
        command = advice.removeprefix("jaxrace ")
        command = command if command != advice else f"{case.command} {advice}"
        if advice.startswith("without "):
            command = case.command.replace(advice.removeprefix("without"), "")
        status, then = said_by(command)
        assert status in (0, 3, 4), f"{command}: {then}"
        assert "jaxrace: error" not in then


# Options of other programs, and what advises nothing.
OTHERS = re.compile(
    r"`inspect |lm_eval|--export-json|--command-name|--benchmark[_-]|pip install|left out, as"
    r"|compared task by task, as with --shared|names are whole or words"
)


def advice_in(path):
    """What the strings of a module advise, as patterns."""
    tree = ast.parse(path.read_text("utf-8"))
    nodes = [*ast.walk(tree)]
    within = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    within |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        texts = [str(x.value) if isinstance(x, ast.Constant) else "" for x in parts]
        if id(node) in within:
            continue
        whole = "".join(texts)
        if re.search(r"--[a-z]|`jaxrace ", whole) and not OTHERS.search(whole):
            yield ".*".join(map(re.escape, texts))


def test_all_advice_is_followed(first):
    modules = [*(PACKAGE / "tables").glob("*.py"), *(PACKAGE / "judging").glob("*.py")]
    modules += [PACKAGE / "commands" / f"{name}.py" for name in ("race", "improve")]
    modules.append(PACKAGE / "evidence" / "independence.py")
    advice = [(path.name, one) for path in modules for one in advice_in(path)]
    assert len(advice) > 40
    shown = "\n".join(first(number)[1] for number in range(len(CASES)))
    assert [(name, one) for name, one in advice if not re.search(one, shown)] == []


@pytest.mark.filterwarnings("ignore:only 1 of 8 scores of a count")
@pytest.mark.parametrize("weights", [{}, {"weights": "equal"}])
def test_what_failed_counts_as_is_not_said_of_absent_tasks_where_none_is(weights):
    rows = [
        {"model": m, "suite": "xy"[n % 2], "id": n, "score": n * 7 % 5}
        for n in range(9)
        for m in "ab"
    ]
    said = [
        jaxrace.race(x, shared=True, failed=0, **weights).notes for x in (rows, rows[:4] + rows[5:])
    ]
    assert ["says nothing of tasks that are absent" in "".join(x) for x in said] == [False, True]


def test_a_matrix_is_for_duel():
    matrix = [(0.5, 0.7), (0.3, 0.5)]
    with pytest.raises(ValueError, match="is for `jaxrace duel`"):
        jaxrace.select(matrix)
    assert jaxrace.duel(matrix).options[0].beats == 1
