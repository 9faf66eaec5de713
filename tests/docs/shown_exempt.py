"""Commands that README.md and docs/ name and tests/docs/shown_numbers.py does not run, and why."""

from typing import NamedTuple


class Long(NamedTuple):
    """What a command makes that takes too long, or a machine of its own."""

    file: str
    part: str  # of the page
    command: str  # as it stands there
    why: str


class Bare(NamedTuple):
    """A command beside which no number is shown."""

    file: str
    command: str
    why: str


_QUIET = "seconds, and ratios of seconds, are of a quiet machine"
_ITSELF = "a slow test that holds the numbers against what it finds"

LONG = [
    Long(
        "docs/explain/how-many-runs.md", "good", "python -m papers.studies.planning", "20 minutes"
    ),
    Long("docs/developers/tried.md", "Bets", "python -m papers.studies.bets", "several minutes"),
    Long(
        "docs/compared/irace-and-optuna.md",
        "others",
        "python -m papers.studies.shared_tasks",
        "several minutes",
    ),
    Long(
        "docs/papers/games.md",
        "apart",
        "python -m papers.studies.tournaments",
        "some minutes",
    ),
    Long(
        "docs/papers/games.md",
        "laws",
        "python -m papers.studies.two_engines",
        "two minutes",
    ),
    Long("docs/papers/games.md", "adversary", "python -m papers.audits.tournaments", "minutes"),
    Long(
        "docs/compared/sprt.md",
        "standard error",
        "python -m papers.studies.two_engines",
        "two minutes",
    ),
    Long(
        "docs/papers/reproductions.md",
        "others",
        "jaxrace train medical --seed 1 --repeats 1000",
        "a minute, and it looks at one number",
    ),
    Long(
        "docs/compared/bradley-terry.md", "evalica", "python bench/rating.py", "of the extra bench"
    ),
    Long(
        "docs/theory/votes.md",
        "calibrated",
        "python tests/judging/rating_cases.py 3000",
        "minutes",
    ),
    Long(
        "docs/papers/audit.md",
        "by preference",
        "python -m papers.audits.preference",
        "an hour or so",
    ),
    Long(
        "docs/papers/audit.md", "all tables", "pytest -m slow tests/papers/test_audit.py", _ITSELF
    ),
    Long("docs/papers/audit.md", "dominance", "python -m papers.audits.dominance", "46 minutes"),
    Long(
        "docs/papers/reproductions.md", "by mean", "python -m papers.studies.by_mean 300", "minutes"
    ),
    Long(
        "docs/papers/audit.md",
        "shared tasks",
        "python -m papers.audits.shared",
        "half an hour or so",
    ),
    Long(
        "docs/papers/dueling.md",
        "introspection",
        "pytest -m slow tests/dueling/test_dueling_introspection.py",
        _ITSELF,
    ),
    Long(
        "docs/papers/audit.md",
        "20,000 tables",
        "python -m papers.audits.groups",
        "20 minutes",
    ),
    Long("docs/papers/audit.md", "gate", "python -m papers.audits.gate 20000", "minutes"),
    Long("docs/theory/gate.md", "gate", "python -m papers.studies.gate_forecast", "a minute"),
    Long("docs/papers/audit.md", "a line", "python -m papers.audits.boards 4000", "minutes"),
    Long(
        "docs/papers/audit.md",
        "199 draws",
        "python -m papers.audits.one_look",
        "an hour or so",
    ),
    Long(
        "docs/compared/honestboard.md",
        "20 systems",
        "python -m papers.studies.leaderboards 60 600",
        "minutes",
    ),
    Long("docs/papers/dueling.md", "both figures", "python -m papers sup-klucb", "46 minutes"),
    Long("docs/papers/dueling.md", "SAVAGE on duels", "python -m papers savage-dueling", "an hour"),
    Long(
        "docs/papers/dueling.md",
        "its full horizon",
        "python -m papers savage-dueling-400",
        "many hours",
    ),
    Long("docs/jax/dueling.md", "duels a second", "python bench/run.py --only bench_duels", _QUIET),
    Long("docs/papers/dueling.md", "games of many sizes", "python bench/mixed_arms.py", _QUIET),
    Long(
        "docs/compared/adastop.md",
        "AdaStop",
        "python -m papers.studies.adastop_error",
        "of the extra bench",
    ),
    Long("docs/jax/gpu.md", "all", "python bench/gpu.py", "on a GPU"),
    Long("docs/jax/gpu.md", "train", "jaxrace train medical", "on a GPU"),
    Long("docs/jax/gpu.md", "predicted", "bench/gpu_programs.py", "compiled for an H100, on Linux"),
    Long("docs/jax/holdem.md", "hands a second", "python bench/run.py --only holdem", _QUIET),
    Long("docs/jax/holdem.md", "the engine", "pytest -m slow", _ITSELF),
    Long("docs/papers/holdem.md", "the best players", "python -m papers poker-topk", "31 minutes"),
    Long(
        "docs/papers/holdem.md",
        "players that evolve",
        "python -m papers.holdem --selection hybrid,pkg,race,uniform --hands 119040 "
        "--test-decks 50 --repeats 5",
        "hours",
    ),
    Long("docs/papers/improvement.md", "figure 4", "python -m papers hcpi-daedalus", "150 minutes"),
    Long(
        "docs/papers/improvement.md",
        "how often",
        "pytest -m slow tests/improvement/test_improvement_safety.py",
        _ITSELF,
    ),
    Long(
        "docs/papers/improvement.md",
        "campaigns",
        "pytest -m slow tests/papers/test_logged.py",
        _ITSELF,
    ),
    Long("docs/developers/performance.md", "first calls", "python bench/first_calls.py", _QUIET),
    Long("docs/developers/performance.md", "seconds", "python bench/run.py", _QUIET),
    Long("docs/developers/performance.md", "processor seconds", "python bench/start.py", _QUIET),
    Long("docs/developers/performance.md", "votes", "python bench/rating.py --files", _QUIET),
    Long("docs/developers/performance.md", "how a table grows", "python bench/growth.py", _QUIET),
    Long(
        "docs/developers/performance.md",
        "a sample's time",
        "python bench/simulator_cost.py 3",
        _QUIET,
    ),
    Long("docs/developers/performance.md", "seconds of it", "jaxrace train medical", _QUIET),
    Long("docs/jax/sweeps.md", "seconds", "python bench/ray_nodes.py", _QUIET),
    Long("docs/papers/reproductions.md", "seconds of all", "python -m papers all", _QUIET),
    Long("docs/jax/medical.md", "limits", "python -m papers medical-limits", "20 minutes"),
    Long(
        "docs/papers/reproductions.md",
        "the table of sizes",
        "python -m papers near-limit",
        "an hour",
    ),
    Long(
        "docs/papers/reproductions.md", "seconds of a look", "python -m papers all --quick", _QUIET
    ),
    Long(
        "docs/papers/top_k_selection.md",
        "figure 2",
        "python -m papers thurstone-topk",
        "25 minutes",
    ),
    Long(
        "docs/papers/top_k_selection.md",
        "figures 5 and 6",
        "python -m papers thurstone-noise",
        "48 minutes",
    ),
    Long(
        "docs/papers/top_k_selection.md",
        "figures 2c and 3",
        "python -m papers thurstone-large",
        "24 minutes",
    ),
    Long(
        "docs/papers/top_k_selection.md",
        "40 of 100",
        "python -m papers.selections thurstone --options 100 --top 40 --budget 14850",
        "minutes",
    ),
    Long(
        "docs/papers/top_k_selection.md",
        "pooled, sigma uniform",
        "python -m papers.selections thurstone --uniform deviation --top 4",
        "minutes",
    ),
    Long(
        "docs/papers/improvement.md",
        "400 trajectories with the car",
        "python -m papers.improvements mountain-car --method batch --bound ci",
        "minutes",
    ),
    Long(
        "docs/papers/improvement.md",
        "efforts of the search",
        "python -m papers.improvements gridworld --bound ci --candidates none",
        "minutes",
    ),
    Long(
        "docs/papers/top_k_selection.md",
        "who needs least",
        "python -m papers topk-shootout",
        "40 minutes",
    ),
    Long(
        "docs/jax/top_k_selection.md",
        "microseconds",
        "python bench/run.py --only bench_selection",
        _QUIET,
    ),
    Long(
        "docs/papers/top_k_selection.md",
        "modes",
        "pytest -m slow -s tests/papers/test_thurstone_modes.py",
        _ITSELF,
    ),
]

_CALL = "how it is called, without what it prints"

BARE = [
    Bare(
        "docs/theory/tiers.md",
        "jaxrace rank results.csv --shared --by mean --low 0 --high 1 --tolerance 0.01",
        "a file of the reader's",
    ),
    Bare(
        "docs/theory/one-look.md",
        "jaxrace rank board.csv --shared --by mean --low 0 --high 1 --final",
        "shown on a how-to page, which runs it",
    ),
    Bare(
        "docs/developers/performance.md",
        "python bench/reporting.py bench/results/amd-epyc-2-cores.json",
        "tests/house/test_performance_page.py compares it",
    ),
    Bare("README.md", "jaxrace duel", _CALL),
    Bare("README.md", "jaxrace improve docs/data/log.csv --low 0 --high 20 --bound betting", _CALL),
    Bare("README.md", "jaxrace select docs/data/games.csv --top 3 --next 10", _CALL),
    Bare(
        "docs/reference/data.md",
        "jaxrace race results/ --score-column acc --weights equal --by mean --low 0 --high 1",
        "a folder of the reader's",
    ),
    Bare("docs/reference/data.md", "jaxrace select FILE", _CALL),
    Bare("docs/reference/data.md", "jaxrace duel FILE", _CALL),
    Bare("docs/reference/data.md", "jaxrace improve FILE --low 0 --high 1", _CALL),
    Bare("docs/jax/dominance_race.md", "jaxrace race", _CALL),
    Bare("docs/jax/dueling.md", "jaxrace duel mine.csv", _CALL),
    Bare("docs/jax/dueling.md", "python -m papers.duels mine.csv", _CALL),
    Bare("docs/jax/gpu.md", "bench/gpu_list.py", "what another command reads"),
    Bare("docs/jax/gpu.md", "jaxrace train", _CALL),
    Bare("docs/jax/gpu.md", "python -m papers", "a rule, not what it prints"),
    Bare("docs/jax/holdem.md", "python -m papers.holdem", _CALL),
    Bare("docs/jax/improvement.md", "jaxrace improve log.csv --low 0 --high 20 --bound ci", _CALL),
    Bare(
        "docs/theory/gate.md",
        "jaxrace gate results.csv --baseline main --margin 0.01 --shared",
        _CALL,
    ),
    Bare("docs/papers/reproductions.md", "python -m papers NAME", _CALL),
    Bare(
        "docs/theory/groups.md",
        "jaxrace order ITEMS.csv --groups subject --seed 1 --to order.csv",
        _CALL,
    ),
    Bare(
        "docs/theory/groups.md",
        "jaxrace race results.csv --shared --weights equal --of 3490 --by mean --low 0 --high 1",
        _CALL,
    ),
    Bare(
        "docs/jax/medical.md",
        "jaxrace train medical --method edps-fast --hazard B",
        "shown as survival alone",
    ),
    Bare("docs/jax/sweeps.md", "jaxrace train medical --repeats 400 --ray", _CALL),
    Bare("docs/jax/sweeps.md", "jaxrace train medical --sigma 0.1,1,5,10,15,25,50,100", _CALL),
    Bare(
        "docs/jax/sweeps.md", "jaxrace train medical --method pb-edps", "what another command does"
    ),
    Bare("docs/jax/sweeps.md", "jaxrace train", _CALL),
    Bare("docs/theory/tables.md", "jaxrace race", _CALL),
    Bare("docs/jax/top_k_selection.md", "jaxrace select", _CALL),
    Bare("docs/theory/votes.md", "jaxrace select", _CALL),
    Bare("docs/theory/games.md", "jaxrace select", _CALL),
    Bare(
        "docs/compared/sprt.md",
        "jaxrace gate games.pgn --baseline main --want better --tolerance 2 --gap 2",
        _CALL,
    ),
    Bare("docs/theory/games.md", "jaxrace gate", _CALL),
    Bare(
        "docs/theory/games.md",
        "jaxrace gate games.pgn --baseline old --want better --tolerance 2 --gap 2",
        _CALL,
    ),
    Bare("docs/jax/top_k_selection.md", "python -m papers.selections thurstone|wins|circle", _CALL),
    *(
        Bare("docs/which.md", f"jaxrace {call}", _CALL)
        for call in (
            *("race FILE", "rank FILE --shared", "gate FILE", "plan FILE", "select FILE"),
            *("duel FILE", "improve FILE", "train MODULE:NAME"),
        )
    ),
    Bare("docs/which.md", "jaxrace race", _CALL),
]
