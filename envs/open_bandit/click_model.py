"""Who the customers are and what they click on: a logistic regression on the logged clicks.

Fitted by `fit` to the 10,000 rows (38 clicks) that uniform choice left in the campaign "all" of the
small Open Bandit Dataset (Saito et al. 2020). The weights are mostly noise, and serve to make
customers differ. The items above the median of their only numeric feature are cluster 1. With x the
customer's features, each 0 or 1, and z = -1/2 for cluster 0, +1/2 for cluster 1,

    log-odds of a click = intercept + user_weights . x + z (cluster_weight + preference_weights . x)

Axes: D features of customers, P kinds of customers, I items.
"""

import functools
import json
from importlib import resources
from typing import NamedTuple

import numpy as np

FILE_NAME = "click_model.json"


class ClickModel(NamedTuple):
    """The fitted model; NumPy arrays that cannot be written to."""

    features: tuple[
        tuple[int, int], ...
    ]  # x_d = 1 if user feature i has category c: D pairs (i, c)
    intercept: float
    user_weights: np.ndarray  # float32 [D]
    cluster_weight: float
    preference_weights: np.ndarray  # float32 [D]
    shift: float  # what `jaxrace.envs.marketing` adds to the log-odds; not fitted to any data
    customers: np.ndarray  # float32 [P, D], the x that occur
    counts: np.ndarray  # int32 [P], how many of the rows have each of them
    clusters: np.ndarray  # int32 [I], the cluster of each item


@functools.cache
def load_click_model() -> ClickModel:
    """The stored model."""
    path = resources.files("jaxrace.envs.open_bandit") / FILE_NAME
    stored = json.loads(path.read_text("utf-8"))

    def array(name: str, dtype: type) -> np.ndarray:
        values = np.array(stored[name], dtype)
        values.flags.writeable = False  # the same arrays go to every caller
        return values

    return ClickModel(
        features=tuple((feature, category) for feature, category in stored["features"]),
        intercept=stored["intercept"],
        user_weights=array("user_weights", np.float32),
        cluster_weight=stored["cluster_weight"],
        preference_weights=array("preference_weights", np.float32),
        shift=stored["shift"],
        customers=array("customers", np.float32),
        counts=array("counts", np.int32),
        clusters=array("clusters", np.int32),
    )
