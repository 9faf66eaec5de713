"""The betting against engines that others wrote: OpenSpiel's and PokerKit's.

Every recorded hand is played again there, and every step compared: who acts, whether it may fold,
which raises are legal, what the sizes amount to, when the hand is over, and who has won what.
"""

from importlib.util import find_spec
from itertools import islice

import pytest
from reference import holdem_engines, holdem_mutants, holdem_recordings

from jaxrace.envs.holdem import abstraction, betting

# Engines of others, and what shows that they would find a wrong rule.
pytestmark = pytest.mark.slow

ENGINES = {
    "pyspiel": holdem_engines.OpenSpiel,
    "pokerkit": holdem_engines.Pokerkit,
}

# Hands with the seven actions, and with any raise.
FEW, MANY = (1_500, 500), (20_000, 5_000)


@pytest.fixture(scope="module", params=ENGINES)
def engine(request):
    pytest.importorskip(request.param)
    return ENGINES[request.param]()


def differences(engine, recording, most=None):
    """Those of the hands that differ, the first ones."""
    found = (
        holdem_engines.first_difference(engine, recording, number)
        for number in range(len(recording.finished))
    )
    return list(islice(filter(None, found), most))


def check(engine, seed, hands):
    for free, count in zip((False, True), hands, strict=True):
        recording = holdem_recordings.record(betting, abstraction, seed, count, free)
        assert not recording.illegal.any()
        assert differences(engine, recording) == []


def test_random_hands(engine):
    check(engine, 0, FEW)


def test_many_random_hands(engine):
    check(engine, 1, MANY)


def test_hands_are_varied():
    """What is recorded reaches every corner of the rules."""
    for free, longest in ((False, 12), (True, 18)):
        recording = holdem_recordings.record(betting, abstraction, 0, 1_000, free)
        steps, won = recording.steps, set(recording.payoffs[:, 0].tolist())
        length, short = steps.on.sum(axis=0).max(), (steps.least == steps.most) & steps.on
        assert longest <= length < len(steps.on)
        assert set(steps.street[steps.on].tolist()) == {0, 1, 2, 3}
        assert short.any()
        assert (steps.on & (steps.least > steps.most)).any()
        assert {-50, 100, -100, -20_000, 20_000, 0} <= won


@pytest.mark.parametrize("rule", holdem_mutants.MUTANTS)
def test_a_wrong_rule_is_found(rule):
    """Each rule changed once in the source of our engine, by each of the engines."""
    engines = [engine() for name, engine in ENGINES.items() if find_spec(name)]
    if not engines:
        pytest.skip("needs pyspiel or pokerkit")
    modules = holdem_mutants.mutate(rule)
    found = [False] * len(engines)
    for free in (False, True):
        if not all(found):
            recording = holdem_recordings.record(*modules, 2, 200, free)
            found = [
                before or bool(differences(engine, recording, most=1))
                for before, engine in zip(found, engines, strict=True)
            ]
    assert all(found)
