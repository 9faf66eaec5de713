"""Which claims about the medical task hold with other choices where the sources are silent?"""

import dataclasses
import itertools
import textwrap
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from jaxrace.agents.policies import Sigmoid
from jaxrace.answers import style
from jaxrace.commands.train.tasks import TASKS
from jaxrace.runs import plots
from jaxrace.runs.tables import markdown_table
from papers.claims import NO, OPEN, YES, Claim
from papers.preference_racing import medical_runs as medical
from papers.preference_racing.learners import GRID, searches_by
from papers.preference_racing.medical_claims import convergence_claims
from papers.preference_racing.medical_outcomes import claims_of
from papers.workbench import Workbench

_KINDS = NO, OPEN, YES
_NONE: Mapping[str, Any] = MappingProxyType({})


class Choice(NamedTuple):
    """What is chosen otherwise than in the other reports, for these learners."""

    learners: tuple[str, ...] = medical.LEARNERS
    config: Mapping[str, Any] = _NONE  # fields of ``TrainConfig``
    task: Mapping[str, Any] = _NONE  # fields of ``Task``
    learner: Mapping[str, Any] = _NONE  # arguments of ``searches_by``


CHOICES: dict[str, Choice] = {
    "as in the other reports": Choice(()),
    "no intercept": Choice(("pb-edps", "edps"), task={"policy": Sigmoid(2, bias=False)}),
    "coefficients of 2012": Choice(config={"coefficients": "furnkranz2012"}),
    "reward as printed": Choice(config={"reward": "printed"}),
    "SARSA with 10 bins": Choice(("sarsa",), learner={"grid": dataclasses.replace(GRID, bins=10)}),
    "SARSA anneals ten times slower": Choice(("sarsa",), learner={"episodes_per_divisor": 100}),
}


def run(bench: Workbench) -> None:
    """Leaves claims.csv, claims.png and report.md."""
    plain, fixed = medical.learn_all(bench), medical.fixed_all(bench)
    claims = {name: _claims(bench, name, choice, plain, fixed) for name, choice in CHOICES.items()}
    rows = [{"choice": name, **one._asdict()} for name, found in claims.items() for one in found]
    bench.write_table("claims.csv", rows)
    bench.write_figure("claims.png", _figure(claims))
    lines = zip(*claims.values(), strict=True)
    bench.write_report(
        "Do the claims hold? Each column changes one thing that the sources do not say, or say in "
        "two ways; the other learners stay as they are in medical-outcomes and "
        "medical-convergence. The numbers are in claims.csv.",
        markdown_table(
            ("claim", *claims), [[line[0].claim, *(one.holds for one in line)] for line in lines]
        ),
        "![Which claims hold](claims.png)",
    )


def _figure(claims: Mapping[str, list[Claim]]) -> "plots.Figure":
    """A cell for each claim and choice: does it hold?"""
    lines = [*zip(*claims.values(), strict=True)]
    figure, [[panel]] = plots.new_figure((1.4 * len(claims) + 6, 0.36 * len(lines) + 1.6))
    kinds = [[_KINDS.index(one.holds) for one in line] for line in lines]
    panel.grid(visible=False)
    panel.imshow(kinds, cmap=style.MORE, vmin=-1, vmax=len(_KINDS), aspect="auto", alpha=0.5)
    for row, line in enumerate(lines):
        for column, one in enumerate(line):
            panel.text(column, row, one.holds, ha="center", va="center", fontsize=7)
    names = [textwrap.shorten(line[0].claim, 70, placeholder=" ...") for line in lines]
    panel.set_yticks(range(len(lines)), names, fontsize=7)
    panel.set_xticks(range(len(claims)), [textwrap.fill(x, 16) for x in claims], fontsize=7)
    panel.set_title("Does the claim hold?")
    return figure


def _claims(
    bench: Workbench, name: str, choice: Choice, plain: medical.Findings, fixed: medical.Fixed
) -> list[Claim]:
    found = dict(plain)
    for hazard, method in itertools.product(medical.HAZARDS, choice.learners):
        config = medical.paper_config(bench, method, hazard)
        config = dataclasses.replace(config, **choice.config)
        task = dataclasses.replace(TASKS[config.env](config), **choice.task)
        searches = searches_by(method, config, task, **choice.learner)
        stage = f"{name}, {method} {hazard}"
        found[hazard, method] = medical.learn(bench, config, stage, searches)
    if choice.config:  # nothing else changes the fixed policies
        fixed = medical.fixed_all(bench, **choice.config)
    claims = convergence_claims(found, fixed)
    for hazard in medical.HAZARDS:
        learned = {method: found[hazard, method].last for method in medical.LEARNERS}
        claims += claims_of(hazard, {**learned, **fixed[hazard]})
    return claims
