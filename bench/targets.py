"""What jaxrace is to reach, as ratios of times (or of rates) between named benchmarks."""

import dataclasses
from typing import Any

Measured = dict[str, dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class Target:
    """jaxrace against one peer, or against a rate.

    Attributes:
        subject: The work that both do.
        ours: Name of our benchmark.
        peer: Name of the peer's; or what would be done per second.
        at_least: The ratio to reach; None where the ratio is shown only.
    """

    subject: str
    ours: str
    peer: str | int
    at_least: float | None = None

    def ratio(self, measured: Measured, kind: str = "seconds") -> float | None:
        """The peer's time over ours, if both were measured; ``kind`` as in the results."""
        if self.ours not in measured:
            return None
        if isinstance(self.peer, int):
            ours = measured[self.ours]
            return ours["per_second"] * ours["seconds"] / ours[kind] / self.peer
        if self.peer not in measured:
            return None
        ours, peer = measured[self.ours], measured[self.peer]
        if "comparisons_per_second" in peer:  # the processor's limit is a rate
            limit = peer[f"comparisons_per_{kind.removesuffix('s')}"]
            return ours["comparisons"] / ours[kind] / limit
        return peer[kind] / ours[kind]


_RACES = "1,000 races (K 10, n_max 300)"
_SHARP = "1,000 sharp races"
_DOMINANCE = "10,000 dominance races (K 10, n_max 300)"
_SEARCHES = "100 searches of 10,000 episodes"
_TRIAL = "Daedalus2 trial (gridworld)"
_PREFIX = "prefix win counts (100 x K 10, n 300)"

_DUELS = (
    *(("rucb", 10, 400), ("savage", 10, 400), ("dts", 10, 100)),
    *(("rucb", 36, 150), ("savage", 36, 150), ("dts", 36, 100)),
)

_SELECTION, _PEER = "{} (4 of 10, 1,000 duels)", "selections restarted/numpy"

_HANDS, _EVAL7 = "holdem hands/jaxrace, 10000 at once", "holdem evaluations/eval7"

TARGETS = (
    Target(_RACES, "races/jaxrace", "races/numpy open pairs", 8),
    Target(f"{_RACES}, a device per core", f"{_SHARP}/all cores", f"{_SHARP}/NumPy", 8),
    Target(_RACES, "races/jaxrace", "races/numpy lockstep", 8),
    Target(_RACES, "races/jaxrace", "races/numpy plain", 50),
    Target("samples of 1,000 races alone", "races/samples alone", "races/numpy open pairs"),
    Target(_DOMINANCE, "dominance/jaxrace", "dominance/sharp", 3),
    Target(
        f"{_DOMINANCE}, a device per core",
        "10,000 dominance races/all cores",
        "10,000 sharp races/all cores",
        3,
    ),
    Target(_DOMINANCE, "dominance/jaxrace", "dominance/numpy", 50),
    Target(_SEARCHES, "searches/jaxrace", "searches/pycma", 50),
    Target(f"{_SEARCHES}, a device per core", "100 searches/all cores", "100 searches/NumPy", 50),
    Target(_SEARCHES, "searches/jaxrace", "searches/pycma NoiseHandler"),
    Target("their random numbers alone", "searches/random numbers alone", "searches/pycma"),
    Target("their episodes alone", "searches/episodes alone", "searches/pycma"),
    Target("their CMA-ES alone", "searches/CMA-ES alone", "searches/pycma"),
    Target("4,000 searches, per 100", "sweeps/grid", "sweeps/100 equal", 1 / 1.15),
    Target("a run of 100 s, saved every 30 s", "sweeps/saved", "sweeps/not saved", 1 / 1.03),
    Target(f"{_SEARCHES}, in a sweep", "sweeps/100 equal", "searches/pycma"),
    Target(_PREFIX, "prefix/jaxrace", "prefix/broadcast", 20),
    Target(_PREFIX, "prefix/jaxrace", "limit/c", 0.25),
    *(
        Target(f"{name} duels (K {arms})", f"duels {name} K {arms}/jaxrace", peer, ratio)
        for name, arms, ratio in _DUELS
        for peer in (f"duels {name} K {arms}/duelpy",)
    ),
    Target("BCa bounds (64 x 2,000, B 2,000)", "bca/jaxrace", "bca/scipy", 30),
    Target("BCa bounds (64 x 2,000, B 2,000)", "bca/jaxrace", "bca/numpy", 2),
    Target(_TRIAL, "daedalus trials/jaxrace", "daedalus trials/plain", 20),
    Target(_TRIAL, "daedalus trials/jaxrace", "daedalus trials/numpy", 20),
    Target(_SELECTION.format("ML-POCBAm, followed"), "selections followed/jaxrace", _PEER, 50),
    *(
        Target(_SELECTION.format(f"ML-POCBAm, {fit}"), f"selections {fit}/jaxrace", _PEER)
        for fit in ("restarted", "restarted, float64", "swept")
    ),
    Target(_SELECTION.format("POCBAm"), "selections pocbam/jaxrace", "selections pocbam/numpy"),
    Target("hold'em hands, random players", _HANDS, "holdem hands/openspiel", 15),
    Target("hold'em hands, random players", _HANDS, "holdem hands/pokerkit", 1000),
    Target("hold'em hands, evolved players", "holdem hands/evolved players, 16 lanes", 10_000, 1),
    Target("7-card evaluations", "holdem evaluations/jaxrace, cards first", _EVAL7, 100),
    Target("CartPole returns (64 x 16)", "rollouts/jaxrace", "rollouts/evosax", 1),
)
