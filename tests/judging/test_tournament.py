"""Tournaments on the host: who plays next, what is counted, certified and kept."""

import math

import numpy as np
import pytest

import jaxrace
from jaxrace.evidence.games import GamePairs
from jaxrace.evidence.task_bets import shared_bets


def test_a_tournament_and_its_log(tmp_path):
    path = tmp_path / "games.csv"
    rng, strength = np.random.default_rng(3), {"a": 0.0, "b": 1.0, "c": 0.3}

    def play(tournament, most=math.inf):
        while tournament.games < most and (matches := tournament.ask()):
            for first, second, games in matches:
                chance = 1 / (1 + math.exp(strength[second] - strength[first]))
                tournament.tell(first, second, (rng.random(games) < chance).astype(float))

    play(begun := jaxrace.Tournament(strength, log=path), 40)
    gone_on = jaxrace.Tournament(strength, log=path)
    assert gone_on.games == begun.games >= 40
    assert gone_on.ask() == begun.ask()
    play(gone_on)
    assert (gone_on.best, gone_on.certificate) == (["b"], "dominance")
    # Who comes later has met nobody yet, and all games count.
    with_another = jaxrace.Tournament([*strength, "d"], log=path)
    assert (with_another.games, with_another.certificate) == (gone_on.games, None)
    assert "d" in with_another.ask()[0]
    said = r"players: expected all players of the log, got a, b, without 'c' of line \d+ of the log"
    with pytest.raises(ValueError, match=said):
        jaxrace.Tournament("ab", log=path)
    # A log of games is judged alike by ``select``.
    judged = jaxrace.select(path, score="win")
    assert (judged.certificate, judged.leads) == ("dominance", ["b"])
    assert gone_on.result().leads == ["b"]
    assert not any("scores are read as" in note for note in jaxrace.select(path).notes)


def tell_both(tournament, first, second, results):
    """Each result twice, with sides reversed: no side is better off."""
    tournament.tell(first, second, results)
    mirrored = np.negative(results) if tournament.margin else 1 - np.asarray(results, float)
    tournament.tell(second, first, mirrored)


def test_votes_of_several_judges_are_one_result():
    """The mean vote of a game counts as one game, and a log keeps it."""
    of_judges, of_means = (jaxrace.Tournament(["a", "b"]) for _ in range(2))
    votes = np.random.default_rng(0).choice([0, 0.5, 1], (30, 3), p=[0.2, 0.2, 0.6])
    tell_both(of_judges, "a", "b", votes)
    tell_both(of_means, "b", "a", 1 - votes.mean(1))
    assert of_judges.games == of_means.games == 60
    found = [x._table.highest[0, 1] for x in (of_judges, of_means)]
    assert found[0] == pytest.approx(found[1])
    games = GamePairs(2, *np.divmod(np.ones(30, int), 2), 2 * votes.mean(1) - 1, shared_bets(4.0))
    assert found[0] == pytest.approx(games.process(np.array([0]), np.array([1])).highest[0])


@pytest.mark.parametrize(("share", "batch", "most"), [(1.0, 20, 0), (0.8, 100, 1), (0.7, 100, 1)])
def test_being_first_proves_nothing(share, batch, most):
    """Equal players, and who is first wins so often: five in a hundred may be certified wrongly."""
    certified = 0
    for seed in range(20):
        rng, tournament = np.random.default_rng(seed), jaxrace.Tournament(["a", "b"], batch=batch)
        for first, second, games in [x for _ in range(3) for x in tournament.ask()]:
            tournament.tell(first, second, rng.random(games) < share)
        certified += tournament.certificate is not None
    assert certified <= most


def test_first_always_wins_and_a_tournament_goes_on():
    tournament = jaxrace.Tournament(["a", "b"], batch=20)
    for first, second, games in tournament.ask():
        tournament.tell(first, second, np.ones(games))
    assert (tournament.certificate, tournament.games, tournament.waiting) == (None, 20, 0)
    assert tournament._table.sums.tolist() == [[0, 0], [0, 0]]
    assert sorted(x.games for x in tournament.ask()) == [10, 10]
    assert tournament.result().certificate is None


def test_a_game_waits_for_its_counterpart(tmp_path):
    tournament = jaxrace.Tournament(["a", "b"], batch=7, log=tmp_path / "log.csv")
    tournament.tell("a", "b", np.ones(60))
    assert (tournament.games, tournament.waiting, tournament.certificate) == (60, 60, None)
    assert tournament._table.met.sum() == 0
    # A log is judged alike by ``select``: sides count there, too.
    assert jaxrace.select(tmp_path / "log.csv", score="win").certificate is None
    assert tournament.ask() == [("b", "a", 7)]
    # The k-th with the k-th: two results of 1/2 each, and one of 3/4 for a.
    for result in (1, 1, 0.5):
        tournament.tell("b", "a", result)
    assert tournament.waiting == 57
    assert [d for _, _, d in tournament._results] == [0, 0, 0.5]
    again = jaxrace.Tournament(["a", "b"], log=tmp_path / "log.csv")
    assert (again.waiting, again._results) == (57, tournament._results)
    tournament.tell("b", "a", np.zeros(57))
    assert (tournament.waiting, tournament.best) == (0, ["a"])


def test_a_match_of_one_game_alternates():
    tournament, firsts = jaxrace.Tournament(["a", "b"], batch=1), []
    for _ in range(6):
        (match,) = tournament.ask()
        firsts.append(match.first)
        tournament.tell(*match[:2], 1)
    assert firsts in (["a", "b"] * 3, ["b", "a"] * 3)
    assert tournament.waiting == 0


@pytest.mark.parametrize("top", [1, 2, "all"])
def test_matches_side_by_side_are_of_different_pairs(top):
    tournament, rng = jaxrace.Tournament("abcde", top, batch=4), np.random.default_rng(0)
    for _ in range(30):
        alone, several, every = tournament.ask(), tournament.ask(3), tournament.ask(99)
        assert (several[:2], every[:6], len(several)) == (alone, several, 6)
        pairs = [frozenset(match[:2]) for match in every]
        assert pairs[::2] == pairs[1::2]
        assert len({*pairs}) == len(pairs) / 2
        for first, second, games in several:
            tournament.tell(first, second, rng.choice([0, 0.5, 1], games))
    assert jaxrace.Tournament("ab").ask(5) == jaxrace.Tournament("ab").ask()


def test_margins(tmp_path):
    """One wins seldom but by far: better by margins, not by wins."""
    margins, path = np.tile([8.0, -1.0, -1.0, -1.0], 60), tmp_path / "margins.csv"
    by_margin = jaxrace.Tournament(["a", "b"], margin=10, log=path)
    tell_both(by_margin, "a", "b", margins)
    by_wins = jaxrace.Tournament(["a", "b"])
    tell_both(by_wins, "a", "b", margins > 0)
    assert path.read_text().splitlines()[:3] == ["home,away,margin of 10", "a,b,8", "a,b,-1"]
    again = jaxrace.Tournament(["a", "b"], margin=10, log=path)
    np.testing.assert_array_equal(again._table.highest, by_margin._table.highest)
    assert (by_margin.best, by_wins.best) == (["a"], ["b"])
    # As they are sorted in fours neighbours are unlike; mixed they prove it.
    assert by_margin.certificate is by_wins.certificate is None
    mixed, by_margin = (
        np.random.default_rng(0).permutation(margins),
        jaxrace.Tournament("ab", margin=10),
    )
    tell_both(by_margin, "a", "b", mixed)
    assert (by_margin.best, by_margin.certificate) == (["a"], "dominance")
    assert by_margin.result().leads == ["a"]
    with pytest.raises(ValueError, match="results: expected numbers from -10 to 10"):
        by_margin.tell("a", "b", 11)


@pytest.mark.parametrize(("written", "read"), [(100, 5), (100, None), (None, 5)])
def test_a_log_keeps_its_margin(tmp_path, written, read):
    path = tmp_path / "log.csv"
    jaxrace.Tournament("ab", margin=written, log=path).tell("a", "b", 1)
    assert jaxrace.Tournament("ab", margin=written, log=path).games == 1
    with pytest.raises(ValueError, match=rf"margin: expected that of the log, {written}.*{read}"):
        jaxrace.Tournament("ab", margin=read, log=path)


def test_players_in_a_circle_end_a_tournament():
    """Each beats one of the others: all are equally good by counts; an order does not exist."""
    names = ["a", "b", "c"]
    of_best, of_order = jaxrace.Tournament(names), jaxrace.Tournament(names, "all")
    for tournament, certificate in ((of_best, "counts"), (of_order, None)):
        while (matches := tournament.ask()) and tournament.games < 1000:
            for first, second, games in matches:
                tournament.tell(first, second, np.full(games, first + second in "abca"))
        assert tournament.doubt == ""
        assert tournament.games < 300
        assert tournament.certificate == certificate


def test_what_a_tournament_refuses(tmp_path):
    tournament = jaxrace.Tournament(["a", "b"])
    with pytest.raises(ValueError, match="first: expected one of a, b, got 'x'"):
        tournament.tell("x", "a", 1)
    with pytest.raises(ValueError, match="second: expected another player, got 'a'"):
        tournament.tell("a", "a", 1)
    with pytest.raises(ValueError, match="results: expected numbers from 0 to 1"):
        tournament.tell("a", "b", [1, 2])
    with pytest.raises(ValueError, match="players: expected names of their own"):
        jaxrace.Tournament(["a", "a"])
    (tmp_path / "log.csv").write_text("first,second,score\na,b,1\n")
    with pytest.raises(ValueError, match="log: expected home,away,score in line 1"):
        jaxrace.Tournament(["a", "b"], log=tmp_path / "log.csv")
    (tmp_path / "log.csv").write_text("home,away,score\na,z,1\n")
    said = (
        "players: expected all players of the log, got a, b, without 'z' of line 2 of the log: add"
    )
    with pytest.raises(ValueError, match=said):
        jaxrace.Tournament(["a", "b"], log=tmp_path / "log.csv")
    (tmp_path / "log.csv").write_text("home,away,score\na,b,2\n")
    with pytest.raises(ValueError, match=r"log: expected .* in line 2, got 'a,b,2'"):
        jaxrace.Tournament(["a", "b"], log=tmp_path / "log.csv")
    (tmp_path / "log.csv").write_text("home,away,score\na,b,0")
    with pytest.raises(ValueError, match="log: expected a line break at its end"):
        jaxrace.Tournament(["a", "b"], log=tmp_path / "log.csv")


def test_results_in_an_order_that_chance_hardly_makes_prove_nothing():
    """b wins, then a does: evidence for either, which is believed of neither."""
    tournament = jaxrace.Tournament(["a", "b"])
    tell_both(tournament, "a", "b", np.zeros(12))
    assert (tournament.best, tournament.certificate, tournament.doubt) == (["b"], "dominance", "")
    tell_both(tournament, "a", "b", np.ones(200))
    assert (tournament.best, tournament.certificate, tournament.ask()) == (["a"], None, [])
    assert "by chance less than one of" in tournament.doubt
    found = tournament.result()
    assert found.certificate is None
    assert (found.refused, found.status) == (tournament.doubt, 4)


def test_a_mean_outside_of_its_interval_proves_nothing():
    """Twelve won, then one of three: a is better as evidence stands, and was far better once."""
    tournament = jaxrace.Tournament(["a", "b"])
    tell_both(tournament, "a", "b", np.ones(12))
    assert (tournament.certificate, tournament.doubt) == ("dominance", "")
    tell_both(tournament, "a", "b", ([0, 0, 1] * 5)[:14])
    assert (tournament.best, tournament.certificate, tournament.ask()) == (["a"], None, [])
    assert "interval" in tournament.doubt
    assert "order" not in tournament.doubt
    found = tournament.result()
    assert (found.certificate, found.tiers) == (None, [["a", "b"]])
    assert not any(pair.certain for pair in found.proven)
    assert found.refused == tournament.doubt


def test_a_log_that_was_told_twice_proves_nothing():
    tournament, rng = jaxrace.Tournament(["a", "b"]), np.random.default_rng(0)
    games = rng.choice([0, 0.5, 1], 150, p=[0.1, 0.3, 0.6])
    tell_both(tournament, "a", "b", games)
    assert (tournament.certificate, tournament.doubt) == ("dominance", "")
    tell_both(tournament, "a", "b", games)
    assert (tournament.certificate, tournament.ask()) == (None, [])
    assert "are the same as those from number" in tournament.doubt
    assert tournament.result().headline() == "DATA REFUSED: the same games twice"


def test_games_that_wait_may_be_those_that_were_lost():
    """Half of what a loses as the second is not told: what a result refuses is not certified."""
    refused = 0
    for seed in range(6):
        tournament, rng = jaxrace.Tournament(["a", "b"]), np.random.default_rng(seed)
        for one, other in rng.choice([0, 0.5, 1], (200, 2), p=[0.3, 0.3, 0.4]).tolist():
            tournament.tell("a", "b", [one])
            if other < 1 or rng.random() < 0.5:
                tournament.tell("b", "a", [other])
        found = tournament.result()
        if tournament._look().certificate:
            refused += bool(found.refused)
            assert tournament.certificate is None or not found.refused
            assert tournament.doubt == found.refused
    assert refused >= 2


def test_the_whole_order_is_answered():
    """All in their order, certified as the tournament says, and never the best alone."""
    rng, quality = np.random.default_rng(0), {"a": 2.0, "b": 1.0, "c": 0.0}
    tournament = jaxrace.Tournament(["c", "a", "b"], "all")
    while (matches := tournament.ask()) and tournament.games < 2000:
        for first, second, games in matches:
            chance = 1 / (1 + np.exp(1.2 * (quality[second] - quality[first])))
            tournament.tell(first, second, (rng.random(games) < chance).astype(float))
        found = tournament.result()
        is_certain = tournament.certificate is not None
        assert (found.certificate, found.status) == (tournament.certificate, 0 if is_certain else 3)
        assert found.best == tournament.best == tournament.ranking
    found = tournament.result()
    assert found.headline() == "CERTIFIED ORDER: a, b, c"
    assert found.asked().startswith("Order of 3 options")
    assert [one.name for one in found.options] == ["a", "b", "c"]
    assert found.meaning().count("each is better than each of those behind it") == 1
    few = jaxrace.Tournament(["a", "b", "c"], "all")
    few.tell("a", "b", 1)
    assert few.result().headline().startswith("ORDER NOT CERTIFIED, a guess: ")


def test_players_without_a_game_may_still_be_the_best():
    tournament = jaxrace.Tournament("abcd", 2)
    tell_both(tournament, "a", "b", np.ones(40))
    found = tournament.result()
    assert (tournament.certificate, found.certificate, found.status) == (None, None, 3)
    assert found.asked().startswith("Top 2 of 4 options")
    assert {"c", "d"} <= {*found.possible}
    assert "players without a game so far: c, d" in found.notes
    alone = jaxrace.Tournament("abc")
    tell_both(alone, "a", "b", np.ones(40))
    assert alone.result().certificate is None


def test_results_as_a_pgn_has_them():
    tournament = jaxrace.Tournament(["a", "b"])
    tournament.tell("a", "b", ["1-0", "1/2-1/2", "0-1"])
    tournament.tell("b", "a", "1-0")
    tournament.tell("a", "b", [["1-0", "½-½"]])  # of two judges
    assert [share for *_, share in tournament._games] == [1, 0.5, 0, 1, 0.75]
    for told in (["1/2-1/2", "*"], ["won"], [None], [], [[1], [1, 0]]):
        with pytest.raises(jaxrace.core.validation.BadArgument, match=r"1-0, 0-1 and 1/2-1/2 of"):
            tournament.tell("a", "b", told)
    with pytest.raises(ValueError, match="results: expected numbers from -3 to 3"):
        jaxrace.Tournament(["a", "b"], margin=3).tell("a", "b", "1-0")
    assert tournament.games == 5
