"""What races by e-values found, and how a person reads it. Axes: K options, L bets, Q nulls."""

import abc
import dataclasses
import math
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from jaxrace.evidence.decision import (
    CERTIFICATES,
    COUNTS,
    DOMINANCE,
    EXHAUSTED,
    GIVEN_UP,
    who_may,
)
from jaxrace.evidence.levels import FloatArray
from jaxrace.racing.result import MAX_LISTED, RaceResult, span

# Pairs in doubt that a report names.
_MOST_PAIRS = 5

# Means that are as close as this, in units of the range, are equal: float32 rounds scores by half.
TIE = 2.0**-23


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class CertifiedResult(RaceResult):
    """The result of a race by e-values; decided means that the first kappa are certified.

    Until then ``selected`` and ``discarded`` are right with probability 1 - delta, at all looks
    together. By mean: the others hold the best kappa. By wins they are about kappa options that are
    over all others, if there are such (docs/tables.md, theorem 4).
    """

    possible: jax.Array  # bool [K], who may be among the best; if certified, and exactly, who is
    tied: jax.Array  # bool [K], certified by counts, perhaps with scores equal across the boundary
    certificate_number: jax.Array  # int32 [], see ``certificate``
    wins: jax.Array  # int32 [K], first sort key: verdicts, or where there is none a mean above 0
    total: jax.Array  # int32 [K], second sort key: sum of the mean differences, in fixed point
    by: str = dataclasses.field(metadata={"static": True})

    @property
    def certificate(self) -> Any:
        """How the first kappa are certified, or that they are not.

        "dominance" (a): each of them is over (preferred to) each of the others. "counts" (b), by
        wins: certain wins and losses settle who beats how many, the Copeland scores. "running",
        "exhausted": they are not certified, and the race goes on, or has reached its last sample or
        task. "given up": nor would they have been. "heuristic": one of the first two rules ended
        the race, and certifies nothing (see ``heuristic``). A string, or an array of them for a
        batch.
        """
        names = np.array(CERTIFICATES)[np.asarray(self.certificate_number)]
        if self.heuristic:
            names = np.where(self.decided, "heuristic", names)
        return str(names) if names.ndim == 0 else names

    @property
    @abc.abstractmethod
    def log_highest(self) -> FloatArray:
        """ln of the largest E_ij in the course of the race, float64 [..., K, K]."""

    @property
    def p_values(self) -> FloatArray:
        """Of "i is not over j", float64 [..., K, K], at any time.

        1 / max E_ij, at most 1: by Ville's inequality, which speaks of the highest value. By wins
        i is over j if it is preferred more often than not; within a tolerance, if j is not better
        by it.
        """
        return np.exp(-np.maximum(self.log_highest, 0))

    @property
    def _first(self) -> str:
        return "the first" if self.top == 1 else "each of the first"

    @property
    def _guess(self) -> str:
        return "the first one is a guess" if self.top == 1 else f"the first {self.top} are a guess"

    @property
    def _is_near(self) -> bool:
        """Are the first kappa certified within a tolerance? Others may be better by less."""
        return bool(np.max(self.params.tolerance) > 0 and self.decided and self._is_certain())

    def _words(self) -> dict[str, str]:
        if self._is_near:
            return {"good enough": "good enough", "?": "the others"}
        return super()._words()

    def _tied(self) -> NDArray[np.bool_]:
        return np.asarray(self.tied)

    _tied_how = "perhaps equally good, and {taken}"

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {"beats": (self.log_highest >= float(self.params.level)).sum(-1)}

    def _notes(self) -> dict[str, str]:
        """Who may be among the best, and how sure that and single verdicts are."""
        if self.heuristic:
            return {}
        level, delta = float(self.params.level), span(self.params.delta)
        notes = {"beats": f"each verdict is wrong with probability at most {math.exp(-level):.2g}"}
        if self.decided:
            return notes
        ranking = np.asarray(self.ranking)
        sure, possible = (
            [str(option) for option in ranking if mask[option]]
            for mask in (np.asarray(self.selected), np.asarray(self.possible))
        )
        told = who_may(self.by, self.top, possible, sure, self.num_options)
        if sure or len(possible) < self.num_options:
            told += f"; wrong with probability at most {delta}"
        return {"so far": told, **notes}


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class DominanceResult(CertifiedResult):
    """The result of a ``DominanceRace``."""

    log_bets: jax.Array  # float32 [K, K, L], ln of the products of block factors
    highest: jax.Array  # float32 [K, K], the largest ln E_ij in the course of the race
    margin: jax.Array  # int32 [K, K], see ``DominanceState``
    # bool [K, K], pairs that the race was drawing for; none where it is certified. Mostly (i, j)
    # with i in the first kappa and j outside that nothing decides yet; where all of these are
    # decided, and not all for i, pairs of which a certain win is likeliest
    doubtful: jax.Array
    asked: jax.Array  # bool [K], who would be drawn next
    blocks: Any = dataclasses.field(metadata={"static": True})
    capacity: int = dataclasses.field(metadata={"static": True})
    names: tuple[str, ...] | None = dataclasses.field(default=None, metadata={"static": True})

    @property
    def best_names(self) -> list[str]:
        """The names of the first kappa, best first; ValueError if the options have none."""
        if self.names is None:
            raise ValueError("names: expected a race that was judged by names, got numbers only")
        return [self.names[option] for option in self.best]

    @property
    def log_highest(self) -> FloatArray:
        return np.asarray(self.highest, np.float64)

    @property
    def log_evidence(self) -> FloatArray:
        """ln E_ij after the blocks that i and j share, float64 [..., K, K]; 0 without any.

        The process itself; its highest value decides the race. No e-value: the race may have
        stopped because of samples of one option alone.
        """
        weighted = (
            np.asarray(self.log_bets, np.float64)
            + np.asarray(self.params.log_weights, np.float64)[..., None, None, :]
        )
        return np.logaddexp.reduce(weighted, axis=-1)

    @property
    def e_values(self) -> FloatArray:
        """The same as e-values, which may be averaged or multiplied: float64 [..., K, K].

        sqrt(max E_ij) / 2, the p-value p by the calibrator p^(-1/2) / 2 (Vovk and Wang 2021): its
        expectation is at most 1 if i is not preferred to j, why ever the race stopped. That of E_ij
        itself may be larger: blocks that are known from other pairs may tell the race to stop.
        Multiply e-values of independent experiments, average dependent ones.
        """
        return 0.5 / np.sqrt(self.p_values)

    @property
    def further_samples(self) -> FloatArray:
        """How many more samples each option may need, of one race: float64 [K]. A forecast.

        Gaps are taken to be what they look like, and blocks to be filled. 0 where nothing is in
        doubt; infinity where it takes more than n_max. Without a common block what fills one.
        """
        blocks = self.blocks
        doubtful = np.asarray(self.doubtful)
        shared = blocks.complete(np.asarray(self.samples), np)
        shared = np.minimum(shared[:, None], shared[None, :])
        margin = blocks.mean(np.asarray(self.margin), shared, np).astype(np.float64)
        growth = blocks.growth * ((np.abs(margin) - float(self.params.null)) / 2) ** 2
        # Of the two orders of a pair the one that looks right.
        log_e = np.where(margin >= 0, self.log_evidence, self.log_evidence.T)
        with np.errstate(divide="ignore"):
            lacking = (float(self.params.level) - log_e) / growth
        further = np.where(shared > 0, np.maximum(np.ceil(lacking / blocks.later), 1), 1)
        wanted = blocks.first + (shared + further - 1) * blocks.later
        wanted = np.where(wanted > int(self.params.max_rounds), np.inf, wanted)
        wanted = np.where(doubtful | doubtful.T, wanted, 0).max(1)
        return np.maximum(wanted - np.asarray(self.simulated), 0)

    @property
    def oracle_calls(self) -> NDArray[np.int64]:
        """Comparisons of two outcomes behind the e-values: within the blocks of every pair."""
        blocks, samples = self.blocks, np.asarray(self.samples, np.int64)
        shared = np.minimum(samples[..., :, None], samples[..., None, :])
        later = np.maximum(shared - blocks.first, 0) // blocks.later
        calls = np.where(shared < blocks.first, 0, blocks.first**2 + later * blocks.later**2)
        return np.triu(calls, 1).sum((-2, -1))

    def _promise(self) -> str:
        wrong = f"a wrong certificate has probability at most {span(self.params.delta)}"
        if np.max(self.params.tolerance) > 0:
            wrong = f"nobody else is better by {span(self.params.tolerance)} or more: {wrong}"
        if self.by == "mean":
            return f"{wrong}, if scores are in their range"
        return f"{wrong}, whatever the preferences"

    def _title(self) -> str:
        how = " by mean" if self.by == "mean" else ""
        return f"dominance race{how}, delta {span(self.params.delta)}"

    def _progress(self) -> str:
        number = int(self.certificate_number)
        verdict = "NOT certified, but ended by rule" if self.heuristic else "CERTIFIED"
        if number == DOMINANCE and np.max(self.params.tolerance) > 0:
            return f"{verdict} (a): none of the others is better by {span(self.params.tolerance)}"
        if number == DOMINANCE and self.by == "mean":
            return (
                f"{verdict} (a): the mean of {self._first} is at least that of each of the others"
            )
        if number == DOMINANCE:
            return f"{verdict} (a): {self._first} is preferred to each of the others"
        if number == COUNTS:
            return f"{verdict} (b): certain wins and losses settle the scores"
        limit = int(self.params.max_rounds)
        played = int(np.max(self.samples))
        room = "" if played == limit else f" ({limit} hold no more whole blocks)"
        ended = {
            EXHAUSTED: f"after {played} samples of an option{room}",
            GIVEN_UP: "and given up: the evidence would hardly be there in time",
        }
        how = ended.get(number, "yet")
        return f"NOT certified {how}; {self._guess}"

    def _notes(self) -> dict[str, str]:
        """Further, which pairs are in doubt, and which samples would help."""
        notes = super()._notes()
        if self.decided:
            return notes
        level = float(self.params.level)
        # Of the two orders of a pair: the guess need not be the one that was drawn for.
        highest = np.maximum(self.log_highest, self.log_highest.T)
        pairs = sorted(
            map(tuple, np.argwhere(np.asarray(self.doubtful))), key=lambda pair: highest[pair]
        )
        shown = [
            f"{i} or {j} ({_share(float(highest[i, j]), level)})" for i, j in pairs[:_MOST_PAIRS]
        ]
        more = f" and {len(pairs) - _MOST_PAIRS} more" if len(pairs) > _MOST_PAIRS else ""
        asked = np.flatnonzero(self.asked)
        if int(self.certificate_number) == GIVEN_UP:
            help_text = "a larger give_up, or none: the race was ended early"
        elif not asked.size:
            full = int(self.params.max_rounds) >= self.capacity
            wider = "a race of larger capacity" if full else "a larger max_rounds"
            help_text = f"{wider}: the samples of the pairs in doubt are used up"
        else:
            number = self.blocks.rounds_to_tell(self)
            help_text = f"{number} more sample{'s' if number > 1 else ''} of "
            help_text += ", ".join(map(str, asked[:MAX_LISTED]))
        return notes | {"in doubt": ", ".join(shown) + more or "-", "would help": help_text}


def _share(log_e: float, level: float) -> str:
    """How far the evidence has come, on the scale of logarithms."""
    # Cut off: what is in doubt must not read like 100 %.
    return f"{math.floor(100 * max(log_e, 0) / level)} % of the evidence"


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class SharedResult(CertifiedResult):
    """The result of a ``SharedRace``."""

    highest: jax.Array  # float32 [Q, K, K], ln of the largest E_ij in the course of the race
    mean_difference: jax.Array  # float32 [K, K], over the common tasks, in [-1, 1]
    asked: jax.Array  # int32 [K], how many further tasks each would run next
    finite: bool = dataclasses.field(metadata={"static": True})

    @property
    def evaluations(self) -> NDArray[np.int64]:
        """Outcomes of all options together: int64 [...]."""
        return np.asarray(self.samples, np.int64).sum(-1)

    @property
    def log_highest(self) -> FloatArray:
        return np.asarray(self.highest, np.float64)[..., 0, :, :]

    @property
    def oracle_calls(self) -> NDArray[np.int64]:
        """Comparisons of two options on a task that the race counted."""
        samples = np.asarray(self.samples, np.int64)
        shared = np.minimum(samples[..., :, None], samples[..., None, :])
        return np.triu(shared, 1).sum((-2, -1))

    def _promise(self) -> str:
        best = "highest mean" if self.by == "mean" else "the most wins"
        if np.max(self.params.tolerance) > 0:
            best = f"{best} within {span(self.params.tolerance)}"
        tasks = "on the whole list of tasks" if self.finite else "on tasks like these"
        return (
            f"{best}, {tasks}: a wrong certificate has probability at most "
            f"{span(self.params.delta)}, however options depend on each other within a task"
        )

    def _title(self) -> str:
        number = span(self.params.max_rounds)
        tasks = f"a list of {number} tasks" if self.finite else f"at most {number} tasks"
        return f"race by {self.by} on {tasks}, delta {span(self.params.delta)}"

    def _progress(self) -> str:
        number = int(self.certificate_number)
        if number == DOMINANCE:
            return f"CERTIFIED (a): {self._first} is over each of the others"
        if number == COUNTS:
            return "CERTIFIED (b): certain wins and losses settle the scores"
        if not self.decided and (tied := self._equal()):
            return f"TIED on the whole list: {', '.join(tied)}"
        played = int(np.max(self.samples))
        how = f"after {played} tasks" if number == EXHAUSTED else "yet"
        return f"NOT certified {how}; {self._guess}"

    def _equal(self) -> list[str]:
        """Options that are equal on the whole list, where nothing else is open at the boundary."""
        inside, outside = np.split(np.asarray(self.ranking), [self.top])
        cross = np.ix_(inside, outside)
        run = np.asarray(self.samples) == int(self.params.max_rounds)
        is_tied = self.finite & (run[:, None] & run[None, :])[cross]
        is_tied &= abs(np.asarray(self.mean_difference)[cross]) <= TIE
        if not (is_tied | (self.log_highest[cross] >= float(self.params.level))).all():
            return []
        found = np.concatenate([inside[is_tied.any(1)], outside[is_tied.any(0)]])
        return [str(option) for option in found]

    def _notes(self) -> dict[str, str]:
        """Further, how far the evidence is, and whose further tasks would help."""
        notes = super()._notes()
        if self.decided:
            return notes
        ranking = np.asarray(self.ranking)
        inside, outside = ranking[: self.top], ranking[self.top :]
        worst = float(self.log_highest[np.ix_(inside, outside)].min())
        share = math.floor(100 * max(worst, 0) / float(self.params.level))
        asked = np.asarray(self.asked)
        wanted = [f"{asked[i]} of {i}" for i in ranking if asked[i]][:MAX_LISTED]
        return notes | {
            "in doubt": f"{min(share, 99)} % of the evidence for the pair that has least",
            "next tasks": ", ".join(wanted) or "-",
        }
