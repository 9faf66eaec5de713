"""Logged recommendations as arrays, and as a bandit's task of one step.

The small Open Bandit Dataset of Saito et al. 2020: on each visit, a shop's page showed three items
side by side, chosen by a logger, and each row tells of one of them. For each of three campaigns
there are 10,000 rows of each of two loggers with the exact probabilities of their choices. Axes: N
rows, I items, D inputs.
"""

import functools
import json
from importlib import resources
from typing import Literal, NamedTuple, get_args

import numpy as np

from jaxrace.core.validation import BadArgument

Campaign = Literal["all", "men", "women"]
Logger = Literal["random", "bts"]

CAMPAIGNS: tuple[str, ...] = get_args(Campaign)
LOGGERS: tuple[str, ...] = get_args(Logger)  # uniform choice, Bernoulli Thompson sampling
POSITIONS = 3

MODEL_FILE, FILE = "click_model.json", "open_bandit.npz"


class Logs(NamedTuple):
    """What one logger did in one campaign; NumPy arrays, rows in the order of time."""

    item: np.ndarray  # int32 [N] in 0..I-1, what was shown
    position: np.ndarray  # int32 [N], where: 0 (left), 1 or 2
    click: np.ndarray  # float32 [N], 0 or 1
    propensity: np.ndarray  # float32 [N], P(item | visit, position) of the logger, in (0, 1]
    user_features: np.ndarray  # int32 [N, 4], categories
    item_number: np.ndarray  # float32 [I], item_feature_0, a standardised number
    item_categories: np.ndarray  # int32 [I, 3], item_feature_1 to 3
    user_codes: tuple[int, ...]  # how many categories each of the 4 features of users has


class LoggedChoices(NamedTuple):
    """The rows of a log as a task of one step: context, action, reward; NumPy arrays."""

    contexts: np.ndarray  # float32 [N, D], 0 or 1
    actions: np.ndarray  # int32 [N], the items
    propensities: np.ndarray  # float32 [N]
    clicks: np.ndarray  # float32 [N], the rewards


class ClickModel(NamedTuple):
    """Who the customers are and what they click on: a logistic regression on the logged clicks.

    Fitted by `fit` to the rows (38 clicks) that uniform choice left in the campaign "all". The
    weights are mostly noise, and serve to make customers differ. The items above the median of
    their only numeric feature are cluster 1. With x the customer's features, each 0 or 1, and z =
    -1/2 for cluster 0, +1/2 for cluster 1, the log-odds of a click are intercept + user_weights . x
    + z (cluster_weight + preference_weights . x). D features, P kinds of customers, I items; the
    arrays cannot be written to.
    """

    features: tuple[tuple[int, int], ...]  # D pairs (i, c): x_d = 1 if user feature i is c
    intercept: float
    user_weights: np.ndarray  # float32 [D]
    cluster_weight: float
    preference_weights: np.ndarray  # float32 [D]
    shift: float  # what `marketing` adds to the log-odds; not fitted to any data
    customers: np.ndarray  # float32 [P, D], the x that occur
    counts: np.ndarray  # int32 [P], how many of the rows have each of them
    clusters: np.ndarray  # int32 [I], the cluster of each item


def load(campaign: Campaign = "all", logger: Logger = "random") -> Logs:
    """The 10,000 rows of one logger in one campaign, and the items of the campaign.

    The campaign is "all" (80 items), "men" (34) or "women" (46), the logger "random" for uniform
    choice or "bts" for Bernoulli Thompson sampling; ValueError for another. Items have the same
    numbers under both loggers. Categories of users mean the same everywhere, categories of items
    only within a campaign.

    >>> logs = load("all", "random")
    >>> float(logs.click.sum()), f"{logs.propensity[0]:.4f}"
    (38.0, '0.0125')
    """
    if campaign not in CAMPAIGNS:
        raise BadArgument("campaign", f"one of {list(CAMPAIGNS)}", repr(campaign))
    if logger not in LOGGERS:
        raise BadArgument("logger", f"one of {list(LOGGERS)}", repr(logger))
    columns = _columns()
    place = CAMPAIGNS.index(campaign)
    rows = (columns["campaign"] == place) & (columns["logger"] == LOGGERS.index(logger))
    items = columns["item_campaign"] == place
    users = [columns[f"user_feature_{i}"][rows] for i in range(4)]
    categories = [columns[f"item_feature_{i}"][items] for i in range(1, 4)]
    return Logs(
        item=columns["item_id"][rows].astype(np.int32),
        position=columns["position"][rows].astype(np.int32),
        click=columns["click"][rows].astype(np.float32),
        propensity=columns["propensity_score"][rows],
        user_features=np.stack(users, axis=1).astype(np.int32),
        item_number=columns["item_feature_0"][items],
        item_categories=np.stack(categories, axis=1).astype(np.int32),
        user_codes=tuple(map(int, columns["user_feature_codes"])),
    )


def one_step(logs: Logs, position: int | None = None) -> LoggedChoices:
    """The rows as a task of one step: see a user, show an item, earn 1 for a click.

    A context is the four features of the user, each spread over one column per category (one of
    them 1, the others 0), so D = 27 in every campaign. The true value of a policy is not known;
    that of a logger is the mean of its clicks. `position` takes the rows of one place, 0 (left), 1
    or 2 (ValueError for another); by default all of them, as though the place made no difference.

    >>> choices = one_step(load("women"))
    >>> choices.contexts.sum(axis=1)[:3]
    array([4., 4., 4.], dtype=float32)
    """
    if position is not None and (type(position) is not int or not 0 <= position < POSITIONS):
        raise BadArgument("position", "None or an integer in 0..2", repr(position))
    rows = slice(None) if position is None else logs.position == position
    contexts = [
        np.eye(codes, dtype=np.float32)[feature[rows]]
        for codes, feature in zip(logs.user_codes, logs.user_features.T, strict=True)
    ]
    return LoggedChoices(
        contexts=np.concatenate(contexts, axis=1),
        actions=logs.item[rows],
        propensities=logs.propensity[rows],
        clicks=logs.click[rows],
    )


@functools.cache
def load_click_model() -> ClickModel:
    """The stored model."""
    path = resources.files("papers.improvements.open_bandit") / MODEL_FILE
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


@functools.cache
def _columns() -> dict[str, np.ndarray]:
    """All columns of the file; NOTICE tells how it was made."""
    path = resources.files("papers.improvements.open_bandit") / FILE
    with path.open("rb") as file, np.load(file, allow_pickle=False) as columns:
        return dict(columns)
