"""Makes open_bandit.npz from a downloaded wheel of obp 0.4.1.

    pip download obp==0.4.1 --no-deps
    python -m papers.improvements.open_bandit.make obp-0.4.1-py3-none-any.whl

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

import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from jaxrace.core.validation import BadArgument
from papers.improvements.open_bandit.data import CAMPAIGNS, FILE, LOGGERS

_LOGGED = {
    **dict.fromkeys(("campaign", "logger", "position", "click"), np.uint8),
    **{"item_id": np.int16, "propensity_score": np.float32},
}
_USER_FEATURES = [f"user_feature_{i}" for i in range(4)]
_ITEM_CATEGORIES = [f"item_feature_{i}" for i in range(1, 4)]


def _codes(column: Any) -> np.ndarray:
    return np.unique(column, return_inverse=True)[1].astype(np.uint8)


def _items(first: Any, second: Any, campaign: str) -> dict[str, np.ndarray]:
    """The items of a campaign, sorted by number, their features in numbers; of both loggers."""
    same = (first["item_id"] == np.arange(len(first))).all()
    for name in ("item_id", "item_feature_0"):
        same &= first[name].equals(second[name])
    for name in _ITEM_CATEGORIES:
        pairs = set(zip(first[name], second[name], strict=True))
        same &= all(len(set(side)) == len(pairs) for side in zip(*pairs, strict=True))
    if not same:
        raise BadArgument(f"{campaign}", "the same items for both loggers", "others")
    items = {name: _codes(first[name]) for name in _ITEM_CATEGORIES}
    return {"item_feature_0": first["item_feature_0"].to_numpy(np.float32), **items}


def make(wheel_path: Path) -> dict[str, np.ndarray]:
    """Return the columns of the file from a wheel of obp 0.4.1.

    ValueError if the two loggers of a campaign did not show the same items.
    """
    import pandas as pd  # which only this needs

    logs, items = [], []
    with zipfile.ZipFile(wheel_path) as wheel:

        def read(logger: str, campaign: str, name: str) -> Any:
            path = f"obp/dataset/obd/{logger}/{campaign}/{name}.csv"
            return pd.read_csv(wheel.open(path), float_precision="round_trip")

        for place, campaign in enumerate(CAMPAIGNS):
            first, second = (
                read(logger, campaign, "item_context").sort_values("item_id", ignore_index=True)
                for logger in LOGGERS
            )
            own = _items(first, second, campaign)
            items.append({"item_campaign": np.full(len(first), place, np.uint8), **own})
            for number, logger in enumerate(LOGGERS):
                logs.append(read(logger, campaign, campaign).assign(campaign=place, logger=number))
    log = pd.concat(logs)
    log["position"] -= 1
    columns = {name: log[name].to_numpy(dtype) for name, dtype in _LOGGED.items()}
    columns |= {name: _codes(log[name]) for name in _USER_FEATURES}
    counts = [int(columns[name].max()) + 1 for name in _USER_FEATURES]
    columns |= {name: np.concatenate([one[name] for one in items]) for name in items[0]}
    return {**columns, "user_feature_codes": np.array(counts, np.int16)}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m papers.improvements.open_bandit.make WHEEL")
    made: Any = make(Path(sys.argv[1]))  # Any: of its keywords, savez knows one to be no array
    np.savez_compressed(Path(__file__).parent / FILE, **made)
