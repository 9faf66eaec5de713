"""What `improve` assumes of a log, and sees: decisions of one user, and what an action made."""

import re

import numpy as np
import pytest

from jaxrace import improve
from jaxrace.core.validation import BadArgument, DataRefused


def bandit(seed, **columns):
    """2,000 decisions of two actions that change nothing, with columns of (rng, action, reward)."""
    rng = np.random.default_rng(seed)
    action, reward = rng.integers(2, size=2000), (rng.random(2000) < 0.4).astype(int)
    observed = {name: made(rng, action, reward) for name, made in columns.items()}
    return observed | {"action": action, "probability": [0.5] * 2000, "reward": reward}


def test_what_the_action_made_is_seen():
    """Observed is a number that says something of the action: no policy could go by it."""
    plain = {"age": lambda rng, *_: rng.random(2000), "bound": "betting", "candidates": "none"}
    settings = {name: plain.pop(name) for name in ("bound", "candidates")}
    said = []
    for seed in range(3):
        pages = lambda rng, action, reward: rng.poisson(2 + 2 * action * reward)  # noqa: E731
        found = improve(bandit(seed, **plain, pages=pages), 0, 1, floor=0.4, **settings)
        assert found.headline().startswith("DATA REFUSED: the logged probabilities are too small")
        said.append(found.refused)
        found = improve(bandit(seed, **plain), 0, 1, floor=0.4, **settings)
        assert found.refused == ""
    assert any(re.search(r" where pages is above \d.*; or pages was not known", x) for x in said)


def of_users(seed, number=150):
    """Twenty decisions of each user, who earns by what it is like, whatever is done."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(number), 20)
    likes = rng.beta(0.4, 0.6, number)[user]
    return {
        "user_id": [f"u{one}" for one in user],
        "plan": rng.integers(2, size=number)[user],
        "action": rng.integers(2, size=len(user)),
        "probability": [0.5] * len(user),
        "reward": (rng.random(len(user)) < likes).astype(int),
    }


def test_decisions_of_one_user_are_no_independent_ones():
    """Each by itself, a policy that earns .4 was certified to earn more in a fifth of the logs."""
    settings = {"bound": "betting", "candidates": "none", "floor": 0.4}
    with pytest.raises(DataRefused, match=r"rewards of one 'user_id' that are alike: .* times as "):
        improve(of_users(0), 0, 1, columns={"context": ["plan"]}, **settings)
    with pytest.raises(BadArgument, match=r"got 150: .*, cluster=user_id that its rows belong"):
        improve(of_users(0), 0, 1, **settings)
    found = 0
    for seed in range(8):
        once = improve(of_users(seed), 0, 1, columns="cluster=user_id,context=plan", **settings)
        assert any(one.startswith("150 clusters count once each, by") for one in once.notes)
        found += once.found
    assert found <= 1
    few = of_users(0, 15)
    with pytest.raises(BadArgument, match=r"expected 20 clusters or more, got 15"):
        improve(few, 0, 1, columns="cluster=user_id,context=plan", **settings)
    steps = of_users(0) | {"trajectory": np.arange(3000) // 30}
    with pytest.raises(
        BadArgument, match=r"expected one user_id of trajectory '0' in a dict, row 20"
    ):
        improve(steps, 0, 1, columns="cluster=user_id,context=plan", **settings)
    # Nothing of users: 120 of 150 test, by their means.
    apart = of_users(1) | {"reward": np.random.default_rng(9).integers(2, size=3000)}
    assert improve(apart, 0, 1, columns={"context": ["plan"]}, **settings).refused == ""
