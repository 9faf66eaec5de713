"""What `python -m papers` is asked to do; imports nothing heavy, for the command's help."""

import dataclasses
from collections.abc import Collection, Sequence

from jaxrace.core.inputs import require_default
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
      python -m papers thurstone-topk --uniform deviation --problems 2000

    Attributes:
        name: Which experiment, or all.
        quick: At a fraction of the size: to see that it works, not what comes out.
        seed: Seed of all random numbers.
        uniform: Of thurstone-...: what is uniform in [0, 1], the variance of a pair's scores, which
            the paper prints, or their deviation, whose mean is the one that it counts with.
        problems: Of thurstone-...: how many; none for the full size, or with --quick for its.
    """

    name: str
    quick: bool = False
    seed: int = 0
    uniform: str = "variance"
    problems: int | None = None

    def __post_init__(self) -> None:
        require_choice("name", self.name, (*FIGURES, ALL))
        require_integer("seed", self.seed, 0, 2**32 - 1)
        require_choice("uniform", self.uniform, ("variance", "deviation"))
        if self.problems is not None:
            require_integer("problems", self.problems, 2, 10**9)
        if not self.name.startswith("thurstone"):
            for option in ("uniform", "problems"):
                require_default(option, self, f"with {self.name}, as it is of thurstone-...")
