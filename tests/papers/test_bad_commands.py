"""Options of simulations and figures that are wrong are refused in one line; nothing is left."""

import importlib

import pytest

# By module: what it is given, and what is said.
BAD = {
    "papers": {
        "": "the following arguments are required: name",
        "figure-9": "name: expected one of pbr-synthetic",
        "pbr-synthetic --resume --out nowhere": "--out: expected the folder of a run",
        "pbr-synthetic --uniform deviation": "--uniform: expected none with pbr-synthetic, as it",
        "thurstone-topk --problems 1": "--problems: expected an integer of at least 2, got 1",
        "pbr-synthetic --quick --seed 18446744073709551616": "--seed: expected at most 42949",
    },
    "papers.duels": {
        "random --algorithm rucb,nobody": "--algorithm: expected some of rucb, ",
        "random --arms 10000000": "--arms: expected at most 20000, got 10000000",
        "cyclic --arms 2": "--arms: expected at least 3 for a cyclic matrix",
        "random --arms 2": "--algorithm: expected some for 2 arms, got 'sup-klucb' (num_arms: ",
        "random --horizon 54 --algorithm sup-klucb": "--horizon: expected at least 55",
        "random --algorithm rucb --delta 0.1": "--delta: expected none with rucb, which does",
        "nothing": "matrix: expected a file or one of random, ",
    },
    "papers.selections": {
        "thurstone --method best": "--method: expected some of",
        "thurstone --top 10": "--top: expected less than options = 10",
        "thurstone --budget 134": "--budget: expected at least 135, the warm-up of",
        "thurstone --method top --top 4 --budget 24": "--budget: expected at least 25, as top p",
        "thurstone --uniform sigma": "--uniform: expected one of variance, deviation, got 'sigma'",
        "wins --uniform deviation": "--uniform: expected none with problem wins, as it is of prob",
        "thurstone --repeats 1": "--repeats: expected an integer of at least 2",
        "thurstone --delta 0.1": "--delta: expected none with method pkg, which guarant",
        "thurstone --batch 2": "--batch: expected a divisor of the 865 comparisons",
        "thurstone --method pkg,ocba --batch 5": "--batch: expected 1 with method ocba",
        "thurstone --method top --pooled-samples 1": "--pooled-samples: expected none with",
        "tennis": "problem: expected one of thurstone, wins, circle, got 'tennis'",
    },
    "papers.improvements": {
        "maze": "task: expected one of gridworld, mountain-car, marketing, got 'maze'",
        "gridworld --bound hoeffding": "--bound: expected one of ci, betting",
        "gridworld --trajectories 150": "--trajectories: expected a multiple of batch = 100, g",
        "gridworld --evaluations 15": "--evaluations: expected an integer of at least 16, got 15",
        "gridworld --spend": "--spend: expected --method daedalus",
        "gridworld --floor 1.5": "--floor: expected a number in [0, 1), got 1.5",
        "gridworld --candidates some": "--candidates: expected one of none, k-fold, got 'some'",
        "gridworld --method batch --batch 50": "--batch: expected none with method batch",
    },
    "papers.holdem": {
        "--selection best": "--selection: expected some of hybrid, pkg, race, uniform",
        "--strategy DE": "--strategy: expected one of CMA_ES",
        "--sigma much": "--sigma: expected a number, or null, got 'much'",
        "--strategy ESMC --population 31": "population_size: expected an even one for ESMC, got 31",
        "--population 5 --matches 5": "--matches: expected at least 11 of each",
        "--hands 2000000000": "--hands: expected at most 1000000000",
        "--episodes 10": "unrecognized arguments: --episodes 10",
        "--population 1000 --matches 9999": "--matches: expected at most 1,000,000,000 in",
    },
}


@pytest.mark.parametrize(
    ("module", "command"), [(module, command) for module in BAD for command in BAD[module]]
)
def test_bad_options(module, command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    main = importlib.import_module(f"{module}.__main__").main
    assert main([*command.split(), "--no-compilation-cache"]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    (line,) = output.err.splitlines()
    assert line.startswith("jaxrace: error: ")
    assert BAD[module][command] in line
    assert list(tmp_path.iterdir()) == []
