"""Makes open_bandit.npz from a downloaded wheel of obp 0.4.1.

    pip download obp==0.4.1 --no-deps
    python -m jaxrace.envs.open_bandit.make obp-0.4.1-py3-none-any.whl

The columns, N = 60,000 rows in the order of the campaigns, loggers and CSV files, I = 160 items:

    campaign, logger            uint8 [N], places in CAMPAIGNS and LOGGERS
    item_id                     int16 [N]
    position                    uint8 [N], 0 (left), 1 or 2
    click                       uint8 [N], 0 or 1
    propensity_score            float32 [N]
    user_feature_0 .. 3         uint8 [N], categories
    user_feature_codes          int16 [4], how many categories each has
    item_campaign               uint8 [I]
    item_feature_0              float32 [I]
    item_feature_1 .. 3         uint8 [I], categories

A category is its place among the sorted hashes that occur: those of users are the same in all
files, but each campaign and logger has its own for items, which mean something in their campaign
only.
"""

import csv
import io
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from jaxrace.envs.open_bandit.data import CAMPAIGNS, FILE_NAME, LOGGERS

_FOLDER = "obp/dataset/obd"
_USER_FEATURES = [f"user_feature_{i}" for i in range(4)]
_ITEM_CATEGORIES = [f"item_feature_{i}" for i in range(1, 4)]

_Table = dict[str, np.ndarray]  # columns of strings


def _read(wheel: zipfile.ZipFile, name: str) -> _Table:
    with wheel.open(f"{_FOLDER}/{name}") as file:
        rows = list(csv.reader(io.TextIOWrapper(file, "utf-8")))
    return dict(zip(rows[0], np.array(rows[1:]).T, strict=True))


def _codes(column: np.ndarray) -> np.ndarray:
    return np.unique(column, return_inverse=True)[1].astype(np.uint8)


def _read_items(wheel: zipfile.ZipFile, campaign: str) -> _Table:
    """The items of a campaign, sorted by number, their features in numbers."""
    tables = []
    for logger in LOGGERS:
        table = _read(wheel, f"{logger}/{campaign}/item_context.csv")
        numbers = table["item_id"].astype(int)
        if not np.array_equal(np.sort(numbers), np.arange(numbers.size)):
            raise ValueError(f"item_id: expected 0 .. {numbers.size - 1}, got {numbers}")
        tables.append({name: column[np.argsort(numbers)] for name, column in table.items()})
    first, second = tables
    same = np.array_equal(first["item_feature_0"], second["item_feature_0"])
    for name in _ITEM_CATEGORIES:
        pairs = np.unique(np.stack([first[name], second[name]]), axis=1)
        same &= all(len(np.unique(side)) == len(side) for side in pairs)
    if not same:
        raise ValueError(f"{campaign}: expected the same items for both loggers, got others")
    items = {name: _codes(first[name]) for name in _ITEM_CATEGORIES}
    return {"item_feature_0": first["item_feature_0"].astype(np.float32), **items}


def make(wheel_path: Path) -> dict[str, np.ndarray]:
    """Return the columns of the file from a wheel of obp 0.4.1.

    ValueError if the two loggers of a campaign did not show the same items.
    """
    logs: list[_Table] = []
    items: list[_Table] = []
    with zipfile.ZipFile(wheel_path) as wheel:
        for place, campaign in enumerate(CAMPAIGNS):
            table = _read_items(wheel, campaign)
            count = table["item_feature_0"].size
            items.append({"item_campaign": np.full(count, place, np.uint8), **table})
            for logger_place, logger in enumerate(LOGGERS):
                rows = _read(wheel, f"{logger}/{campaign}/{campaign}.csv")
                logs.append(
                    {
                        "campaign": np.full(rows["click"].size, place, np.uint8),
                        "logger": np.full(rows["click"].size, logger_place, np.uint8),
                        "item_id": rows["item_id"].astype(np.int16),
                        "position": (rows["position"].astype(int) - 1).astype(np.uint8),
                        "click": rows["click"].astype(np.uint8),
                        "propensity_score": rows["propensity_score"].astype(np.float32),
                        **{name: rows[name] for name in _USER_FEATURES},
                    }
                )
    columns = {
        name: np.concatenate([table[name] for table in tables])
        for tables in (logs, items)
        for name in tables[0]
    }
    for name in _USER_FEATURES:
        columns[name] = _codes(columns[name])
    counts = [int(columns[name].max()) + 1 for name in _USER_FEATURES]
    return {**columns, "user_feature_codes": np.array(counts, np.int16)}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m jaxrace.envs.open_bandit.make WHEEL")
    made: Any = make(Path(sys.argv[1]))  # Any: of its keywords, savez knows one to be no array
    np.savez_compressed(Path(__file__).parent / FILE_NAME, **made)
