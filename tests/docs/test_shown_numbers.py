"""README and docs/ show what their commands make; the list is in tests/docs/shown_numbers.py."""

import faulthandler

import pytest
import shown
import shown_calls
import shown_commands
import shown_numbers
from shown_exempt import BARE, LONG

from papers.figures import FIGURES


def test_they_are_shown():
    assert [one.text for one in shown_numbers.SHOWN if not one.stands_there()] == []
    assert all(shown.numbers(one.text) for one in shown_numbers.SHOWN)


def test_every_command_is_on_a_list():
    """Of what it prints the numbers are compared, or it is said why they are not."""
    made = [(one.file, one.command) for one in shown_numbers.SHOWN]
    listed = [*made, *((one.file, one.command) for one in (*LONG, *BARE))]
    for page in shown_calls.PAGES:
        commands = [command for file, command in listed if file == page]
        for call in shown_calls.calls(page):
            assert any(shown_calls.is_of(call, command) for command in commands), (page, call)


def test_commands_that_are_not_run_are_named_on_the_page():
    for one in (*LONG, *BARE):
        calls = shown_calls.calls(one.file)
        assert any(shown_calls.is_of(call, one.command) for call in calls), one
        assert one.why


def test_every_experiment_and_figure_is_on_a_list():
    """Also those that no page calls by a command."""
    listed = " ".join([*shown_numbers.commands(), *(one.command for one in LONG)]) + " "
    for name in FIGURES:
        assert f"python -m papers {name} " in listed
    for path in (shown_commands.CHECKOUT / "docs" / "figures").glob("*.py"):
        assert path.stem in listed


@pytest.mark.slow
@pytest.mark.usefixtures("shared_programs")
@pytest.mark.parametrize("command", shown_numbers.commands())
def test_it_comes_out(command):
    # Some commands take longer than a test may in silence.
    faulthandler.cancel_dump_traceback_later()
    assert shown_numbers.differences(command) == []


@pytest.mark.parametrize(
    ("text", "other", "is_near"),
    [
        ("1,300 samples", "1,300 samples", True),
        ("1,300 samples", "1,301 samples", False),
        ("32 of 50 are right", "39 of 50 are right", True),
        ("32 of 50 are right", "45 of 50 are right", False),
        (".217 ± .006", "0.221 ± 0.006", True),
        (".217 ± .006", "0.241 ± 0.006", False),
        ("draws 487", "draws 487.4 ± 4.9", True),
        ("draws 487", "draws 499.4 ± 4.9", False),
        ("errs in 0", "errs in 0.00001 ± 0.00001", True),
        ("errs in 0", "errs in 0.05 ± 0.001", False),
        ("bound 0.417", "bound 0.43", True),
        ("bound 0.417", "bound 0.002", False),
        ("in 55% of 400 selections", "in 58% of 400 selections", True),
        ("in 55% of 400 selections", "in 70% of 400 selections", False),
        ("50 searches in 1.8 s", "50 searches in 0.1 s", True),
        ("ci passes", "ci fails", False),
    ],
)
def test_what_is_near_enough(text, other, is_near):
    assert (shown.differences(text, other) == []) is is_near
