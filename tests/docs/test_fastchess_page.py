"""The loop of the page on fastchess tells the games of any two in a file, opening by opening."""

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from game_files import game, moves_of

import jaxrace

PAGE = Path(__file__).parents[2] / "docs/how-to/22-fastchess-plays.md"
KINDS = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}


@pytest.mark.parametrize("names", ["ab", "abc", "abcd"])
def test_a_round_robin_is_told(names, tmp_path):
    """Sixteen games at once, which end in any order: the mean of each opening, and no other."""
    lot, texts, expected = random.Random(0), [], {}
    pairs = [(one, two) for place, one in enumerate(names) for two in names[place + 1 :]]
    for number in range(1, 31):
        for one, two in pairs:
            fen = f"{number}/{one}{two} w - - 0 1"
            ends = lot.choices([*KINDS], k=2)
            for white, black, end in ((one, two, ends[0]), (two, one, ends[1])):
                moves = moves_of(lot, 40)
                texts.append(game(white, black, end, number, moves, FEN=fen))
            mean = KINDS[ends[0]] - KINDS[ends[1]]
            expected.setdefault((one, two), []).append(mean)
    late = np.argsort(np.arange(len(texts)) + np.random.default_rng(0).uniform(0, 16, len(texts)))
    (tmp_path / "r.pgn").write_text("".join(texts[row] for row in late))
    found: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[0], found)
    tournament = jaxrace.Tournament(names)
    found["tell"](tournament, tmp_path / "r.pgn")
    assert (tournament.games, tournament.waiting) == (60 * len(pairs), 0)
    told: dict[tuple[str, str], list[float]] = {}
    for i, j, d in tournament._results:
        told.setdefault((names[i], names[j]), []).append(d)
    assert {two: sorted(own) for two, own in told.items()} == {
        two: sorted(own) for two, own in expected.items()
    }
