"""Makes click_model.json from the logged rows: `python -m papers.improvements.open_bandit.fit`.

Features of customers are the categories that a tenth of the rows or more have, without the most
frequent one of each user feature. The weights are those of the largest posterior density under
independent normal priors of mean 0 and standard deviation 1; the intercept has a flat prior. With
the shift, uniform choice between the clusters earns `INITIAL_RETURN` per visit in the simulator.
"""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize

from papers.improvements.marketing import NUM_CLUSTERS, Marketing, MarketingParams
from papers.improvements.open_bandit.data import MODEL_FILE, ClickModel, Logs, load

INITIAL_RETURN = 0.063  # normalised, of the initial policy in figure 4c of Thomas et al. 2015
LEAST_SHARE = 0.1
# Simulated to find the shift; the standard error of the mean return is then 0.00004.
BATCHES = 4
CUSTOMERS = 2**20  # in each batch


def _features(logs: Logs) -> tuple[tuple[int, int], ...]:
    chosen = []
    for place, codes in enumerate(logs.user_codes):
        counts = np.bincount(logs.user_features[:, place], minlength=codes)
        frequent = np.flatnonzero(counts >= LEAST_SHARE * counts.sum())
        chosen += [(place, int(c)) for c in frequent if c != counts.argmax()]
    return tuple(chosen)


def design(users: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Return the inputs of the regression: 1, x, z and z x; float64 [N, 2 + 2 D].

    Of the customers' x in `users`, 0 or 1, [N, D], and the `clusters` shown, 0 or 1, [N].
    """
    signs = clusters.astype(np.float64)[:, None] - 0.5
    ones = np.ones_like(signs)
    return np.concatenate([ones, users, signs, signs * users], axis=1)


def _weights(inputs: np.ndarray, clicks: np.ndarray) -> np.ndarray:
    penalised = np.arange(inputs.shape[1]) > 0

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        scores = inputs @ weights
        kept = penalised * weights
        value = np.sum(np.logaddexp(0.0, scores) - clicks * scores) + kept @ kept / 2
        return value, inputs.T @ (1 / (1 + np.exp(-scores)) - clicks) + kept

    start = np.zeros(inputs.shape[1])
    result = minimize(
        loss, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9}
    )
    if not result.success:
        raise RuntimeError(f"the fit: expected to converge, got {result.message}")
    return result.x


def fit(logs: Logs) -> ClickModel:
    """Return the model of the logged clicks, with a shift of 0; RuntimeError if no fit is found.

    The rows must be of uniform choice, so that clusters and customers are independent.
    """
    features = _features(logs)
    users = np.stack([logs.user_features[:, i] == c for i, c in features], axis=1)
    clusters = logs.item_number > np.median(logs.item_number)
    weights = _weights(design(users, clusters[logs.item]), logs.click.astype(np.float64))
    customers, counts = np.unique(users, axis=0, return_counts=True)
    num = len(features)
    return ClickModel(
        features=features,
        intercept=float(weights[0]),
        user_weights=weights[1 : 1 + num],
        cluster_weight=float(weights[1 + num]),
        preference_weights=weights[2 + num :],
        shift=0.0,
        customers=customers.astype(np.float32),
        counts=counts,
        clusters=clusters.astype(int),
    )


@jax.jit
def _count_clicks(key: jax.Array, params: MarketingParams) -> jax.Array:
    """Clicks of `CUSTOMERS` sessions under uniform choice, int32 []."""
    env = Marketing()

    def simulate(key: jax.Array) -> jax.Array:
        reset_key, action_key = jax.random.split(key)
        actions = jax.random.randint(action_key, (env.horizon,), 0, NUM_CLUSTERS, jnp.int32)

        def advance(state, action):
            return env.step(key, state, action, params)[0], None

        return jax.lax.scan(advance, env.reset(reset_key, params), actions)[0].clicks

    return jnp.sum(jax.vmap(simulate)(jax.random.split(key, CUSTOMERS)))


def find_shift(model: ClickModel) -> float:
    """Return the shift with which uniform choice earns `INITIAL_RETURN`."""
    wanted = INITIAL_RETURN * BATCHES * CUSTOMERS * Marketing().horizon
    keys = jax.random.split(jax.random.key(2015), BATCHES)
    low, high = 0.0, 10.0  # more clicks with every shift upwards
    while high - low > 1e-4:
        middle = (low + high) / 2
        params = Marketing.make_params(model._replace(shift=middle))
        too_few = sum(int(_count_clicks(key, params)) for key in keys) < wanted
        low, high = (middle, high) if too_few else (low, middle)
    return round((low + high) / 2, 4)


def _to_json(model: ClickModel) -> str:
    """One line per field."""

    def plain(value):
        if isinstance(value, float):
            return round(value, 6)
        if isinstance(value, np.ndarray):
            whole = np.array_equal(value, np.round(value))
            return (value.astype(int) if whole else np.round(value, 6)).tolist()
        return value

    lines = [f'  "{name}": {json.dumps(plain(v))}' for name, v in model._asdict().items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    fitted = fit(load("all", "random"))
    fitted = fitted._replace(shift=find_shift(fitted))
    (Path(__file__).parent / MODEL_FILE).write_text(_to_json(fitted), "utf-8")
