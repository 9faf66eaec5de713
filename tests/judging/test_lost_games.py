"""Games that are lost, or did not end on the board: no verdict rests on them."""

import bisect
import itertools
import json
import random
from typing import Any

import pytest
from game_files import has_lost, match, moves_of, write

import jaxrace
from jaxrace.commands.cli import main
from jaxrace.tables import read_votes


def gate(path) -> Any:
    return jaxrace.gate(path, baseline="old")


def test_games_with_one_colour_are_refused_with_their_cause(tmp_path, capsys):
    """No further game of this kind could ever help; of few games the pairs may still be in play."""
    games = [one for one in match(0, 60, (0.7, 0.2, 0.1)) if one[0] == "new"]
    path = write(tmp_path / "g.pgn", games)
    assert main(["gate", str(path), "--baseline", "old"]) == 4
    said = " ".join(capsys.readouterr().out.split())
    assert "DATA REFUSED: no opening was played with both colours" in said
    assert "(fastchess -games 2 -repeat, cutechess-cli" in said
    assert "more games like these do not help" in said
    few: Any = gate(write(tmp_path / "few.pgn", games[:10]))
    assert (few.status, few.candidates[0].verdict) == (3, "too few")
    assert any(note.startswith("no opening was played with both colours") for note in few.notes)
    # One candidate without a pair does not stop the others, and is named.
    third = [("third", *one[1:]) for one in games]
    both = gate(write(tmp_path / "both.pgn", [*match(1, 60, (0.7, 0.2, 0.1)), *third]))
    assert (both.passed, both.status) == (["new"], 3)
    assert any("both colours, of third: more such games" in note for note in both.notes)
    ranked: Any = jaxrace.select(path)
    assert (ranked.status, ranked.confidence, ranked.next) == (4, None, ())
    assert ranked.headline() == "DATA REFUSED: no opening was played with both colours"


def test_people_who_meet_once_are_ranked(tmp_path):
    """No two have a pair of games, but each has had both colours: a model's ranking stays."""
    lot = random.Random(0)
    names = [f"p{number}" for number in range(24)]
    games = []
    for number, (one, other) in enumerate(itertools.combinations(names, 2)):
        both = (one, other) if number % 2 else (other, one)
        games.append((*both, lot.choice(("1-0", "0-1", "1/2-1/2")), number, moves_of(lot, 40)))
    path = write(tmp_path / "g.pgn", games)
    for found in (jaxrace.select(path), jaxrace.gate(path, baseline="p0")):
        assert (found.status, found.refused) == (3, "")
        assert any("no opening was played with both colours" in note for note in found.notes)


@pytest.mark.parametrize(
    ("drop", "said"),
    [
        (lambda one: has_lost("new", one), "new is never seen to lose"),
        (
            lambda one: has_lost("new", one) and one[1] == "new",
            "most of them with new first, and did new lose them the verdict would be another",
        ),
    ],
)
def test_lost_halves_that_may_be_the_losses_are_refused(drop, said, tmp_path):
    """Two equal engines; what new has lost is not told, of all games or as Black alone."""
    games = match(3, 150)
    whole = gate(write(tmp_path / "all.pgn", games))
    assert (whole.status, whole.refused) == (3, "")
    kept = [one for one in games if not drop(one)]
    path = write(tmp_path / "kept.pgn", kept)
    for found in (gate(path), jaxrace.select(path)):
        assert (found.headline(), found.status) == ("DATA REFUSED: halves of pairs are missing", 4)
        assert said in found.meaning()


@pytest.mark.parametrize("of", ["two games", "a game", "a log"])
def test_rounds_that_are_lost_whole_may_be_the_losses(of, tmp_path):
    """Equal engines; seven of ten pairs in which new has less than half are not told."""
    doubted = 0
    for seed in range(4):
        games, lot = match(seed, 300), random.Random(seed)
        both = [*zip(games[::2], games[1::2], strict=True)]
        numbers = [
            number
            for number, two in enumerate(both)
            if not sum(has_lost("new", one) - has_lost("old", one) for one in two) > 0
            or lot.random() < 0.3
        ]
        if of == "a log":
            ended = [(2 * n + half + 1, *both[n][half]) for n in numbers for half in (0, 1)]
            text = "".join(f"Finished game {n} ({w} vs {b}): {r}\n" for n, w, b, r, *_ in ended)
            (path := tmp_path / "match.log").write_text(text)
        else:
            told = [
                (*one[:3], 2 * n + half + 1 if of == "a game" else n + 1, one[4])
                for n in numbers
                for half, one in enumerate(both[n])
            ]
            path = write(tmp_path / "g.pgn", told)
        found, selected = gate(path), jaxrace.select(path)
        assert found.status == selected.status
        assert found.status in (3, 4)
        doubted += found.status == 4
        said = [note for note in found.notes if note.startswith("rounds that are not there: ")]
        assert (len(said), found.refused[:18]) == (1, found.refused and "rounds are missing")
    assert doubted >= 3
    # A verdict that bears their loss stands, though games like these hardly come so.
    games = [one for one in match(4, 900, (0.45, 0.3, 0.25)) if not 400 < one[3] <= 425]
    for found in (gate(write(tmp_path / "some.pgn", games)), jaxrace.select(tmp_path / "some.pgn")):
        assert (found.status, found.refused) == (0, "")


def without_losses(seed, number, result=None):
    """300 pairs of equal engines; so many games that new has lost are gone, or have no result."""
    games, lot = match(seed, 300), random.Random(seed)
    gone = {*lot.sample([row for row, one in enumerate(games) if has_lost("new", one)], number)}
    told = [(*one[:2], result, *one[3:]) if row in gone else one for row, one in enumerate(games)]
    return told if result else [one for row, one in enumerate(games) if row not in gone]


@pytest.mark.parametrize("result", [None, "*"])
def test_lost_halves_are_looked_at_however_few_they_are(result, tmp_path):
    """54 of 600 games: equal engines are certainly different without them, and here refused."""
    doubted = 0
    for seed in range(5):
        games = without_losses(seed, 54, result)
        path = write(tmp_path / "g.pgn", games)
        found, selected = gate(path), jaxrace.select(path)
        assert found.status == selected.status
        assert found.status in (3, 4)
        doubted += found.status == 4
        if result:
            white = sum(one[2] == "*" and one[0] == "new" for one in games)
            said = f"games that have not ended, left out: 54 (old against new {54 - white}, new ag"
            other = f"games that have not ended, left out: 54 (new against old {white}, old ag"
            assert any(note.startswith((said, other)) for note in found.notes)
    assert doubted >= 3


def test_half_of_the_losses_with_one_colour_where_nothing_tells_pairs():
    """Equal engines: games that are lost are looked at where they should have been."""
    verdicts = []
    for seed in range(12):
        lot, games = random.Random(seed), []
        for white, black, result, *_ in match(seed, 200, (0.35, 0.3, 0.35)):
            if white == "new" or result != "1-0" or lot.random() < 0.5:
                games.append({"white": white, "black": black, "result": result})
        verdicts.append(jaxrace.gate(games, baseline="old", want="better").status)
    assert verdicts.count(0) <= 1
    assert verdicts.count(4) >= 3


def test_games_that_are_lost_where_sides_alternate(tmp_path):
    """Nothing tells pairs, and as many are lost with either side: one side follows itself."""
    doubted = 0
    for seed in range(5):
        games = without_losses(seed, 54)
        rows = [",".join(map(str, one[:3])) for one in games]
        (tmp_path / "g.csv").write_text("\n".join(["white,black,result", *rows, ""]))
        found, selected = gate(tmp_path / "g.csv"), jaxrace.select(tmp_path / "g.csv")
        assert found.status == selected.status
        assert found.status in (3, 4)
        doubted += found.status == 4
    assert doubted >= 3
    # All games of two at once, in the order in which they end, which lets sides follow themselves.
    lot, games = random.Random(0), match(4, 200, (0.48, 0.3, 0.22))
    ends = [number // 2 + lot.gammavariate(6, 1 / 6) for number in range(400)]
    rows = [",".join(games[row][:3]) for row in sorted(range(400), key=ends.__getitem__)]
    assert sum(one[:3] == two[:3] for one, two in itertools.pairwise(rows)) > 60
    (tmp_path / "g.csv").write_text("\n".join(["white,black,result", *rows, ""]))
    found = gate(tmp_path / "g.csv")
    assert (found.passed, found.refused) == (["new"], "")


def test_a_verdict_on_games_of_which_a_few_are_in_play_is_not_refused(tmp_path):
    """Either it bears that these are lost, or it is not yet certain: more games help."""
    games = match(4, 200, (0.55, 0.3, 0.15))
    whole = gate(write(tmp_path / "all.pgn", games))
    assert whole.passed == ["new"]
    # The first look at which it is certain, and then with four games of four openings in play.
    stop = 2 * bisect.bisect_left(
        range(201),
        1,
        key=lambda n: n > 9 and len(gate(write(tmp_path / "g.pgn", games[: 2 * n])).passed),
    )
    in_play = {stop - 9, stop - 6, stop - 3, stop - 2}
    for result in (None, "*"):
        told = [
            (*one[:2], result, *one[3:]) if row in in_play else one
            for row, one in enumerate(games[: stop + 8])
            if result or row not in in_play
        ]
        found = gate(write(tmp_path / "g.pgn", told))
        assert (found.status, found.refused, found.candidates[0].verdict) == (3, "", "too few")
        assert found.candidates[0].low is None or found.candidates[0].low <= 0
        assert any(note.startswith("not certain yet: ") for note in found.notes)
        selected: Any = jaxrace.select(tmp_path / "g.pgn")
        assert (selected.status, selected.refused, selected.certificate) == (3, "", None)
    late = [one for row, one in enumerate(games) if row not in in_play]
    assert gate(write(tmp_path / "g.pgn", late)).passed == ["new"]


def test_halves_that_are_lost_whatever_they_were_leave_a_verdict_that_bears_them(tmp_path):
    """Of either side, by lot: a note. Those that are in play at the end of a log are not lost."""
    games = match(4, 200, (0.55, 0.3, 0.15))
    some = [one for number, one in enumerate(games) if number % 30 not in (3, 14)]
    found = gate(write(tmp_path / "some.pgn", some))
    assert (found.passed, found.refused) == (["new"], "")
    assert "games without their reverse, left out there: 27" in " ".join(found.notes)
    in_play = [one for number, one in enumerate(games) if number < 360 or one[0] == "new"]
    found = gate(write(tmp_path / "play.pgn", in_play))
    assert (found.passed, found.refused) == (["new"], "")
    said = "games without their reverse, left out there: 20, 20 of them with new first"
    assert said in " ".join(found.notes)


def crashing(every, who="new"):
    """Equal engines, one of which loses some games by its crashes; and how games ended."""
    games, ends = [], []
    for number, (white, black, result, *rest) in enumerate(match(9, 150)):
        if number % every == 0:
            result = "0-1" if white == who else "1-0"
        games.append((white, black, result, *rest))
        ends.append("abandoned" if number % every == 0 else "normal")
    return games, ends


@pytest.mark.parametrize(("who", "verdict"), [("new", "worse"), ("old", "better")])
def test_a_verdict_that_rests_on_crashes_is_refused(who, verdict, tmp_path, capsys):
    games, ends = crashing(5, who)
    plain = gate(write(tmp_path / "plain.pgn", games))
    assert plain.candidates[0].verdict == verdict  # where nothing tells how they ended
    path = write(tmp_path / "crash.pgn", games, ends)
    assert main(["gate", str(path), "--baseline", "old", "--json"]) == 4
    found = json.loads(capsys.readouterr().out)
    assert found["doubts"] == [found["refused"]]
    assert "without the 60 of 300, 60 of them lost by" in found["refused"]
    count = f"games that did not end on the board: 60 (abandoned 60); lost 60 by {who}"
    assert any(note.startswith(count) for note in found["notes"])
    selected: Any = jaxrace.select(path)
    assert (selected.status, selected.refused) == (4, found["refused"])


def test_a_few_games_that_failed_are_counted_and_said(tmp_path):
    games = match(6, 200, (0.55, 0.3, 0.15))
    ends = ["normal"] * 400
    ends[3], ends[8], ends[9] = "time forfeit", "stalled connection", "illegal move"
    found = gate(write(tmp_path / "few.pgn", games, ends))
    assert (found.passed, found.refused) == (["new"], "")
    (said,) = [note for note in found.notes if "did not end on the board" in note]
    assert said.startswith("games that did not end on the board: 3 (out of time 1, ")
    # Many that both have lost on time are how people play.
    ends = ["time forfeit" if number % 3 == 0 else "normal" for number in range(400)]
    found = gate(write(tmp_path / "time.pgn", games, ends))
    assert (found.passed, found.refused) == (["new"], "")


def test_how_a_game_of_a_printed_log_ended(tmp_path):
    text = "Finished game 1 (new vs old): 1-0 {Black loses on time}\n"
    text += "Finished game 2 (old vs new): 1-0 {Black's connection stalls}\n"
    text += "Finished game 3 (new vs old): 1-0 {White mates}\n"
    (tmp_path / "t.log").write_text(text)
    told = read_votes(tmp_path / "t.log").endings
    assert told is not None
    assert told.tolist() == ["out of time", "lost connection", ""]


def three_engines(seed, rounds):
    """Equal ones, of which z loses many of its games on time; and how games ended."""
    lot, games, ends = random.Random(seed), [], []
    for number in range(rounds):
        for place, (one, other) in enumerate(itertools.combinations("xyz", 2)):
            for white, black in ((one, other), (other, one)):
                result = lot.choice(("1-0", "0-1", "1/2-1/2"))
                is_late = "z" in (white, black) and lot.random() < 0.3
                if is_late:
                    result = "0-1" if white == "z" else "1-0"
                games.append((white, black, result, 3 * number + place, moves_of(lot, 40)))
                ends.append("time forfeit" if is_late else "normal")
    return games, ends


def test_tiers_and_intervals_that_rest_on_one_who_fails_are_refused(tmp_path):
    """Nobody is certified the best, and yet what is said of z is that of its clock."""
    games, ends = three_engines(1, 120)
    plain: Any = jaxrace.select(write(tmp_path / "g.pgn", games))
    assert (plain.certificate, plain.tiers) == (None, [["x", "y"], ["z"]])  # nothing tells why
    path = write(tmp_path / "g.pgn", games, ends)
    found: Any = jaxrace.select(path)
    late = sum(end != "normal" for end in ends)
    assert (found.status, len(found.tiers), found.proven) == (4, 1, ())
    assert f"without the {late} of 720, {late} of them lost by z," in found.refused
    assert jaxrace.gate(path, baseline="x").refused.startswith(
        "the verdict rests on games that did"
    )
    # Of few games nothing is claimed that could rest on them.
    few: Any = jaxrace.select(write(tmp_path / "g.pgn", games[:60], ends[:60]))
    assert (few.status, few.refused) == (3, "")


def test_drawn_games_are_not_lost_on_time(tmp_path):
    """A side that cannot mate draws when the other's time is out."""
    games = [(*one[:2], "1/2-1/2", *one[3:]) for one in match(1, 20)]
    ends = ["time forfeit" if number < 3 else "normal" for number in range(40)]
    games[0] = (*games[0][:2], "0-1", *games[0][3:])
    (said,) = [
        note for note in gate(write(tmp_path / "g.pgn", games, ends)).notes if "did not end" in note
    ]
    told = "games that did not end on the board: 3 (out of time 3); lost 1 by new; drawn 2"
    assert said == f"{told}; each counts"
