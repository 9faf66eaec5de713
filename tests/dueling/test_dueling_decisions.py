"""What SAVAGE may be asked: tests of independence against loops, and against what they claim."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import savage as reference
from reference.savage import Question
from savage_cases import decision_of

from jaxrace.dueling import CondorcetWinner, CopelandWinner
from papers.savage.questions import Best, NextBest

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


def name(question):
    words = [question.kind, question.num_arms, question.skipped or "", question.max_defeats or ""]
    return "-".join(str(word) for word in [*words, question.limits[0]])


@functools.partial(jax.jit, static_argnums=0)
def answers(decision, lower, upper):
    """Of boxes [number, N]."""
    return jax.vmap(lambda a, b: (decision.independent(a, b), decision.is_unique(a, b)))(
        lower, upper
    )


@functools.cache
def told(question, style):
    """Boxes [500, N], with the library's answers: independent [500, N], and unique [500]."""
    decision = decision_of(question)
    rng = np.random.default_rng([question.num_arms, len(style)])
    lower, upper = reference.draw_box(rng, 500, decision.num_parameters, style)
    return lower, upper, *(np.asarray(x) for x in answers(decision, lower, upper))


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
def test_answers_against_the_equations(question, style):
    lower, upper, independent, unique = told(question, style)
    boxes = list(zip(lower, upper, strict=True))
    expected = np.array([reference.is_unique(question, *box) for box in boxes])
    assert expected.any()
    if style == "grid" and question.kind in ("best", "next"):  # it may or may not count ties
        assert (unique <= expected).all()
    else:
        np.testing.assert_array_equal(unique, expected)
    is_settled = expected[:, None]
    expected = np.array([reference.independent(question, *box) for box in boxes])
    assert 0 < expected.mean() < 1
    if question.kind == "next":  # eq. 6 leaves open the arm that is certainly the one wanted
        assert (independent >= expected).all()
        independent = np.where(is_settled, expected, independent)
    np.testing.assert_array_equal(independent, expected)


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


@pytest.mark.parametrize("question", QUESTIONS, ids=name)
def test_which_changes_matter(question):
    """Decide again after every change of a single value."""
    decision = decision_of(question)
    rng = np.random.default_rng(5)
    means, others = rng.random((2, 300, decision.num_parameters)).astype(np.float32)
    found = np.asarray(jax.jit(jax.vmap(decision.changes))(means, others))
    pairs = zip(means, others, strict=True)
    expected = [reference.changes(question, *pair) for pair in pairs]
    np.testing.assert_array_equal(found, expected)
    assert 0 < found.mean() < 1


@pytest.mark.parametrize("question", QUESTIONS, ids=name)
def test_decisions_and_their_ties(question):
    """On a coarse grid, where ties are frequent."""
    decision = decision_of(question)
    rng = np.random.default_rng(6)
    means = (rng.integers(0, 5, (300, decision.num_parameters)) / 4).astype(np.float32)
    found = np.asarray(jax.jit(jax.vmap(decision.decide))(means))
    np.testing.assert_array_equal(found, [reference.decide(question, mean) for mean in means])


def test_utilities():
    mean = jnp.array([0.5, 0.9, 0.5, 0.25])
    assert Best(4).utilities(mean).tolist() == mean.tolist()
    assert NextBest(4, 0).utilities(mean).tolist() == mean.tolist()
    assert NextBest(4, 2).utilities(mean).tolist() == [0, 0, 0.5, 0.25]


@pytest.mark.parametrize(
    "question", [Question("best", 3), Question("copeland", 2), Question("borda", 7)], ids=name
)
def test_choices_name_parameters(question):
    decision = decision_of(question)
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
