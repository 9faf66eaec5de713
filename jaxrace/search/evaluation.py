"""How good a policy is: means of what its episodes are judged by, with intervals. n episodes."""

import dataclasses
import math
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import numpy as np
from scipy import special

from jaxrace.agents import rollout
from jaxrace.agents.outcomes import Return
from jaxrace.agents.policies import Policy
from jaxrace.answers import style
from jaxrace.answers.answer import Answer, Shown, panels
from jaxrace.core.validation import (
    BadArgument,
    require_float32_probability,
    require_integer,
    require_number,
)
from jaxrace.envs import Environment, OutcomeFold

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclasses.dataclass(frozen=True)
class Measured:
    """One number that episodes are judged by."""

    name: str
    mean: float
    low: float  # end of the interval of the expected value
    high: float
    deviation: float  # standard deviation of an episode
    is_bounded: bool  # does the interval rest on a known range?


@dataclasses.dataclass(frozen=True)
class PolicyValue(Answer):
    """The answer of ``jaxrace.evaluate``. Print it, or see its fields."""

    ROWS: ClassVar = {"measured": Measured}

    measured: tuple[Measured, ...]
    episodes: int
    seed: int
    delta: float
    values: dict[str, list[float]]  # of each episode
    notes: tuple[str, ...] = ()

    @property
    def mean(self) -> float:
        """Of the first number."""
        return self.measured[0].mean

    @property
    def interval(self) -> tuple[float, float]:
        """Of the first number."""
        return self.measured[0].low, self.measured[0].high

    def asked(self) -> str:
        return f"{self.episodes:,} episodes of a policy, seed {self.seed}"

    def headline(self) -> str:
        first = self.measured[0]
        return f"{first.name} {first.mean:.4g}, {self._share} interval {_to(first)}"

    @property
    def _share(self) -> str:
        return f"{100 * (1 - self.delta):g} %"

    def meanings(self) -> list[str]:
        used = sorted({one.is_bounded for one in self.measured})
        return ["; ".join(("each interval by itself, at one look", *(_MEANS[x] for x in used)))]

    def tables(self) -> list[Shown]:
        rows = [
            [one.name, f"{one.mean:.4g}", _to(one), f"{one.deviation:.3g}", _BY[one.is_bounded]]
            for one in self.measured
        ]
        return [Shown.first(["where", "mean", f"{self._share} interval", "deviation", "by"], rows)]

    def plot(self) -> "Figure":
        """A histogram of each number over the episodes, with the interval of its mean."""
        figure, found = panels(self.headline(), 8, (1,) * len(self.measured))
        for panel, one in zip(found, self.measured, strict=True):
            panel.invert_yaxis()
            panel.hist(self.values[one.name], bins=30, color=style.BLUE, alpha=0.6)
            panel.axvspan(one.low, one.high, color=style.ORANGE, alpha=0.5)
            title = f"orange: {self._share} interval of the mean"
            panel.set_title(title, fontsize="medium")
            panel.set(xlabel=one.name, ylabel="episodes")
        return figure


_BY = {True: "range", False: "Student's t"}
_MEANS = {
    True: "by range: holds for any numbers in it",
    False: "by Student's t: holds if means are normal, as those of many episodes nearly are",
}


def _to(one: Measured) -> str:
    return f"{one.low:.4g} to {one.high:.4g}"


def evaluate(
    policy: Policy,
    env: Environment,
    theta: Any,
    episodes: int = 1_000,
    seed: int = 0,
    *,
    fold: OutcomeFold | None = None,
    low: float | None = None,
    high: float | None = None,
    delta: float = 0.05,
    env_params: Any = None,
) -> PolicyValue:
    """The mean return of a policy, or of what ``fold`` makes of an episode, with an interval.

    Episodes are independent; episode e has the key fold_in(key(seed), e). With a known range, and
    for truths, intervals hold for any distribution: by betting (Waudby-Smith and Ramdas 2024), each
    end with delta / 2. Else they are Student's, as if the mean were normal: few episodes with rare,
    large losses deceive it.

    Args:
        policy: See ``policies.Policy``.
        env: See ``envs.Environment``.
        theta: The policy's parameters, such as ``state.best`` of a search.
        episodes: n, at least 2.
        seed: Of all random numbers; take another one than those that training was seen with.
        fold: Makes the outcome of an episode, a pytree of numbers []: ``Return()`` unless given.
        low: Least possible number, of an outcome that is one number.
        high: The greatest.
        delta: Probability that an interval misses.
        env_params: The simulator's params; its ``default_params`` unless given.

    >>> from jaxrace.agents.policies import Sigmoid
    >>> from jaxrace.envs import medical
    >>> fold = medical.TreatmentOutcome()
    >>> found = evaluate(Sigmoid(2), medical.Medical(), np.zeros(3, np.float32), 200, fold=fold)
    >>> [one.name for one in found.measured], found.measured[0].is_bounded
    (['alive', 'worst_toxicity', 'tumour_size'], True)
    """
    require_integer("episodes", episodes, 2, rollout.MOST_EPISODES)
    require_integer("seed", seed, 0, 2**32 - 1)
    require_float32_probability("delta", delta)
    ends = None
    if low is not None or high is not None:
        for name, end in (("low", low), ("high", high)):
            require_number(name, math.nan if end is None else end, -math.inf)
        ends = float(low or 0), float(high or 0)
        if not ends[0] < ends[1]:
            raise BadArgument("low", f"less than high = {high}", str(low))
    wanted, given = (jax.tree.map(np.shape, x) for x in (policy.example(), theta))
    if wanted != given:
        raise BadArgument(
            "theta", f"one policy, of shapes {wanted} as policy.example()", str(given)
        )
    if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(theta)):
        raise BadArgument("theta", "finite numbers", "NaN or infinity")
    params = env.default_params if env_params is None else env_params
    sampler = rollout.Rollout(env, policy, Return() if fold is None else fold)
    option = rollout.PolicyInTask(jax.tree.map(jax.numpy.asarray, theta), params)
    outcomes = rollout.evaluate(sampler, jax.random.key(seed), option, episodes)
    leaves = jax.tree_util.tree_leaves_with_path(outcomes)
    if ends is not None and len(leaves) != 1:
        raise BadArgument("low, high", "none where an outcome has several numbers", str(ends))
    measured, values = [], {}
    for path, leaf in leaves:
        name = "return" if fold is None else jax.tree_util.keystr(path, simple=True, separator=".")
        numbers, name = np.asarray(leaf), name or "outcome"
        if numbers.ndim != 1:
            raise BadArgument("fold", f"one number {name} of an episode", str([*leaf.shape[1:]]))
        of_leaf = (0.0, 1.0) if numbers.dtype == bool else ends
        numbers = numbers.astype(np.float64)
        if not np.isfinite(numbers).all():
            raise BadArgument("env", f"finite numbers as {name}", "NaN or infinity")
        if of_leaf and not (of_leaf[0] <= numbers.min() and numbers.max() <= of_leaf[1]):
            got = f"{numbers.min():g} to {numbers.max():g}"
            raise BadArgument("low, high", f"the range of {name}", f"{got}, in {of_leaf}")
        around = _interval(numbers, delta, of_leaf)
        deviation = float(numbers.std(ddof=1))
        measured.append(Measured(name, float(numbers.mean()), *around, deviation, bool(of_leaf)))
        values[name] = numbers.tolist()
    rarest = 1 - delta ** (1 / episodes)  # of which none is seen with probability delta
    notes = [
        f"{one.name} was the same in all episodes: others may be {rarest:.2g} of them, of which "
        "the interval by Student's t says nothing; low and high give one that does"
        for one in measured
        if not one.is_bounded and len({*values[one.name]}) == 1
    ]
    return PolicyValue(tuple(measured), episodes, seed, delta, values, tuple(notes))


def _interval(
    values: np.ndarray, delta: float, ends: tuple[float, float] | None
) -> tuple[float, float]:
    """Of the expected value, two-sided; ``ends`` of the range, if it is known."""
    count, mean = len(values), float(values.mean())
    if ends is None:
        quantile = float(special.stdtrit(count - 1, 1 - delta / 2))
        radius = quantile * float(values.std(ddof=1)) / math.sqrt(count)
        return mean - radius, mean + radius
    least, most = ends
    share = (values - least) / (most - least)
    lower, above = (_lower_bound(x, delta / 2) for x in (share, 1 - share))
    return least + (most - least) * lower, most - (most - least) * above


def _lower_bound(values: np.ndarray, delta: float) -> float:
    """Of the expected value of independent numbers in [0, 1], wrong with probability delta.

    The largest m at which the capital K_n(m) = prod_t 1 + min(lambda_t, c / m)(x_t - m) has ever
    reached 1 / delta; it falls in m. lambda_t = sqrt(2 ln(1 / delta) / (n sigma_(t-1)^2)) is known
    before x_t (Waudby-Smith and Ramdas 2024, section 4: one side of the hedged capital, c = 1/2).
    """
    count = len(values)
    numbers, goal = np.arange(1, count + 1), math.log(1 / delta)
    means = (0.5 + np.cumsum(values)) / (numbers + 1)
    variances = (0.25 + np.cumsum((values - means) ** 2)) / (numbers + 1)
    bets = np.sqrt(2 * goal / (count * np.append(0.25, variances[:-1])))
    lower, upper = 0.0, 1.0
    for _ in range(40):
        m = (lower + upper) / 2
        capital = np.cumsum(np.log1p(np.minimum(bets, 0.5 / m) * (values - m))).max()
        lower, upper = (m, upper) if capital >= goal else (lower, m)
    return lower
