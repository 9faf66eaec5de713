"""Files in archives, up to a size: few bytes of an archive may stand for many GB."""

import io
import struct
import sys
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from jaxrace.tables.delimited import MOST_BYTES

_ZSTANDARD = 93  # as archives call it
_KNOWN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTANDARD)  # of others a piece may be large
_HEADER = 30  # bytes before each file in an archive, but for its name
_PIECE = 4_096  # bytes at once, which no packer makes out of more than 150 MB


def members(path: Path, names: Sequence[str] = ("",)) -> dict[str, bytes]:
    """The files in an archive whose names begin so, by name.

    ``zipfile.BadZipFile`` if they are damaged, or more than 500 MB together when unpacked, whatever
    sizes the archive states. It needs the package zstandard where files are packed so.
    """
    with zipfile.ZipFile(path) as archive:
        found = [info for info in archive.infolist() if info.filename.startswith(tuple(names))]
        size = sum(info.file_size for info in found)
        if size > MOST_BYTES:
            raise zipfile.BadZipFile(f"{size:,} bytes unpacked, of at most {MOST_BYTES:,}")
        return {info.filename: _unpacked(archive, info) for info in found}


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """A file of an archive, never more of it than is stated, and that is checked.

    Inspect writes Zstandard, which Python reads from 3.14 on.
    """
    if info.compress_type not in _KNOWN:
        raise zipfile.BadZipFile(f"{info.filename} is packed in a way that is not read")
    if info.compress_type != _ZSTANDARD or sys.version_info >= (3, 14):
        with archive.open(info) as file:
            return b"".join(iter(lambda: file.read(_PIECE), b""))
    import zstandard  # late: other logs need none

    packed = archive.fp
    assert packed is not None
    packed.seek(info.header_offset)
    header = packed.read(_HEADER)
    if len(header) < _HEADER:
        raise zipfile.BadZipFile(f"{info.filename} is cut off")
    packed.seek(sum(struct.unpack("<HH", header[-4:])), 1)  # a name, and what follows it
    content = io.BytesIO(packed.read(min(info.compress_size, MOST_BYTES)))
    with zstandard.ZstdDecompressor().stream_reader(content) as reader:
        found = reader.read(info.file_size + 1)
    if len(found) != info.file_size or zlib.crc32(found) != info.CRC:
        raise zipfile.BadZipFile(f"bad size or CRC-32 of {info.filename}")
    return found
