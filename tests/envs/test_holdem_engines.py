"""The betting against an engine that others wrote: OpenSpiel's server of the ACPC.

Every recorded hand is played again there, and every step compared: who acts, whether it may fold,
which raises are legal, what the sizes amount to, when the hand is over, and who has won what.
"""

import pytest
from reference import holdem_engines, holdem_recordings

from jaxrace.envs.holdem import abstraction, betting

pytestmark = pytest.mark.slow


# Hands with the seven actions, and with any raise.
@pytest.mark.parametrize(("free", "count", "longest"), [(False, 20_000, 12), (True, 5_000, 18)])
def test_random_hands(free, count, longest):
    pytest.importorskip("pyspiel")
    recording = holdem_recordings.record(betting, abstraction, 1, count, free)
    assert not recording.illegal.any()
    engine = holdem_engines.OpenSpiel()
    for number in range(count):
        assert holdem_engines.first_difference(engine, recording, number) is None
    # What is recorded reaches every corner of the rules.
    steps, won = recording.steps, set(recording.payoffs[:, 0].tolist())
    length, short = steps.on.sum(axis=0).max(), (steps.least == steps.most) & steps.on
    assert longest <= length < len(steps.on)
    assert set(steps.street[steps.on].tolist()) == {0, 1, 2, 3}
    assert short.any()
    assert (steps.on & (steps.least > steps.most)).any()
    assert {-50, 100, -100, -20_000, 20_000, 0} <= won
