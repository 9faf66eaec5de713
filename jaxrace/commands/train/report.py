"""The table that `jaxrace train` prints."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Column

from jaxrace import runs
from jaxrace.commands.printing import confidence_scale, plus_minus, print_table, say


def _print_table(console: Console, summary: dict[str, Any]) -> None:
    """The method, or its settings, and the baselines, each metric as mean and standard error.

    The error of a setting of a grid is that of its 95 % confidence interval.
    """
    own, sign, is_grid = {summary["policy"]: summary}, plus_minus(console), "settings" in summary
    if is_grid:
        own = {_setting_name(one): one for one in summary["settings"]}
    rows = [
        [name, *(_cell(found[metric], sign, is_grid) for metric in summary["metrics"])]
        for name, found in (own | summary["baselines"]).items()
    ]
    metrics = (Column(label, justify="right") for label in summary["metrics"].values())
    print_table(console, [Column("sigma, delta" if is_grid else ""), *metrics], rows, "bold")


def _setting_name(setting: dict[str, Any]) -> str:
    sigma = "-" if setting["sigma"] is None else f"{setting['sigma']:g}"
    return f"{sigma}, {setting['delta']:g}"


def _cell(statistic: dict[str, Any], sign: str, is_grid: bool) -> str:
    """As many digits as the standard error makes sensible."""
    mean, stderr = statistic["mean"], statistic["stderr"]
    if mean is None:
        return "failed"
    if stderr is None:
        return f"{mean:.3g}"
    error = confidence_scale(statistic["count"]) * stderr if is_grid else stderr
    return f"{mean:.3f} {sign} {error:.3f}" if abs(mean) < 10 else f"{mean:.2f} {sign} {error:.2f}"


def print_results(console: Console, folder: Path) -> None:
    """Print the table of a run folder of ``train``, and a line with the times and the folder."""
    summary, timing = runs.read_summary(folder), runs.read_timing(folder)
    _print_table(console, summary)
    if "settings" in summary:
        best = f"settings ranked by {summary['metrics'][summary['objective']]}, best first"
        say(console, f"{best}; 95 % confidence intervals")
    elif summary["repeats"] > 1:
        say(console, f"means of {summary['repeats']} repeats and their standard errors")
    if "race" in summary:
        say(console, race_line(summary["race"], timing))
    times = f"compile {timing['compile_seconds']:.1f} s, run {timing['run_seconds']:.1f} s"
    # Of a job that was resumed, the episodes per second are not known.
    for name, text in _RATES.items():
        if (rate := timing[name]) is not None:
            times += f", {text.format(rate)}"
    say(console, f"{times}; {folder}")


# What may be known of a sweep, and how it is written.
_RATES = {
    "episodes_per_second": "{:,.0f} episodes/s",
    "searches_per_second": "{:,.0f} searches/s",
    "lane_utilisation": "{:.0%} of the lanes busy",
}

# By the certificates of a race for the best one.
_CERTIFIED = {
    "dominance": "certified to beat every other setting",
    "counts": "certified to beat the most other settings",
}


def race_line(race: dict[str, Any], timing: dict[str, Any]) -> str:
    """What the race between the settings found, and what it saved."""
    best = _setting_name(race["best"])
    found = (
        f"sigma, delta {best}: {_CERTIFIED[race['certificate']]}; to certify a wrong one has "
        f"probability at most {race['delta']:g}"
        if race["certified"]
        else f"NOT certified which setting is best; {best} leads"
    )
    made, without, most = (
        race[name] for name in ("searches", "searches_without_race", "most_searches_of_race")
    )
    saved = f"{made:,} of {without:,} searches made, {1 - made / without:.0%} saved"
    if most != without:
        saved += f" ({1 - made / most:.0%} of the {most:,} that its blocks can use)"
    return f"race: {found}; {saved}; took {timing['race_seconds']:.1f} s"
