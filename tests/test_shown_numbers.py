"""README and docs/ show what their commands make; the list is in tests/shown_numbers.py."""

import pytest
import shown
import shown_numbers


@pytest.mark.parametrize("one", shown_numbers.SHOWN, ids=lambda one: f"{one.file} {one.text[:30]}")
def test_it_is_shown(one):
    assert one.stands_there()
    assert shown.numbers(one.text)


@pytest.mark.parametrize(("file", "part", "command"), shown_numbers.LONG)
def test_long_commands_are_named_where_they_are_used(file, part, command):
    assert part
    page = (shown_numbers.CHECKOUT / file).read_text("utf-8")
    assert command in " ".join(page.split())


@pytest.mark.slow
@pytest.mark.usefixtures("shared_programs")
@pytest.mark.parametrize("command", shown_numbers.commands())
def test_it_comes_out(command):
    assert shown_numbers.differences(command) == []
