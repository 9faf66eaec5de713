"""What SAVAGE may be asked: tests of independence against loops, and against what they claim."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import savage as reference
from reference.savage import Question

from jaxrace.dueling import (
    Best,
    BordaWinner,
    CondorcetWinner,
    CopelandWinner,
    Counting,
    Introspection,
    NextBest,
    Savage,
    introspection,
)

QUESTIONS = [
    Question("best", 2),
    Question("best", 4),
    Question("next", 3, skipped=1),
    Question("next", 6, skipped=3),
    Question("counting", 3),
    Question("counting", 3, limits=(0.25, 0.75)),  # which bounds on the grid hit exactly
    Question("copeland", 2),
    Question("copeland", 4),
    Question("copeland", 6),
    Question("copeland", 4, max_defeats=1),
    Question("condorcet", 3),
    Question("condorcet", 5),
    Question("borda", 3),
    Question("borda", 4),
]
SMALL = [question for question in QUESTIONS if question.num_arms <= 4]


def name(question):
    words = [question.kind, question.num_arms, question.skipped or "", question.max_defeats or ""]
    return "-".join(str(word) for word in [*words, question.limits[0]])


def make(question):
    """The decision of the library."""
    count = question.num_arms
    if question.kind == "next":
        return NextBest(count, question.skipped)
    if question.kind == "counting":
        return Counting(count, *question.limits)
    if question.kind in ("copeland", "condorcet"):
        kinds = {"copeland": CopelandWinner, "condorcet": CondorcetWinner}
        return kinds[question.kind](count, question.max_defeats)
    return {"best": Best, "borda": BordaWinner}[question.kind](count)


@functools.partial(jax.jit, static_argnums=0)
def answers(decision, lower, upper):
    """Of boxes [number, N]."""
    return jax.vmap(lambda a, b: (decision.independent(a, b), decision.is_unique(a, b)))(
        lower, upper
    )


@functools.cache
def told(question, style):
    """Boxes [500, N], with the library's answers: independent [500, N], and unique [500]."""
    decision = make(question)
    rng = np.random.default_rng([question.num_arms, len(style)])
    lower, upper = reference.draw_box(rng, 500, decision.num_parameters, style)
    return lower, upper, *(np.asarray(x) for x in answers(decision, lower, upper))


def draw_points(rng, lower, upper, number):
    """Points float32 [number, N] of a box; a few coordinates are at its bounds."""
    share = rng.random((number, len(lower)))
    share = np.where(rng.random(share.shape) < 0.1, np.round(share), share)
    return np.clip(lower + share * (upper - lower), lower, upper)


def is_feasible(question, point):
    """Is it in F: of eq. 12, or of SAVAGE-Borda?"""
    if not question.is_about_pairs:
        return True
    x, _ = reference.square(question, point, point)
    if question.kind == "condorcet":
        return max(reference.certain_wins(x)) == question.num_arms - 1
    return question.kind != "borda" or any(reference.borda_possible(x, x))


@pytest.mark.parametrize("style", ["grid", "anywhere"])
@pytest.mark.parametrize("question", QUESTIONS, ids=name)
def test_independence_against_the_equations(question, style):
    lower, upper, found, _ = told(question, style)
    boxes = zip(lower, upper, strict=True)
    expected = np.array([reference.independent(question, *box) for box in boxes])
    if question.kind == "next":  # eq. 6 leaves open the arm that is certainly the one wanted
        boxes = zip(lower, upper, strict=True)
        unique = np.array([reference.is_unique(question, *box) for box in boxes])
        assert (found >= expected).all()
        found = np.where(unique[:, None], expected, found)
    np.testing.assert_array_equal(found, expected)
    assert 0 < expected.mean() < 1


@pytest.mark.parametrize("style", ["grid", "anywhere"])
@pytest.mark.parametrize("question", QUESTIONS, ids=name)
def test_uniqueness_against_the_equations(question, style):
    lower, upper, _, found = told(question, style)
    boxes = zip(lower, upper, strict=True)
    expected = np.array([reference.is_unique(question, *box) for box in boxes])
    if style == "grid" and question.kind in ("best", "next"):  # it may or may not count ties
        assert (found <= expected).all()
    else:
        np.testing.assert_array_equal(found, expected)
    assert expected.any()


@pytest.mark.parametrize("style", ["grid", "anywhere"])
@pytest.mark.parametrize("question", SMALL, ids=name)
def test_what_is_independent_never_matters(question, style):
    """Change one parameter at a time: up to ties the decision stays."""
    rng = np.random.default_rng(2)
    lower, upper, found, _ = told(question, style)
    tried = 0
    for number, parameter in list(zip(*np.nonzero(found), strict=True))[:150]:
        box = lower[number], upper[number]
        points = draw_points(rng, *box, 6)
        others = points.copy()
        others[:, parameter] = draw_points(rng, *box, 6)[:, parameter]
        for pair in zip(points, others, strict=True):
            if all(is_feasible(question, point) for point in pair):
                before, after = (reference.decisions(question, point) for point in pair)
                assert before & after
                # Who are tied stays too, but where bounds that touch count as apart.
                assert before == after or question.kind in ("best", "next", "borda")
                tried += 1
    assert tried > 100


@pytest.mark.parametrize("style", ["grid", "anywhere"])
@pytest.mark.parametrize("question", [q for q in SMALL if q.max_defeats is None], ids=name)
def test_what_is_unique_is_the_decision_everywhere(question, style):
    rng = np.random.default_rng(3)
    lower, upper, _, found = told(question, style)
    tried = 0
    for number in np.flatnonzero(found)[:80]:
        points = draw_points(rng, lower[number], upper[number], 10)
        feasible = [x for x in points if is_feasible(question, x)]
        common = [reference.decisions(question, x) for x in feasible]
        if common:
            assert set.intersection(*common)
            tried += 1
    assert tried > 3


def test_the_stop_by_possible_defeats():
    question = Question("copeland", 4, max_defeats=1)
    rng = np.random.default_rng(4)
    lower, upper, _, found = told(question, "anywhere")
    always = told(Question("copeland", 4), "anywhere")[-1]
    assert (found >= always).all()
    assert (found > always).any()
    for number in np.flatnonzero(found > always):
        points = draw_points(rng, lower[number], upper[number], 10)
        wins = [reference.certain_wins(reference.square(question, x, x)[0]) for x in points]
        assert np.min(wins, axis=0).max() >= 2  # one arm, at all points


@pytest.mark.parametrize("question", [Question("copeland", 4), Question("condorcet", 3)], ids=name)
def test_uniqueness_is_complete(question):
    """All outcomes of duels that a box allows agree only where it says so."""
    lower, upper, _, found = told(question, "anywhere")
    for low, high, unique in list(zip(lower, upper, found, strict=True))[:200]:
        sides = np.stack([low, high], 1)
        corners = np.stack(np.meshgrid(*sides), -1).reshape(-1, len(low))
        seen = [reference.decisions(question, x) for x in corners if is_feasible(question, x)]
        same = len(set().union(*seen)) <= 1
        assert unique == same


def box_of(num_arms, known):
    """A box of verdicts: {(i, j): does i win?}, 1-based as in the supplement; else open."""
    pairs = Question("copeland", num_arms).choices
    sides = {1: (0.6, 1.0), 0: (0.0, 0.4), None: (0.0, 1.0)}
    bounds = [sides[known.get((i + 1, j + 1))] for i, j in pairs]
    return np.array(bounds, np.float32).T, pairs


def scores(decision, lower, upper):
    counts = jax.jit(lambda *box: (decision.certain_wins(*box), decision.possible_wins(*box)))
    return [x.tolist() for x in counts(lower, upper)]


def test_bounds_at_one_half():
    """A win is certain beyond 1/2 only, and possible at it: from both arms' sides."""
    decision = CopelandWinner(2)
    cases = [
        (0.5, 1.0, [0, 0], [1, 1]),
        (0.0, 0.5, [0, 0], [1, 1]),
        (0.5, 0.5, [0, 0], [1, 1]),
        (0.625, 1.0, [1, 0], [1, 0]),
        (0.0, 0.375, [0, 1], [0, 1]),
    ]
    for low, high, certain, possible in cases:
        box = np.array([[low], [high]], np.float32)
        assert scores(decision, *box) == [certain, possible]
        independent, unique = answers(decision, *box[:, None])
        assert independent.item() == unique.item() == (max(certain) > 0)


def test_the_example_of_the_supplement_for_copeland():
    known = {(1, 2): 1, (1, 3): 1, (1, 4): 1, (1, 5): 0, (2, 3): 1, (2, 4): 1, (2, 5): 0, (4, 5): 1}
    box, pairs = box_of(5, known)
    decision = CopelandWinner(5)
    assert scores(decision, *box) == [[3, 2, 0, 1, 2], [3, 2, 2, 2, 3]]
    independent, unique = answers(decision, *box[:, None])
    kept = [pair for pair, drop in zip(pairs, independent[0].tolist(), strict=True) if not drop]
    assert kept == [(2, 4)]  # (3, 5) in the supplement's numbers, where (3, 4) is dropped
    assert not unique.item()


def test_the_example_of_the_supplement_for_condorcet():
    box, _ = box_of(5, {(1, 5): 1, (2, 3): 0, (3, 4): 0, (4, 5): 0})
    decision = CondorcetWinner(5)
    _, possible = scores(decision, *box)
    assert [arm + 1 for arm in range(5) if possible[arm] == 4] == [1]
    independent, unique = answers(decision, *box[:, None])
    assert independent.all()
    assert unique.item()
    assert not answers(CopelandWinner(5), *box[:, None])[1].item()


def test_boxes_without_a_condorcet_winner():
    box, _ = box_of(3, {(1, 2): 1, (2, 3): 1, (1, 3): 0})
    independent, unique = answers(CondorcetWinner(3), *box[:, None])
    assert independent.all()
    assert unique.item()


def state_of(lower, upper, time):
    """A box in which nothing has been dropped yet, as a state of SAVAGE."""
    algorithm = Savage(len(lower), Best(len(lower)))
    state = algorithm.init(algorithm.params())
    return dataclasses.replace(
        state,
        lower=jnp.asarray(lower, jnp.float32),
        upper=jnp.asarray(upper, jnp.float32),
        time=jnp.asarray(time, jnp.int32),
    )


@pytest.mark.parametrize("growth", [1.0, 1.1, 2.0])
def test_when_introspection_takes_place(growth):
    """At the first number of samples beyond each power of the growth factor."""
    how = Introspection(1, 1, growth)
    box = state_of([0.5, 0.5], [0.5, 0.5], 0)  # a point: nothing matters

    @jax.jit
    @jax.vmap
    def is_tested(time):
        now = dataclasses.replace(box, time=time)
        return introspection.independent(how, Best(2), jax.random.key(0), now).all()

    times = np.arange(1, 300, dtype=np.int32)
    powers = growth ** np.arange(1, 400)
    expected = [growth == 1 or ((t - 1 < powers) & (powers <= t)).any() for t in times]
    np.testing.assert_array_equal(is_tested(times), expected)


def test_introspection_finds_what_the_exact_test_finds():
    """It drops all that cannot matter, and of what can only what hardly ever does."""
    question = Question("best", 3)
    rng = np.random.default_rng(3)
    lower, upper = reference.draw_box(rng, 400, 3, "anywhere")
    keys = jax.random.split(jax.random.key(4), 400)

    @functools.partial(jax.jit, static_argnums=0)
    def test(how, keys, lower, upper):
        def one(key, lower, upper):
            return introspection.independent(how, Best(3), key, state_of(lower, upper, 1))

        return jax.vmap(one)(keys, lower, upper)

    found = np.asarray(test(Introspection(10, 100, 1.0), keys, lower, upper))
    boxes = list(zip(lower, upper, strict=True))
    expected = np.array([reference.independent(question, *box) for box in boxes])
    chance = np.array([chances_to_matter(rng, *box) for box in boxes])
    assert (found >= expected).all()
    assert chance[expected].max() == 0
    assert not (found & (chance > 0.05)).any()
    assert (chance[~expected] > 0.05).mean() > 0.5
    # Few steps do not find them all.
    found = np.asarray(test(Introspection(1, 5, 1.0), keys, lower, upper))
    assert (found >= expected).all()
    assert (found & (chance > 0.05)).any()


def chances_to_matter(rng, lower, upper):
    """How often another value of a parameter changes which arm is best, [N]."""
    points, others = lower + rng.random((2, 1000, len(lower))) * (upper - lower)
    changed = np.repeat(points[:, None], len(lower), 1)
    places = np.arange(len(lower))
    changed[:, places, places] = others
    return (changed.argmax(-1) != points.argmax(-1)[:, None]).mean(0)


@pytest.mark.parametrize("question", QUESTIONS, ids=name)
def test_decisions_and_their_ties(question):
    """On a coarse grid, where ties are frequent."""
    decision = make(question)
    rng = np.random.default_rng(6)
    means = (rng.integers(0, 5, (300, decision.num_parameters)) / 4).astype(np.float32)
    found = np.asarray(jax.jit(jax.vmap(decision.decide))(means))
    np.testing.assert_array_equal(found, [reference.decide(question, mean) for mean in means])


def test_utilities():
    mean = jnp.array([0.5, 0.9, 0.5, 0.25])
    assert Best(4).utilities(mean).tolist() == mean.tolist()
    assert NextBest(4, 0).utilities(mean).tolist() == mean.tolist()
    assert NextBest(4, 2).utilities(mean).tolist() == [0, 0, 0.5, 0.25]
    with pytest.raises(ValueError, match="decision: expected one that gives arms a worth"):
        Counting(4).utilities(mean)


@pytest.mark.parametrize(
    "question", [Question("best", 3), Question("copeland", 2), Question("borda", 7)], ids=name
)
def test_choices_name_parameters(question):
    decision = make(question)
    assert decision.num_parameters == len(question.choices)

    @jax.jit
    @jax.vmap
    def there_and_back(number):
        choice = decision.choice_of(number)
        return choice, decision.parameter_of(choice), decision.parameter_of(choice[::-1])

    numbers = np.arange(len(question.choices), dtype=np.int32)
    choices, *back = there_and_back(numbers)
    assert choices.tolist() == [list(choice) for choice in question.choices]
    np.testing.assert_array_equal(back, [numbers, numbers])


@pytest.mark.parametrize(
    ("kind", "numbers", "message"),
    [
        (NextBest, (3, 3), "skipped: expected less than 3"),
        (NextBest, (3, -1), "skipped: expected"),
        (CopelandWinner, (1,), "num_arms: expected"),
        (BordaWinner, (1,), "num_arms: expected"),
        (CopelandWinner, (3, -1), "max_defeats: expected"),
        (CondorcetWinner, (3, 0.5), "max_defeats: expected"),
        (Counting, (3, 0.6, 0.4), "(above|below): expected"),
    ],
)
def test_bad_numbers_are_named(kind, numbers, message):
    with pytest.raises(ValueError, match=message):
        kind(*numbers)
