"""What `python -m papers` is asked to do; imports nothing heavy, for the command's help."""

import dataclasses
from collections.abc import Collection, Sequence

from jaxrace.core.validation import BadArgument, require_choice, require_integer
from papers.figures import FIGURES, IN_ALL

ALL = "all"
_LISTED = (f"  {name:20} {FIGURES[name]}{'' if name in IN_ALL else ' *'}" for name in FIGURES)
EXPERIMENTS = "\n".join(("experiments:", *_LISTED))


def require_names(name: str, value: Sequence[str], choices: Collection[str]) -> None:
    """Raise unless ``value`` has different names, all of them among ``choices``."""
    if len(set(value)) < len(value):
        raise BadArgument(name, "different names", repr(",".join(value)))
    for one in value:
        if one not in choices:
            raise BadArgument(name, f"some of {', '.join(choices)}", repr(one))


@dataclasses.dataclass(frozen=True)
class ReproduceConfig:
    """Make a paper's figures again.

    Leaves a folder with CSV files, figures, and report.md, which sets the numbers beside the
    published ones. All are those that are not marked *, which take up to hours; each in a folder.

    For example:
      python -m papers pbr-synthetic
      python -m papers all --quick --out runs/figures

    Attributes:
        name: Which experiment, or all.
        quick: At a fraction of the size: to see that it works, not what comes out.
        seed: Seed of all random numbers.
    """

    name: str
    quick: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        require_choice("name", self.name, (*FIGURES, ALL))
        require_integer("seed", self.seed, 0, 2**32 - 1)
