"""What every reader of tables does with a file that it cannot use."""

import contextlib
from pathlib import Path

import pytest


def assert_refused(read, what, folder, name, text, message, **given):
    """In one line, which begins with what was to be read and has the message in it."""
    with contextlib.chdir(folder):
        if text is not None:
            Path(name).write_text(text)
        with pytest.raises(ValueError, match=rf"^{what}: expected .*[^\n]$") as error:
            read(name, **given)
    assert message in str(error.value)
