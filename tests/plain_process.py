"""Long arithmetic in a process of its own, with the compiler's settings that users have.

The tests' own settings (tests/conftest.py) compile in half the time what then runs slowly.
"""

import multiprocessing
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest


def list_in_plain_process(function: Callable[..., Iterable], *args: Any, **kwargs: Any) -> list:
    """``list(function(*args, **kwargs))``; all of it can be pickled."""
    spawn = multiprocessing.get_context("spawn")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLA_FLAGS", "")
        with ProcessPoolExecutor(1, mp_context=spawn) as pool:
            return pool.submit(_listed, function, args, kwargs).result()


def _listed(function: Callable[..., Iterable], args: tuple, kwargs: dict) -> list:
    return list(function(*args, **kwargs))
