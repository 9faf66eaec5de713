"""Games and votes: what is proven without a model, and tournaments that are going on."""

import itertools
import math

import numpy as np
import pytest

import jaxrace
from jaxrace.evidence.games import GamePairs, in_rounds
from jaxrace.evidence.levels import Bets
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.judging.alike_games import _of_laws, doubt_about_copies, doubt_of
from jaxrace.judging.rating.certified import elo_of, games_of
from jaxrace.tables import read_votes

BETS = Bets((0.1, 0.5, 0.95), (0.4, 0.3, 0.3))


def drawn(number, num_options, seed=0, chances=(0.4, 0.3, 0.3)):
    rng = np.random.default_rng(seed)
    first = rng.integers(num_options, size=number)
    second = (first + rng.integers(1, num_options, size=number)) % num_options
    return first, second, rng.choice([1.0, 0.0, -1.0], number, p=chances)


@pytest.mark.parametrize("gap", [0.0, 0.08])
@pytest.mark.parametrize("null", [0.0, -0.2, 0.1])
def test_the_process_of_a_pair(null, gap):
    """Against one pair and one game after the other, written out."""
    first, second, d = drawn(200, 4)
    games = GamePairs(4, first, second, d, BETS, gap=gap)
    pairs = np.array([(i, j) for i in range(4) for j in range(4) if i != j]).T
    found = games.process(pairs[0], pairs[1], null)
    for place, (i, j) in enumerate(pairs.T):
        products, highest, total, number, squares = np.ones(3), 0.0, 0.0, 0, 3.0
        for one, other, x in zip(first, second, d, strict=True):
            if {one, other} == {i, j}:
                x = x if one == i else -x
                own = (gap * (10 + number) / squares, *BETS.bets[1:]) if gap else BETS.bets
                bets = np.minimum(own, 0.99 / (1 + null))
                squares += x**2
                products = products * (1 + bets * (x - null))
                highest = max(highest, float(products @ BETS.weights))
                total, number = total + x, number + 1
        assert found.common[place] == number == games.met[i, j]
        assert found.highest[place] == pytest.approx(math.log(highest))
        assert found.mean[place] == pytest.approx(total / number)
        np.testing.assert_allclose(found.log_bets[place], np.log(products))


def test_those_that_have_not_met():
    games = GamePairs(3, np.array([0]), np.array([1]), np.array([1.0]), BETS)
    found = games.process(np.array([0, 1, 2]), np.array([2, 2, 0]))
    assert np.isneginf(found.highest).all()
    assert not found.common.any()
    assert not found.mean.any()


def test_games_with_sides_reversed_are_one():
    """White wins always: no difference between the two, and a game without its partner is none."""
    first, second = np.tile([0, 1], 40), np.tile([1, 0], 40)
    kept, _, d, left = in_rounds(first, second, np.ones(80))
    assert (len(kept), d.any(), left) == (40, False, 0)
    assert in_rounds(np.zeros(9, int), np.ones(9, int), np.ones(9))[3] == 9
    rows = {"white": ["x", "y"] * 40, "black": ["y", "x"] * 40, "result": ["1-0"] * 80}
    assert jaxrace.select(rows).certificate is None
    alone = {"white": ["x"] * 80, "black": ["y"] * 80, "result": ["1-0"] * 80}
    found = jaxrace.select(alone)
    assert found.certificate is None
    assert "games without their reverse, left out there: 80" in " ".join(found.notes)
    home = {"first": ["x"] * 80, "second": ["y"] * 80, "score": [1] * 80}
    assert jaxrace.select(home).certificate == "dominance"


def test_sorted_votes_prove_nothing():
    """Equal options, all wins of one first: the evidence was there, and is not believed."""
    scores = [1.0] * 60 + [0.0] * 60
    rows = {"first": ["x"] * 120, "second": ["y"] * 120, "score": scores}
    found = jaxrace.select(rows)
    assert found.certificate is None
    assert (found.headline(), found.status) == ("DATA REFUSED: games are hardly alike", 4)
    assert "by chance less than one of" in found.meaning()
    assert (found.confidence, found.sure, found.next) == (None, False, ())
    assert found.tiers == [["x", "y"]]


def test_the_order_of_valid_logs():
    """Each e-value of an order has the mean 1 over all orders of the same results: exactly."""
    for number, wins in ((8, 3), (9, 1), (7, 6)):
        places = np.array([*itertools.combinations(range(number), wins)])
        orders = (places[:, :, None] == np.arange(number)).any(1)
        means = np.exp([_of_laws(won) for won in orders]).mean(0)
        np.testing.assert_allclose(means, 1, rtol=1e-9)
    # Longer ones have blocks, whose e-values are at most 1 on average.
    rng, drawn = np.random.default_rng(0), np.zeros(100)
    found = []
    for won in (2, 30):
        drawn[:won] = 1
        found.append(np.mean([np.exp(_of_laws(rng.permutation(drawn > 0))) for _ in range(300)], 0))
    assert np.max(found) < 2


def reversed_pairs(seed, number, spread=200):
    """Points of one of two equal engines, White first: an opening twice, which White's bias has."""
    rng = np.random.default_rng(seed)
    elo = np.repeat(rng.normal(40, spread, number), 2) * np.tile([1, -1], number)
    share = 1 / (1 + 10 ** (-elo / 400))
    drawn, lot = np.minimum(0.5, 1.9 * np.minimum(share, 1 - share)), rng.random(2 * number)
    return np.where(lot < share - drawn / 2, 1.0, np.where(lot < share + drawn / 2, 0.5, 0.0))


def test_pairs_that_are_not_told_are_asked_for():
    """The patch first in each row: that is no sorting; with sides and rounds the same games count.

    What is sorted, or is there twice, is told as that.
    """
    points = reversed_pairs(1, 3000)
    names = np.array(["new", "old"])

    def judged(points, names, heads, **more):
        rows = {heads[0]: names[0], heads[1]: names[1], "result": points, **more}
        found = jaxrace.gate(rows, baseline="old"), jaxrace.select(rows)
        assert found[0].refused == found[1].refused
        assert found[0].status == found[1].status
        return found[0].refused

    def first(points):
        two = [["new"] * len(points), ["old"] * len(points)]
        words = np.array(["0-1", "1/2-1/2", "1-0"])[(2 * points).astype(int)]
        return judged(words.tolist(), two, ("engine1", "engine2"))

    said = first(points)
    assert said.startswith("games look like pairs that are not told: ")
    assert "say who had White, in columns white, black and result, and round" in said
    places = np.arange(6000)
    white = np.where(places % 2, 1 - points, points)
    words = np.array(["0-1", "1/2-1/2", "1-0"])[(2 * white).astype(int)].tolist()
    two = names[places % 2].tolist(), names[1 - places % 2].tolist()
    assert judged(words, two, ("white", "black"), round=(places // 2).tolist()) == ""
    of_pairs = points.reshape(-1, 2)
    for rows in (points[np.argsort(points)], of_pairs[np.argsort(of_pairs.sum(1))].ravel()):
        assert "votes must not be sorted" in first(rows)
    half = np.concatenate([np.sort(points[:3000]), points[3000:]])
    assert "votes must not be sorted" in first(half)
    assert first(np.tile(points[:3000], 2)).startswith("the same games twice: ")


@pytest.mark.parametrize("draws", [0.95, 0.98, 0.99])
def test_rare_wins_are_not_doubted(draws):
    """Two wins among draws lie side by side in one of fifty logs: no wonder."""
    rng, chances = np.random.default_rng(0), ((1 - draws) / 2, draws, (1 - draws) / 2)
    pair = np.zeros(100, int), np.ones(100, int)
    d = rng.choice([1.0, 0.0, -1.0], (400, 100), p=chances)
    assert not any(doubt_of(GamePairs(2, *pair, one, BETS), 4.0) for one in d)


def test_sorted_logs_are_doubted():
    """Many pairs with few games each; and results that are written three times in a row."""
    first, second, d = drawn(900, 10, chances=(0.2, 0.6, 0.2))
    assert not doubt_of(GamePairs(10, first, second, d, BETS), 4.0)
    rows = np.argsort(np.where(first < second, d, -d), kind="stable")
    games = GamePairs(10, first[rows], second[rows], d[rows], BETS)
    assert "votes must not be sorted" in doubt_of(games, 4.0)
    thrice = np.repeat(np.random.default_rng(0).choice([1.0, -1.0], 40), 3)
    pair = np.zeros(120, int), np.ones(120, int)
    assert "votes must not be sorted" in doubt_of(GamePairs(2, *pair, thrice, BETS), 4.0)


def test_players_who_change_prove_nothing():
    """Better at first, as much worse later: certain once, and refuted by all games."""
    rng, certain, doubted = np.random.default_rng(0), 0, 0
    for _ in range(40):
        won = rng.random(400) < np.linspace(0.7, 0.3, 400)
        rows = {"first": ["x"] * 400, "second": ["y"] * 400, "score": won.astype(float)}
        found = jaxrace.select(rows)
        certain += found.certificate is not None
        doubted += found.refused.startswith("games are hardly alike: ")
        assert all(one.low <= one.score <= one.high for one in found.proven)
    assert certain <= 4
    assert doubted >= 30


def test_copies_prove_nothing(tmp_path):
    """A log once more below itself, and games after both; three times over, with sides."""
    rng = np.random.default_rng(1)
    votes = [("x", "y", float(won)) for won in rng.random(80) < 0.65]
    for rows, certificate in ((votes, None), (votes * 2, None), (votes * 2 + votes[5:25], None)):
        found = jaxrace.select(rows, score="win")
        assert found.certificate is certificate
        assert found.refused.startswith("the same games twice: ") == (len(rows) > 80)
        assert (found.status, found.confidence is None) == (
            (4, True) if found.refused else (3, False)
        )
    sides = [("white", "black", "result")]
    sides += [(*rng.permutation(["x", "y"]), rng.choice(["1-0", "0-1"])) for _ in range(60)]
    path = tmp_path / "games.csv"
    path.write_text("\n".join(",".join(row) for row in [*sides, *sides[1:], *sides[1:]]) + "\n")
    assert "are the same as those from number" in jaxrace.gate(path, baseline="y").meaning()
    path.write_text("\n".join(",".join(row) for row in sides) + "\n")
    assert "are the same as those" not in jaxrace.gate(path, baseline="y").meaning()


def test_what_comes_again_by_chance():
    """Matches of few results, of one, of many pairs in the same order: hardly any block is alike.

    Of those that win always one block is as the other, and it is no copy.
    """
    rng, seen = np.random.default_rng(0), 0
    for _ in range(100):
        for share, number, options in ((0.5, 400, 2), (0.98, 400, 2), (0.8, 200, 5)):
            first = np.arange(number) % options
            second = (first + 1) % options
            d = np.where(rng.random(number) < share, 1.0, -1.0)
            seen += bool(doubt_about_copies(first, second, d))
    assert not seen
    pair = np.zeros(200, int), np.ones(200, int)
    assert not doubt_about_copies(*pair, np.ones(200))


def test_votes_about_one_item_are_one_result():
    """Four judges who nearly agree on 60 questions of two equal ones: 60 results, not 240."""
    rng, certain = np.random.default_rng(0), {"question_id": 0, "vote": 0}
    for _ in range(40):
        won = ((rng.random(60) < 0.5) ^ (rng.random((4, 60)) < 0.1)).ravel()
        rows = {"first": ["x"] * 240, "second": ["y"] * 240, "score": won.astype(float)}
        for head in certain:
            found = jaxrace.select({head: np.tile(np.arange(60), 4), **rows})
            notes = " ".join(found.notes)
            assert ("240 votes are 60 results" in notes) == (head == "question_id")
            certain[head] += found.certificate is not None
    assert certain["question_id"] <= 2 < certain["vote"]
    # Their mean, in either order of the two, and the same in several files.
    log = {"model_a": ["x", "y", "x"], "model_b": ["y", "x", "y"], "winner": ["x", "x", "y"]}
    found = read_votes({"prompt_id": ["p", "p", "q"], **log})
    games = games_of(found, 4.0).games
    assert games.of_pair(0, 1).tolist() == [1, -1]
    again = read_votes({"prompt_id": ["q", "o", "p"], **log})
    assert found.items is not None
    assert again.items is not None
    assert found.items[[2, 0]].tolist() == again.items[[0, 2]].tolist()
    assert read_votes({"prompt_id": ["p", "p", "p"], **log}).items is None
    assert jaxrace.select({"prompt_id": [*"ppq"], **log}).proven[0].games == 2


def test_without_an_order_evidence_is_that_of_all_games():
    first, second, d = drawn(60, 2)
    pair = np.array([0]), np.array([1])
    games = GamePairs(2, first, second, d, BETS, ordered=False)
    d = np.where(first == 0, d, -d)
    product = np.prod(1 + np.array(BETS.bets)[:, None] * d, 1) @ BETS.weights
    assert games.process(*pair).highest == pytest.approx(math.log(product))


def test_what_is_certified():
    rng = np.random.default_rng(0)
    strengths, rows = {"a": 1.5, "b": 0.0, "c": -1.5}, []
    for game in range(900):
        one, other = [("a", "b"), ("b", "c"), ("c", "a")][game % 3]
        chance = 1 / (1 + math.exp(strengths[other] - strengths[one]))
        rows.append({"first": one, "second": other, "score": float(rng.random() < chance)})
    found = jaxrace.select(rows)
    assert (found.certificate, found.leads, found.possible) == ("dominance", ["a"], ["a"])
    assert found.tiers == [["a"], ["b"], ["c"]]
    assert (
        "CERTIFIED: a\n  by the comparisons alone, without a model: it is better than each"
        in str(found)
    )
    for pair in found.proven:
        gap = 1 / (1 + math.exp(strengths[pair.worse] - strengths[pair.better]))
        assert pair.low < gap < pair.high
        assert pair.certain
    assert {"certificate", "tiers", "proven"} <= {*found.to_dict()}


def test_a_circle_is_no_dominance():
    """Each has won all games against the next: c beats a 60 to 0, and all are equally good."""
    two = ("a", "b"), ("b", "c"), ("c", "a")
    won = [{"first": i, "second": j, "winner": i} for _ in range(60) for i, j in two]
    found = jaxrace.select(won)
    assert found.certificate == "counts"
    assert found.possible == ["a", "b", "c"]
    assert "better than each" not in found.meaning()
    assert "certain wins and losses show that no option beats more" in found.meaning()


def test_margins_prove_nothing():
    """Players who win seldom but by far: wins would certify the one, and margins select the other.

    Margins of 1, 0 and -1 are wins.
    """
    margins = np.random.default_rng(0).permutation(np.tile([8.0, -1.0, -1.0, -1.0], 100))
    rows = {"first": ["a"] * 400, "second": ["b"] * 400, "margin": margins}
    found = jaxrace.select(rows, score="margin")
    assert (found.best, found.leads, found.certificate, found.proven) == (["a"], ["a"], None, ())
    assert "margins have no known range" in " ".join(found.notes)
    with pytest.raises(ValueError, match="data: expected games or votes, got margins"):
        jaxrace.gate(read_votes(rows, score="margin"), baseline="b")
    signs = jaxrace.select({**rows, "margin": np.sign(margins)}, score="margin")
    assert (signs.best, signs.leads, signs.certificate) == (["b"], ["b"], "dominance")


def test_counts_of_one_side_prove_nothing():
    """White's advantage alone may do this, as the same games row by row say."""
    heads = "white", "black", "white_wins", "black_wins", "draws"

    def judged(*rows):
        table = dict(zip(heads, zip(*rows, strict=True), strict=True))
        found = jaxrace.select(table), jaxrace.gate(table, baseline="y")
        said = " ".join((*found[0].notes, found[0].refused))
        assert found[0].refused == found[1].refused
        return found[0].certificate, found[1].candidates[0].verdict, said

    certificate, verdict, notes = judged(("x", "y", 130, 70, 0))
    assert (certificate, verdict) == (None, "?")  # refused: no such game would help
    assert "no opening was played with both colours" in notes
    assert "further games, left out there by lot: 200" in notes
    assert judged(("x", "y", 130, 70, 0), ("y", "x", 130, 70, 0))[:2] == (None, "too few")
    assert judged(("x", "y", 130, 70, 0), ("y", "x", 70, 130, 0))[:2] == ("dominance", "better")
    # A balanced few say what all of these cannot, in rows of any order.
    some = ("x", "y", 1300, 700, 0), ("y", "x", 65, 35, 0)
    assert judged(*some)[:2] == (None, "too few")
    assert judged(*some) == judged(*some[::-1])


def mean_of_elo(elo):
    """The mean difference that so many Elo expect."""
    return 2 / (1 + 10 ** (-elo / 400)) - 1


def test_elo():
    assert [mean_of_elo(elo_of(x) or 0.0) for x in (-0.5, 0.0, 0.9)] == pytest.approx(
        [-0.5, 0, 0.9]
    )


def test_games_are_seldom_wrong():
    """Two equal players who draw often, with a rule that plays on while it wants to."""
    wrong = 0
    for seed in range(300):
        d = np.random.default_rng(seed).choice([1.0, 0.0, -1.0], 400, p=[0.25, 0.5, 0.25])
        games = GamePairs(2, np.zeros(400, int), np.ones(400, int), d, shared_bets(4.0))
        wrong += games.process(np.array([0]), np.array([1])).highest[0] >= math.log(20)
    assert wrong / 300 <= 0.05
