"""What a compiled GPU program launches, read from XLA's text of it: kernels, loops and bytes.

The text lists the operations of each computation in the order in which they are launched. A fusion
is one kernel, and so is every other operation that computes or copies; loops, branches and calls
are not, and are looked into.
"""

import dataclasses
import math
import re
from collections.abc import Iterator

# Seconds: a kernel at least, and a look of the host at a loop's condition. Of two loops on an H200
# a pass of four kernels took 18.8 us, and 32.1 us where the host looks. The rates are those of a
# copy and of a chain of comparisons and additions on an H100. All by `gpu.py`.
LAUNCH, LOOK = 4.7e-6, 13.3e-6
BYTES_PER_SECOND = 2.2e12
COMPARISONS_PER_SECOND = 1.5e12

_NO_KERNEL = {
    *("parameter", "constant", "tuple", "get-tuple-element", "bitcast", "while", "conditional"),
    *("call", "after-all", "partition-id", "async-done", "copy-done", "opt-barrier"),
}
_IN_PLACE = {"dynamic-update-slice": 1, "scatter": 2}  # which operand is written into the first
_SIZES = {"pred": 1, "s4": 1, "u4": 1, "bf16": 2, "c64": 8, "c128": 16}
_COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) \(.*\{$")
_INSTRUCTION = re.compile(
    r"^\s+(ROOT )?%?([\w.\-]+) = (\(.*?\)|\S+) ([\w\-]+)\((.*?)\)(, .*)?$", re.DOTALL
)
_SHAPE = re.compile(r"\b([a-z]+\d*)\[([\d,]*)\]")
_CALLED = re.compile(
    r"(?:calls|body|to_apply|called_computations|true_computation|false_computation)"
    r"=(?:\{([^}]*)\}|%?([\w.\-]+))"
)
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')


@dataclasses.dataclass(frozen=True)
class Instruction:
    """A line of a computation."""

    name: str
    shape: str
    opcode: str
    operands: tuple[str, ...]
    called: tuple[str, ...]
    trips: int | None
    is_root: bool


@dataclasses.dataclass(frozen=True)
class Loop:
    """A loop, or the whole program as one that passes once.

    Attributes:
        passes: How often, None where XLA does not know.
        kernels: Launched in each pass, outside of inner loops.
        bytes: What those read and write.
        seconds: What each pass takes of them, at least.
        inner: The loops in it.
    """

    passes: int | None
    kernels: int
    bytes: int
    seconds: float
    inner: tuple["Loop", ...]

    def each(self, depth: int = 0) -> Iterator[tuple[int, "Loop"]]:
        """All loops with their depth, this one first."""
        yield depth, self
        for loop in self.inner:
            yield from loop.each(depth + 1)

    def total(
        self, trips: tuple[int, ...], unknown: int = 0, later: tuple[int, ...] = ()
    ) -> "Total":
        """Of the program, with loops of unknown length taken to pass so often, by depth.

        ``later`` are the passes of the outermost such loops behind the first, where they differ.
        """
        inner = Total(0, 0, 0.0)
        for loop in self.inner:
            known = loop.passes is not None
            passes = loop.passes if loop.passes is not None else trips[min(unknown, len(trips) - 1)]
            found = loop.total(trips, unknown + (not known))
            # A loop of known length is unrolled into launches; else the host looks every time.
            looks = 0 if known else passes + 1
            trips = trips if known else later or trips
            inner = Total(
                inner.launches + passes * found.launches,
                inner.looks + passes * found.looks + looks,
                inner.seconds + passes * found.seconds + LOOK * looks,
            )
        return Total(self.kernels + inner.launches, inner.looks, self.seconds + inner.seconds)


@dataclasses.dataclass(frozen=True)
class Total:
    """Launches, looks at conditions, and the seconds that these and the bytes take."""

    launches: int
    looks: int
    seconds: float


class Module:
    """A compiled program."""

    def __init__(self, text: str) -> None:
        self.computations: dict[str, list[Instruction]] = {}
        self.entry = ""
        lines: list[Instruction] = []
        for line in text.splitlines():
            if found := _COMPUTATION.match(line):
                lines = self.computations.setdefault(found[1], [])
                if line.startswith("ENTRY"):
                    self.entry = found[1]
            elif found := _INSTRUCTION.match(line):
                lines.append(_instruction(found))
        self._shapes = {
            name: {one.name: one.shape for one in lines}
            for name, lines in self.computations.items()
        }

    def program(self) -> Loop:
        """All of it."""
        return self._loop(self.entry, 1)

    def _loop(self, name: str, passes: int | None) -> Loop:
        kernels, moved, seconds, inner = 0, 0, 0.0, []
        for one in self.computations[name]:
            if one.opcode == "while":
                inner.append(self._loop(one.called[0], one.trips))
            elif one.opcode in ("conditional", "call"):
                # Of the branches the longest counts.
                branches = [self._loop(branch, 1) for branch in one.called]
                most = max(branches, key=lambda branch: branch.total((1,)).seconds)
                inner.extend(most.inner)
                kernels, moved = kernels + most.kernels, moved + most.bytes
                seconds += most.seconds + (LOOK if one.opcode == "conditional" else 0)
            elif one.opcode not in _NO_KERNEL:
                size = self._moved(one, name)
                kernels, moved = kernels + 1, moved + size
                seconds += max(LAUNCH, size / BYTES_PER_SECOND)
        return Loop(passes, kernels, moved, seconds, tuple(inner))

    def _moved(self, kernel: Instruction, where: str) -> int:
        """Bytes that a kernel reads and writes; of what it takes pieces of, the pieces."""
        shapes = self._shapes[where]
        if kernel.opcode != "fusion" or not kernel.called:
            return bytes_of(kernel.shape) + sum(bytes_of(shapes[x]) for x in kernel.operands)
        inside = self.computations[kernel.called[0]]
        inner_shapes = self._shapes[kernel.called[0]]
        moved = 0
        for one in inside:
            if one.opcode == "parameter":
                users = [user for user in inside if one.name in user.operands]
                pieces = [_piece(user, one.name, inner_shapes) for user in users]
                whole = bytes_of(one.shape)
                taken = [whole if piece is None else piece for piece in pieces]
                moved += min(whole, sum(taken))
            elif one.is_root:
                roots = (
                    [one]
                    if one.opcode != "tuple"
                    else [found for found in inside if found.name in one.operands]
                )
                moved += sum(_written(root, inner_shapes) for root in roots)
        return moved


def _instruction(found: re.Match[str]) -> Instruction:
    root, name, shape, opcode, operands, rest = found.groups()
    rest = rest or ""
    called = [x for pair in _CALLED.findall(rest) for x in ", ".join(pair).split(", ") if x]
    if branches := _BRANCHES.search(rest):
        called += branches[1].split(", ")
    trips = _TRIPS.search(rest)
    return Instruction(
        name,
        shape,
        opcode,
        tuple(re.findall(r"%([\w.\-]+)", operands)),
        tuple(x.lstrip("%") for x in called),
        int(trips[1]) if trips else None,
        bool(root),
    )


def bytes_of(shape: str) -> int:
    """Of an array, or of a tuple of them, by XLA's text of its shape.

    >>> bytes_of("(f32[2,3]{1,0}, pred[4])")
    28
    """
    total = 0
    for kind, sizes in _SHAPE.findall(shape):
        bits = re.search(r"\d+$", kind)
        width = _SIZES.get(kind) or (int(bits[0]) // 8 if bits else 0)
        total += width * math.prod(int(size) for size in sizes.split(",") if size)
    return total


def _piece(user: Instruction, name: str, shapes: dict[str, str]) -> int | None:
    """Bytes that an operation takes of an operand, if these are not all."""
    if user.operands[0] != name:
        return None
    if user.opcode in ("dynamic-slice", "gather", "slice"):
        return bytes_of(user.shape)
    if user.opcode in _IN_PLACE:
        return bytes_of(shapes[user.operands[_IN_PLACE[user.opcode]]])
    return None


def _written(root: Instruction, shapes: dict[str, str]) -> int:
    if root.opcode in _IN_PLACE:
        return bytes_of(shapes[root.operands[_IN_PLACE[root.opcode]]])
    return bytes_of(root.shape)
