"""What a batch of searches leaves, and how a person reads it. B searches, G generations."""

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import numpy as np

from jaxrace.answers import style
from jaxrace.answers.answer import MOST_SHOWN, Answer, Shown, finite, panels
from jaxrace.search.policy_search import SearchRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclasses.dataclass(frozen=True)
class Spent:
    """A generation: means over the searches that ran it."""

    generation: int  # from 1
    searches: int
    episodes: float  # used up to and with this generation
    max_rounds: float  # n_max of its race
    options_decided: float  # certainly in or out
    race_decided: float  # share of the races that were decided


@dataclasses.dataclass(frozen=True)
class SearchLog(Answer):
    """What a batch of B searches leaves: NumPy arrays over G generations. Print it, or plot it."""

    ROWS: ClassVar = {"spent": Spent}

    rows: SearchRow  # leaves [G, B, ...]; ``ran`` is False after the last generation of a search
    generations: Any  # int32 [B], of each search
    learned: Any  # theta of the learned policies, leaves [B, ...]
    compile_seconds: float  # to trace and compile the program
    run_seconds: float  # to run it, with the first progress report at its end
    weight_names: tuple[str, ...] = ()  # p of them, for ``weights``
    notes: tuple[str, ...] = ()

    @property
    def weights(self) -> dict[str, np.ndarray]:
        """The numbers of the learned policies, [B], by name."""
        paths = jax.tree_util.tree_leaves_with_path(self.learned)
        flat = [leaf.reshape(len(leaf), -1).T for _, leaf in paths]
        names = self.weight_names or [
            f"theta{jax.tree_util.keystr(path)}[{place}]"
            for (path, _), columns in zip(paths, flat, strict=True)
            for place in range(len(columns))
        ]
        return dict(zip(names, np.concatenate(flat), strict=True))

    @property
    def spent(self) -> list[Spent]:
        """How the budget went, generation by generation."""
        found, names = [], ("episodes", "max_rounds", "options_decided", "race_decided")
        for place, ran in enumerate(self.rows.ran):
            means = (float(np.mean(getattr(self.rows, name)[place][ran])) for name in names)
            found.append(Spent(place + 1, int(ran.sum()), *means))
        return found

    def asked(self) -> str:
        return f"{len(self.generations):,} policy searches"

    def headline(self) -> str:
        episodes = np.asarray(self.rows.episodes[-1])
        return f"{_range(self.generations)} generations, {_range(episodes)} episodes of each search"

    def meanings(self) -> list[str]:
        return ["learned: rank 1 of the last race, a noisy choice: jaxrace.evaluate says its worth"]

    def tables(self) -> list[Shown]:
        heads = ["where", "mean", "least", "most"] if len(self.generations) > 1 else ["where", ""]
        weights = [
            [name, *(f"{x:.4g}" for x in (each.mean(), each.min(), each.max())[: len(heads) - 1])]
            for name, each in self.weights.items()
        ]
        count = len(self.rows.ran)
        places = np.unique(np.linspace(0, count - 1, min(count, MOST_SHOWN)).astype(int))
        below = f"means over the searches; {len(places)} of {count} generations"
        spent = [
            [str(one.generation), str(one.searches), f"{one.episodes:,.0f}"]
            + [f"{x:.3g}" for x in (one.max_rounds, one.options_decided, one.race_decided)]
            for one in np.array(self.spent)[places]
        ]
        columns = ["generation", "searches", "episodes", "n_max", "decided", "races decided"]
        return [Shown.first(heads, weights), Shown.first(columns, spent, below)]

    def to_dict(self) -> dict[str, Any]:
        """Weights and generations, for JSON."""
        weights = {name: each.tolist() for name, each in self.weights.items()}
        return finite(
            {"weights": weights, "spent": [dataclasses.asdict(one) for one in self.spent]}
        )

    def plot(self) -> "Figure":
        """A matplotlib figure: episodes and rounds by generation, a line for each search."""
        figure, found = panels(f"{self.asked()}: {self.headline()}", 8, (1, 1))
        names = {"episodes": "episodes used", "max_rounds": "n_max of the race"}
        numbers = np.arange(1, len(self.rows.ran) + 1)
        for panel, (name, label) in zip(found, names.items(), strict=True):
            panel.invert_yaxis()
            values = np.where(self.rows.ran, getattr(self.rows, name), np.nan)
            panel.plot(numbers, values, color=style.BLUE, alpha=max(0.1, 1 / len(self.generations)))
            panel.set(xlabel="generation", ylabel=label, ylim=(0, None))
        return figure


def _range(values: np.ndarray) -> str:
    low, high = int(np.min(values)), int(np.max(values))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
