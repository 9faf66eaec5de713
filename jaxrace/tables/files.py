"""Files that are read: text, JSON and archives, up to a size."""

import copy
import dataclasses
import functools
import gzip
import json
import math
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jaxrace.core.inputs import require_plain_file
from jaxrace.core.validation import BadArgument
from jaxrace.tables.table import Place

MOST_BYTES = 500_000_000  # a few GB as Python's texts

_WIDE = {"utf-16-le": 1, "utf-16-be": 0}  # where zeros are in plain text
_LOOKED_AT = 200  # bytes
_FIRST_LINE = re.compile(r"\s*(\{[^\n]*\})[ \t\r]*\n\s*\S")  # of several, an object by itself
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")  # no text has them
_ZSTANDARD = 93  # as archives call it
_KNOWN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTANDARD)  # of others a piece may be large

_PIECE = 4_096  # packed bytes read at once: they never become more than 150 MB


@dataclasses.dataclass(frozen=True)
class File(Place):
    """A file, and how the caller says it is written; it is read when it is first looked at."""

    path: Path
    header: bool = True
    delimiter: str = "auto"

    @property
    def ending(self) -> str:
        """Such as ".csv", of what may be packed by gzip."""
        path = self.path.with_suffix("") if self._is_packed else self.path
        return path.suffix.lower()

    @property
    def _is_packed(self) -> bool:
        return self.path.suffix.lower() == ".gz"

    @property
    def text(self) -> str:
        """Its text in UTF-8, UTF-16 or Windows-1252; BadArgument if it has other bytes."""
        return self._decoded[0]

    @property
    def encoding(self) -> str:
        """What was guessed of how it is written, in words, "" if nothing was."""
        return self._decoded[1]

    @functools.cached_property
    def _decoded(self) -> tuple[str, str]:
        content = self._unpacked() if self._is_packed else self.path.read_bytes()
        wide = [name for name, zeros in _WIDE.items() if _are_zero(content[zeros:_LOOKED_AT:2])]
        has_mark = content.startswith((b"\xff\xfe", b"\xfe\xff"))
        # Spreadsheets put a mark before the first name.
        kind = "utf-16" if has_mark else wide[0] if wide else "utf-8-sig"
        said = "text in UTF-16 without a mark" if wide and not has_mark else ""
        try:
            text = content.decode(kind)
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            try:
                is_json = self.ending.startswith(".json")  # which is in UTF-8
                text = "\0" if is_json else content.decode("cp1252")
                said = "text in Windows-1252"
            except UnicodeDecodeError:
                text = "\0"
            if _CONTROL.search(text):
                got = f"other bytes ({error.reason})"
                hint = "Excel saves it as `CSV UTF-8`"
                raise self.wrong("text in UTF-8", got, hint=hint, at=f", line {line}") from None
        if "\0" in text:
            raise self.wrong("text", "a zero byte")
        return text, said

    def _unpacked(self) -> bytes:
        try:
            with gzip.open(self.path) as opened:
                content = opened.read(MOST_BYTES + 1)
        except (EOFError, OSError, zlib.error) as error:
            raise self.wrong("a file packed by gzip", f"another ({error})") from None
        if len(content) > MOST_BYTES:
            raise self.wrong(f"at most {MOST_BYTES:,} bytes unpacked", "more")
        return content

    @functools.cached_property
    def has_lines(self) -> bool:
        """Is it JSON lines, whatever its name says of JSON?"""
        if self.ending != ".json":
            return self.ending in (".jsonl", ".ndjson", ".dsjson")
        first = _FIRST_LINE.match(self.text)
        if first is None:
            return False
        try:
            json.loads(first[1])
        except (ValueError, RecursionError):
            return False
        return True

    @functools.cached_property
    def content(self) -> Any:
        """What its JSON says."""
        return loads(self, self.text)

    @functools.cached_property
    def records(self) -> tuple[list[Any], list[int]]:
        """What JSON says in each line that is not empty, and the numbers of these lines."""
        lines = [(n, line) for n, line in enumerate(self.text.split("\n"), 1) if line.strip()]
        found = [loads(self, line, f", line {number}") for number, line in lines]
        return found, [number for number, _ in lines]


def _are_zero(content: bytes) -> bool:
    return len(content) > 1 and not any(content)


def file_at(
    argument: str, path: str | os.PathLike[str], header: bool = True, delimiter: str = "auto"
) -> File:
    """A plain file that can be read and is not too large; BadArgument if it is not."""
    file = File(argument, repr(os.fspath(path)), Path(path), header, delimiter)
    try:
        require_plain_file(argument, path)
        with file.path.open("rb") as opened:
            size = opened.seek(0, os.SEEK_END)
    except OSError as error:
        got = f"{file.where}: {error.strerror or error}"
        raise BadArgument(argument, "a file that can be read", got) from error
    if size > MOST_BYTES:
        raise file.wrong(f"at most {MOST_BYTES:,} bytes", f"{size:,}")
    return file


def files_in(
    argument: str, folder: Path, patterns: Sequence[str], left_out: Sequence[str] = ()
) -> list[Path]:
    """The files in a folder that match the first pattern that any matches, "**/" for all levels.

    In the order of their names, numbers in them by value: run2 before run10.
    """
    for pattern in patterns:
        if found := [x for x in folder.glob(pattern) if x.name not in left_out]:
            return sorted(found, key=_in_natural_order)
    names = dict.fromkeys(pattern.removeprefix("**/") for pattern in patterns)
    expected = f"a file, or a folder with {', '.join(names)}"
    raise BadArgument(argument, expected, f"'{folder}'")


def _in_natural_order(path: Path) -> tuple[list[list[tuple[int, str]]], Path]:
    """What sorts names so that numbers in them are in the order of their values."""
    parts = [re.findall(r"[0-9]+|[^0-9]+", part) for part in path.parts]
    return [[(int(x), "") if x.isdecimal() else (-1, x) for x in one] for one in parts], path


def loads(place: Place, text: str, at: str = "") -> Any:
    """What JSON says; BadArgument if it is something else, or says something twice."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise place.wrong("JSON", f"something else ({error})", at=at) from None


def _finite(text: str) -> float:
    if math.isinf(number := float(text)):
        raise ValueError(f"{text[:20]}, which is beyond all numbers")
    return number


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(n for n in names if names.count(n) > 1)!r} twice in one object")
    return found


def members(path: Path, names: Sequence[str] = ("",)) -> dict[str, bytes]:
    """The files in an archive whose names begin so; BadZipFile if damaged, or beyond 500 MB."""
    with zipfile.ZipFile(path) as archive:
        found = [info for info in archive.infolist() if info.filename.startswith(tuple(names))]
        size = sum(info.file_size for info in found)
        if size > MOST_BYTES:
            raise zipfile.BadZipFile(f"{size:,} bytes unpacked, of at most {MOST_BYTES:,}")
        return {info.filename: _unpacked(archive, info) for info in found}


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """A file of an archive, never more of it than is stated, and checked."""
    if info.compress_type not in _KNOWN:
        raise zipfile.BadZipFile(f"{info.filename} is packed in a way that is not read")
    if info.compress_type != _ZSTANDARD or sys.version_info >= (3, 14):
        with archive.open(info) as file:
            return b"".join(iter(lambda: file.read(_PIECE), b""))
    import zstandard  # late: for logs of Inspect alone

    packed = copy.copy(info)  # read as it is stored, without a sum
    packed.compress_type, packed.file_size = zipfile.ZIP_STORED, packed.compress_size
    del packed.CRC
    with (
        archive.open(packed) as content,
        zstandard.ZstdDecompressor().stream_reader(content) as reader,
    ):
        found = reader.read(info.file_size + 1)
    if len(found) != info.file_size or zlib.crc32(found) != info.CRC:
        raise zipfile.BadZipFile(f"bad size or CRC-32 of {info.filename}")
    return found
