"""What `jaxrace reproduce` is asked to do; imports nothing heavy, for the command's help."""

import dataclasses

from jaxrace.commands.help_texts import REPRODUCE
from jaxrace.papers.figures import FIGURES, IN_ALL
from jaxrace.validation import require_choice, require_integer

ALL = "all"

ABOUT = REPRODUCE.format(
    experiments="\n".join(
        f"  {name:20} {about}{'' if name in IN_ALL else ' *'}" for name, about in FIGURES.items()
    ),
    all=ALL,
)


@dataclasses.dataclass(frozen=True)
class ReproduceConfig:
    """Figures and tables of the papers, made again.

    Attributes:
        name: One of ``FIGURES``, or "all" for a folder with a folder for each.
        quick: At a fraction of the size: to see that it works, not what comes out.
        seed: Seed of all random numbers.
    """

    name: str
    quick: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        require_choice("name", self.name, (*FIGURES, ALL))
        require_integer("seed", self.seed, 0, 2**32 - 1)
