"""Two engines: gates of games in Elo, their intervals at the stop, and the study's other tests."""

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest

import jaxrace
from jaxrace.commands.cli import main
from jaxrace.commands.gate import Config
from jaxrace.evidence.games import GamePairs, gap_bets
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.judging.claims import certain_of
from jaxrace.judging.gate_games import mean_of, normalized
from jaxrace.tables import read_votes
from papers.studies import two_engines

NAMES = {-1.0: "old", 0.0: "tie", 1.0: "new"}


def gate(data, **settings: Any) -> Any:
    """The front door, whose numbers may be None."""
    return jaxrace.gate(data, **settings)


def log_of(d):
    """Games of new and old without sides."""
    number = len(d)
    return {"first": ["new"] * number, "second": ["old"] * number, "winner": [NAMES[x] for x in d]}


def pairs_log(points):
    """Two games with sides reversed for each number of points, 0 to 2, of new."""
    of = {0: "00", 0.5: "0½", 1: "½½", 1.5: "1½", 2: "11"}
    rows = []
    for number in points:
        one, other = of[number]
        rows += [("new", "old", one), ("old", "new", {"0": "1", "1": "0"}.get(other, other))]
    result = {"1": "1-0", "0": "0-1", "½": "1/2-1/2"}
    white, black, ends = zip(*rows, strict=True)
    return {"white": white, "black": black, "result": [result[end] for end in ends]}


def test_normalized_elo():
    """By hand, as fishtest has it: (share - 1/2) / sigma, of pairs over root 2, times 800 / ln 10.

    3 wins of 4: 3/4, sigma 1/4 root 3. A pair of 1 point and one of 2: 3/4, sigma 1/4 root 2.
    """
    (found,) = gate(log_of([1.0, -1.0, 1.0, 1.0]), baseline="old").candidates
    assert found.nelo == pytest.approx(800 / math.log(10) / math.sqrt(3))
    assert found.elo == pytest.approx(400 * math.log10(3))
    assert found.results == (1, 0, 3)
    (found,) = gate(pairs_log([1, 2]), baseline="old").candidates
    assert found.nelo == pytest.approx(800 / math.log(10) / math.sqrt(2))
    assert (found.results, found.games, found.score) == ((0, 0, 1, 0, 1), 4, 0.75)
    # Means and deviations do not ask for an order, and of one result there is no deviation.
    (found,) = gate(log_of([1.0]), baseline="old").candidates
    assert (found.nelo, found.elo, found.high) == (None, None, None)


# What fastchess and OpenBench have printed, in public reports of matches: results of pairs, Elo,
# normalized Elo; results, bounds in normalized Elo, the ratio.
PRINTED = (
    ((30, 6, 18, 0, 6), -168.40, -170.08),
    ((790, 1759, 3256, 1780, 807), 1.14, 1.48),
    ((352, 579, 1264, 743, 464), 19.83, 24.25),
)
RATIOS = (
    ((790, 1759, 3256, 1780, 807), (0, 5), -0.71),
    ((5, 942, 2469, 1050, 5), (-3, 1), 2.90),
    ((59, 1365, 2872, 1515, 89), (0, 3), 2.91),
)


@pytest.mark.parametrize(("counts", "elo", "nelo"), PRINTED)
def test_elo_is_what_other_programs_print(counts, elo, nelo):
    points = np.random.default_rng(0).permutation(np.repeat([0, 0.25, 0.5, 0.75, 1], counts))
    number = len(points)
    log = {"first": ["new"] * number, "second": ["old"] * number, "score": points}
    (found,) = gate(read_votes(log, score="win"), baseline="old").candidates
    assert (round(found.elo, 2), round(found.nelo, 2)) == (elo, nelo)
    assert found.results == counts


@pytest.mark.parametrize(("counts", "bounds", "ratio"), RATIOS)
def test_the_gsprt_is_that_of_other_programs(counts, bounds, ratio):
    """Theirs has the deviation of each hypothesis, this one that of the results: nearly alike."""
    d, counts = np.linspace(-1, 1, 5), np.array(counts, float)
    mean = counts @ d / counts.sum()
    spread = math.sqrt(counts @ d**2 / counts.sum() - mean**2)
    nulls = [math.log(10) / 800 * bound * math.sqrt(2) * spread for bound in bounds]
    one, other = (two_engines._nearest(counts[None], d - null)[0] for null in nulls)
    assert other - one == pytest.approx(ratio, abs=0.01)


def test_intervals_at_the_stop():
    """At all looks together each end is wrong as seldom as it says; a test at every look is not.

    Ends only move inwards: whoever stops anywhere has been wrong at the last look, too.
    """
    runs, number, elo, in_one = 1_000, 500, 40, 1
    rng = np.random.default_rng(0)
    d = rng.choice([1.0, 0.0, -1.0], (runs, number), p=law_of(elo, 0.5))
    levels = -np.log(np.full((2, runs), 0.05))
    first, second = np.arange(runs), runs + np.arange(runs)
    log = np.repeat(first, number), np.repeat(second, number), d.ravel()
    likely = mean_of(20)
    bets = gap_bets(likely, shared_bets(float(levels[0, 0])))
    games = GamePairs(2 * runs, *log, bets, gap=likely)
    low, high = certain_of(games, first, second, 0.0, levels).ends(games, first, second, 0.0)
    truth = mean_of(elo)
    normal = 800 / math.log(10) * truth / math.sqrt(0.5 - truth**2)
    nelo, nelo_low, nelo_high = normalized(games, first, second, levels, in_one)
    allowed = 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    for wrong in (low > truth, high < truth, nelo_low > normal, nelo_high < normal):
        assert 0 < wrong.mean() <= allowed
    assert ((nelo_low < nelo) & (nelo < nelo_high)).mean() > 0.98
    at = np.arange(1, number + 1)
    mean = d.cumsum(1) / at
    spread = np.sqrt(np.maximum((d**2).cumsum(1) / at - mean**2, 0) / at)
    fixed = (mean - 1.645 * spread > truth)[:, 20:].any(1)
    assert fixed.mean() > 2 * allowed


def law_of(elo, draws):
    """Chances to win, draw and lose."""
    share = (1 + mean_of(elo)) / 2
    return share - draws / 2, draws, 1 - share - draws / 2


@pytest.mark.parametrize("gap", [None, 60.0])
@pytest.mark.parametrize("elo", [-60, 0, 60])
def test_the_gate_stops_where_the_study_does(gap, elo):
    """With one game less there is no verdict; and the figures are about the true product."""
    kinds, chances = two_engines.law(elo, 0.4, in_pairs=False)
    d = np.random.default_rng(elo + 100).choice(kinds, (1, 3000), p=chances)
    claims = [(1, 0.0), (1, -mean_of(60)), (-1, 0.0), (-1, -mean_of(60))]
    bets = two_engines.Bets(claims, mean_of(gap) if gap else 0.0, 1)
    enough = bets.step(d)[:, 0] >= math.log(1 / 0.05)
    stop = int(enough.any(0).argmax()) + 1
    settings = {"baseline": "old", "tolerance": 60, "gap": gap}
    found = [gate(log_of(d[0, :n]), **settings) for n in (stop - 1, stop)]
    verdict = ("better", "not worse", "worse", "no better")[int(enough[:, stop - 1].argmax())]
    assert [one.candidates[0].verdict for one in found] == ["too few", verdict]
    (row,) = found[1].candidates
    assert (row.low or -math.inf) >= -60 or (row.high or math.inf) <= 60
    assert f"{verdict} by 60 Elo" in str(found[1])
    assert (found[0].status, found[1].status) == (3, 0 if verdict == "not worse" else 1)


def test_two_games_with_sides_reversed_are_one_result():
    rng = np.random.default_rng(0)
    kinds, chances = two_engines.law(60, 0.2, in_pairs=True)
    points = 1 + rng.choice(kinds, 300, p=chances)
    log = pairs_log(points.tolist())
    (found,) = gate(log, baseline="old", gap=60).candidates
    assert (found.games, found.verdict) == (600, "better")
    # The same results, said as shares of a pair.
    said = {"first": ["new"] * 300, "second": ["old"] * 300, "score": points / 2}
    (same,) = gate(read_votes(said, score="win"), baseline="old", gap=60).candidates
    assert same == found


def test_several_candidates_share_the_errors():
    rng = np.random.default_rng(1)
    parts = [rng.choice([1.0, 0.0, -1.0], 400, p=law_of(elo, 0.3)) for elo in (120, -120, 0)]
    log = {"first": [], "second": [], "winner": []}
    for number in range(400):
        for name, part in zip(("up", "down", "even"), parts, strict=True):
            log["first"].append(name)
            log["second"].append("old")
            log["winner"].append({1.0: name, 0.0: "tie", -1.0: "old"}[part[number]])
    others = dict(zip(log, (["up"], ["even"], ["up"]), strict=True))  # do not count
    log = {head: [*column, *others[head] * 50] for head, column in log.items()}
    found = gate(log, baseline="old", tolerance=100)
    assert [one.verdict for one in found.candidates] == ["better", "worse", "not worse"]
    assert [one.games for one in found.candidates] == [400] * 3
    assert "for one or more of 3 candidates" in found.meaning()
    alone = gate(log_of(parts[0]), baseline="old", at_most=3).candidates[0]
    assert dataclasses.replace(alone, name="up") == found.candidates[0]


def test_what_is_refused():
    log = log_of([1.0, 0.0, -1.0] * 10)
    counts = {"player_a": ["new"], "player_b": ["old"], "wins_a": [30], "wins_b": [2], "draws": [9]}
    for data, settings, message in (
        (log, {"margin": 0.1}, "margin: expected scores of options, got games or votes: tolerance"),
        (log, {"shared": True}, "shared: expected scores of options, got games or votes"),
        (log, {"tolerance": -1}, "tolerance: expected a number"),
        (log, {"gap": 0}, "gap: expected a number"),
        (
            counts,
            {"gap": 5},
            r"gap: expected games in their order, got counts of them: leave out gap \(--gap\)",
        ),
        ({"old": [1.0] * 5, "new": [0.0] * 5}, {"gap": 5}, "gap: expected games or votes"),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            gate(data, baseline="old", **settings)
    with pytest.raises(ValueError, match=r"^looks: .* leave it out, as verdicts on games hold"):
        gate(log, baseline="old", looks="gate.looks")
    with pytest.raises(ValueError, match=r"the others are compared with, one of new, old, got no"):
        gate(log, baseline=None)
    with pytest.raises(ValueError, match=r"^baseline: expected one of new, old"):
        gate(log, baseline="older")
    assert gate(counts, baseline="old").passed == ["new"]


def test_what_programs_read():
    """Numbers are numbers, a level stands beside each interval, and games are games everywhere."""
    log = pairs_log(np.random.default_rng(0).choice([0.5, 1, 1.5], 60))
    found = gate(log, baseline="old", delta=0.01, delta_reject=0.04).to_dict()
    (new,) = found["candidates"]
    assert (sum(new["results"]), new["games"], found["status"]) == (60, 120, 3)
    assert new["level"] == pytest.approx(0.95)
    selected = jaxrace.select(log)
    kept = json.loads(json.dumps(selected.to_dict()))
    assert kept["status"] == selected.status
    (pair,) = kept["proven"]
    assert pair["games"] == new["games"] == kept["comparisons"]
    assert pair["level"] == kept["proven_confidence"]
    assert {one["level"] for one in (*kept["options"], kept["gap"])} == {0.95}
    scores = np.random.default_rng(0).normal(size=(2, 20))
    table = dict(zip("ab", scores, strict=True))
    for answer, rows in (
        (jaxrace.race(table), "pairs"),
        (jaxrace.rank(table, pairs="all"), "options"),
        (jaxrace.rank(table, pairs="all"), "pairs"),
        (gate(table, baseline="a"), "candidates"),
    ):
        assert all(0.9 <= one["level"] < 1 for one in answer.to_dict()[rows])


def test_each_column_has_its_own_head():
    log = pairs_log([1, 1.5, 0.5, 2] * 10)
    for table in (*gate(log, baseline="old").tables(), *jaxrace.select(log).tables()):
        assert len({*table.heads}) == len(table.heads)
    (shown,) = gate(log, baseline="old", delta=0.01, delta_reject=0.05).tables()
    assert "94 % interval" in shown.heads
    assert (
        "the lower end alone is wrong with at most 1 %, the upper end with at most 5 %"
        in " ".join(shown.below)
    )


def test_elo_of_players():
    """The model's, above the mean of all, with an interval; of margins there is none."""
    log = log_of(np.random.default_rng(0).permutation(np.repeat([1.0, -1.0], [1_800, 1_200])))
    answer: Any = jaxrace.select(log)
    new, old = answer.options
    assert new.elo == pytest.approx(-old.elo)
    assert new.elo - old.elo == pytest.approx(400 * math.log10(1.5), abs=2)
    table = answer.tables()[0]
    assert "Elo above mean" in table.heads
    assert table.below[-1].endswith(
        "Elo is above the mean of all options, of two half of their gap"
    )
    expected = 400 / math.log(10) * math.sqrt(1 / 1_800 + 1 / 1_200) * 1.96
    assert new.elo_high - new.elo_low == pytest.approx(expected, rel=0.1)
    margins = jaxrace.select([("x", "y", 1.5), ("y", "x", -2.0)] * 20)
    assert (margins.options[0].elo, margins.options[0].elo_low) == (None, None)


def test_more_than_a_list_of_games_is_asked_for_where_these_hardly_matter():
    """The advice keeps to the list, which may have one pair."""
    points = np.random.default_rng(0).choice([0.5, 1, 1.5], 200, p=[0.27, 0.4, 0.33])
    answer: Any = jaxrace.select(pairs_log(points), next=10)
    assert [(one.better, one.worse, one.times) for one in answer.next] == [("new", "old", 10)]
    said = "no single game is likely to change the guess: play hundreds, shared out as listed"
    assert answer.meanings()[-1] == said


def test_sorted_games_prove_nothing():
    found = gate(log_of([1.0] * 100 + [-1.0] * 100), baseline="old")
    assert (found.headline(), found.status) == ("DATA REFUSED: games are hardly alike", 4)
    assert "by chance less than one of" in found.meaning()
    assert found.candidates[0].low is None


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for elo, status in ((200, 0), (-200, 1), (40, 3)):
        rng = np.random.default_rng(2)
        with open("games.pgn", "w") as file:
            for number in range(120):
                d = rng.choice([1, 0, -1], p=law_of(elo, 0.4)) * (1 - 2 * (number % 2))
                white, black = ("old", "new") if number % 2 else ("new", "old")
                result = {1: "1-0", 0: "1/2-1/2", -1: "0-1"}[d]
                file.write(
                    f'[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n\n1. e4 *\n\n'
                )
        command = ["gate", "games.pgn", "--baseline", "old", "--gap", "100"]
        assert main([*command, "--report", "gate.md"]) == status
        assert "0, 1/2, 1, 3/2, 2" in capsys.readouterr().out
        assert main([*command, "--out", f"out{status}"]) == status
        assert main([*command, "--margin", "5"]) == 2
        assert "got games or votes: tolerance (--tolerance) is theirs" in capsys.readouterr().err
        assert main([*command, "--next", "next.csv"]) == 2
        assert "--next: expected scores of options" in capsys.readouterr().err


def test_the_help_keeps_games_apart(capsys):
    fields = {field.name for field in dataclasses.fields(Config)}
    assert all({*names} <= fields for names in Config.HELP_GROUPS.values())
    assert main(["gate", "--help"]) == 0
    common, rest = capsys.readouterr().out.split("\nof games and votes alone:\n")
    games, scores = rest.split("\nof scores alone:")
    assert "\n  --want " in common
    assert "\n  --gap " in games
    assert "\n  --margin " in scores
    assert "\n  --looks " in scores
    assert "\n  --gaps " in scores


def test_the_sprt_is_walds():
    """Without draws its ratio walks by one step: the ruin of a gambler, known exactly."""
    laws = np.stack([two_engines.law(elo, 1e-9, in_pairs=False)[1] for elo in (-20, 20)])
    lose, _, win = laws[1]
    steps = math.ceil(math.log(19) / math.log(win / lose))
    test = two_engines.Ratio(np.array([-1.0, 0.0, 1.0]), laws, True, 2_000)
    number, claim = two_engines.stops(test, np.array([math.log(19)]), (20, 1e-9, False), 2_000)
    wrong = 1 / (1 + (win / lose) ** steps)
    assert claim[0].mean() == pytest.approx(wrong, abs=3 * math.sqrt(wrong / 2_000))
    expected = steps * (1 - 2 * wrong) / (win - lose)
    assert number[0].mean() == pytest.approx(expected, abs=3 * number[0].std() / 2_000**0.5)


def test_the_nearest_law():
    """The likeliest law of a mean: that of the results, or known of two kinds."""
    nearest = two_engines._nearest
    kinds = np.array([-1.0, 0.0, 1.0])
    assert nearest(np.array([[20.0, 30.0, 50.0]]), kinds - 0.3) == pytest.approx(0, abs=1e-6)
    found = nearest(np.array([[40.0, 60.0]]), np.array([-1.0, 1.0]))  # 1/2 each
    assert found == pytest.approx(40 * math.log(0.5 / 0.4) + 60 * math.log(0.5 / 0.6))
    counts = (
        np.random.default_rng(0)
        .multinomial(40, [0.02, 0.02, 0.92, 0.02, 0.02], 500)
        .astype(np.float64)
    )
    points = np.linspace(-1, 1, 5) - 0.03
    laws = np.maximum(counts, 1e-3) / 40
    t = np.linspace(-1 / points.max(), -1 / points.min(), 20_001)[1:-1]
    every = -(40 * laws[:, None] * np.log1p(t[:, None] * points)).sum(-1)
    np.testing.assert_allclose(nearest(counts, points), every.min(1), atol=1e-2)


def test_games_without_the_baseline_are_said():
    games = [("a", "main"), ("main", "a"), ("a", "b"), ("b", "a"), ("b", "main"), ("main", "b")]
    notes = jaxrace.gate(games * 3, baseline="main", want="better", tolerance=50).notes
    assert "games without main, which are not used: 6" in notes
