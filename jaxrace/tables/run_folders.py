"""What the names of folders say of a run of training: its algorithm, environment and number."""

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path

RUN = re.compile(r"(?P<name>.*?)(?P<seed>[_-]*(?:seed|rep|trial|_s)[_=-]?)(?P<number>\d+)")
COUNTED = re.compile(r"(?P<name>.*?)[_-](?:run[_-]?)?(?P<number>\d+)")
_GYM = re.compile(r".*-v\d+")
_LEVELS = 3
_PLAIN = ("run", "exp", "experiment")  # before a number, which says no more


@dataclasses.dataclass(frozen=True)
class RunFolder:
    """The folder of one run."""

    names: tuple[str, ...]  # its own name without the number, and those of the folders around it
    env: str  # the environment, if the run's own file names it
    run: str  # such as "seed 3", or "run 3", which counts runs of perhaps the same seed; or ""


def run_folder(path: Path, env: str = "") -> RunFolder:
    """That of a run's file."""
    names = [*(one.name for one in path.resolve().parents), *[""] * (_LEVELS + 1)][: _LEVELS + 1]
    number = _number(names[0])
    if number is None:
        number = _number(names[1])  # seed_0/ppo
        if number is None or number[0]:
            return RunFolder(tuple(names[:_LEVELS]), env, "")
        return RunFolder((names[0], *names[2:]), env, number[1])
    return RunFolder((number[0], *names[1:_LEVELS]), env, number[1])


def _number(name: str) -> tuple[str, str] | None:
    """What a name says beside the number of a run, and that number; None if it has none."""
    match = None if _GYM.fullmatch(name) else RUN.fullmatch(name) or COUNTED.fullmatch(name)
    if match is None:
        return ("", f"run {name}") if name.isdecimal() else None
    what = "seed" if "seed" in match.groupdict() else "run"
    before = match["name"]
    return "" if before.lower() in _PLAIN else before, f"{what} {match['number']}"


def named(folders: Sequence[RunFolder]) -> list[tuple[str, str]]:
    """The option and the environment, or "", of each: names of all tell which is which.

    A name such as Ant-v4 in the folder of a run is that of an environment. Further up it is one
    only if another folder tells the options apart: algorithms are called Dreamer-v3.

    >>> paths = ["ppo/Ant-v4/seed_1/x.csv", "sac/Ant-v4/seed_1/x.csv"]
    >>> named([run_folder(Path(path)) for path in paths])
    [('ppo', 'Ant-v4'), ('sac', 'Ant-v4')]
    """
    own, above, top = zip(*(folder.names for folder in folders), strict=True)
    found = _parted(above) if all(map(_parted, [[name] for name in own])) else None
    if not found and len({*above}) == 1:
        found = _several(_parted(own))  # ppo_Ant-v4_s0
    if not found and not any(own):
        found = _several(_parted(above))  # ppo_Ant-v4/seed_0
    if not found and not any(own) and _are_envs(above) != _are_envs(top):
        pairs = zip(top, above, strict=True) if _are_envs(above) else zip(above, top, strict=True)
        found = _several([*pairs])  # ppo/Ant-v4/seed_0, Ant-v4/ppo/seed_0
    found = found or [_alone(folder) for folder in folders]
    pairs = zip(folders, found, strict=True)
    return [(option, folder.env or env) for folder, (option, env) in pairs]


def _alone(folder: RunFolder) -> tuple[str, str]:
    """The option and the environment of one run by itself."""
    env = folder.env.replace("/", "-")  # as rl-zoo writes ALE/Pong-v5
    for place, name in enumerate(folder.names):
        is_env = name == env if env else place == 0 and _GYM.fullmatch(name)
        if name and not is_env:
            own = folder.names[0]
            return name, "" if env or place == 0 or not own else own
    return folder.names[0], env


def _are_envs(names: Sequence[str]) -> bool:
    return all(map(_GYM.fullmatch, names))


def _several(found: list[tuple[str, str]] | None) -> list[tuple[str, str]] | None:
    """The same if it has several options."""
    return found if found and len({option for option, _ in found}) > 1 else None


def _parted(names: Sequence[str]) -> list[tuple[str, str]] | None:
    """Options and environments of names that have both, such as ppo_Ant-v4; None if one has not."""
    found = []
    for name in names:
        parts = name.split("_")
        env = next(filter(_GYM.fullmatch, parts), None)
        if env is None or len(parts) == 1:
            return None
        found.append(("_".join(part for part in parts if part != env), env))
    return found
