"""Tables in text files: CSV with any delimiter, as spreadsheets and other programs write it."""

import contextlib
import csv
import io
import itertools
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from jaxrace.core.validation import require_choice, require_plain_file
from jaxrace.tables.cells import counts, kind_of
from jaxrace.tables.heads import are_numbered_tasks, names_option, names_score, names_task
from jaxrace.tables.table import Table, listed, named, require_different, wrong

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_SPACE = " "  # one or more of them; it may be in a name, too, and is tried last
_NAMES = {**DELIMITERS, _SPACE: "space"}

MOST_BYTES = 500_000_000  # a few GB as Python's texts
_MOST_TITLES = 20  # lines above the heads
_LOOKED_AT = 100  # rows that tell the delimiter
_DECIMAL = re.compile(r"\d,\d")
# What is on the two sides of a decimal comma, and what only stands where decimals have points.
_WHOLE, _BEHIND = re.compile(r"[+-]?\d+"), re.compile(r"\d+(e[+-]?\d+)?\s*%?", re.IGNORECASE)
_BETWEEN = re.compile(r"[;\t|]|,(?=\S)")
_LINE, _AROUND = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+"), re.compile(r"^ +| +$")
_CUT = re.compile(r"[+-]?0\d+|-0")
_WITH_POINT = re.compile(r"[+-]?(\d+\.\d*|\.\d+)(e[+-]?\d+)?\s*%?", re.IGNORECASE)


def require_file(argument: str, path: str | os.PathLike[str]) -> None:
    """Raise ValueError unless it is a plain file that can be read, and not too large."""
    where = repr(os.fspath(path))
    try:
        require_plain_file(argument, path)
        with Path(path).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
    except OSError as error:
        raise ValueError(
            f"{argument}: expected a file that can be read, got {where}: {error.strerror or error}"
        ) from error
    if size > MOST_BYTES:
        raise wrong(argument, f"at most {MOST_BYTES:,} bytes", where, f"{size:,}")


def read_text(argument: str, path: str | os.PathLike[str]) -> str:
    """The text of a file in UTF-8, or in UTF-16 with its mark; ValueError if it is none."""
    require_file(argument, path)
    where = repr(os.fspath(path))
    content = Path(path).read_bytes()
    is_wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        # Spreadsheets put a mark before the first name.
        text = content.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        got = f"other bytes ({error.reason})"
        hint = "Excel saves it as `CSV UTF-8`; iconv -f WINDOWS-1252 -t UTF-8 may help, too"
        raise wrong(argument, "text in UTF-8", f"{where}, line {line}", got, hint) from None
    if "\0" in text:
        raise wrong(argument, "text", where, "a zero byte")
    return text


def parse(
    argument: str, where: str, text: str, delimiter: str = "auto", header: bool = True
) -> Table:
    r"""The table in a text, its cells without spaces around.

    Empty lines are left out, so are cells that are empty at the end of a line beyond the heads.
    Without a ``header`` the columns are called "option 1", "option 2", ... A first column of names
    or row numbers may have no head, as R writes it, if no other one may lack it. The ``delimiter``
    is "comma", "semicolon", "tab", "bar" or "space", or "auto" for what the lines allow.

    >>> table = parse("scores", "'s.csv'", "a;b;\n0,5;1;\n\n0,7;2;\n")
    >>> table.heads, table.columns, table.lines, table.separator
    (('a', 'b'), (['0,5', '0,7'], ['1', '2']), [2, 4], ';')
    """
    require_choice("delimiter", delimiter, ("auto", *_NAMES.values()))
    signs = {name: sign for sign, name in _NAMES.items()}
    is_auto = delimiter == "auto"
    chosen = _delimiter_of(argument, where, text, header) if is_auto else signs[delimiter]
    text, titles = _without_titles(text, chosen) if header else (text, [])
    even = _even(text, chosen) if header else None
    try:
        rows = even[0] if even else list(_rows(io.StringIO(text, newline=""), chosen))
    except csv.Error as error:
        raise wrong(argument, "a table", where, f"text that is none ({error})") from None
    if not rows:
        raise wrong(argument, "a table with something in it", where, "none")
    rows = _with_one_header(argument, where, rows) if header and not even else rows
    names = ""
    if header and not even and _lacks_a_head([row for _, row in rows]):
        hint = _other_reading([row for _, row in rows], chosen)
        if hint:
            place = f"{where}, line {rows[1][0]}"
            raise wrong(argument, f"{len(rows[0][1])} cells", place, str(len(rows[1][1])), hint)
        names = "numbers" if counts([row[0] for _, row in rows[1:]]) else "names"
        rows[0] = rows[0][0], ["", *rows[0][1]]
    number, first = rows[0]
    if header:
        heads, rows = first, rows[1:]
    else:
        heads = [f"option {place}" for place in range(1, len(first) + 1)]
    # A head that is empty at the end belongs to a delimiter at the end of each line.
    width = len(heads)
    while width > 1 and not first[width - 1] and not any(any(row[width - 1 :]) for _, row in rows):
        width -= 1
    heads = named(heads[:width])
    require_different(argument, f"{where}, line {number}", heads)
    is_among = any(kind_of([head]) == "number" for head in heads[1:])
    if titles and is_among and not are_numbered_tasks(heads[1:]):
        got = f"{listed(heads)} below {titles[-1]!r}"
        hint = "a name above each column says which is which; --delimiter what is between them"
        raise wrong(argument, "names of columns", f"{where}, line {number}", got, hint)
    cells = [] if header else [cell for _, row in rows for cell in row]
    if chosen == "," and (cut := [*filter(_CUT.fullmatch, cells)]):
        hint = "semicolons between columns let commas be decimal ones"
        raise wrong(argument, "numbers", where, f"{cut[0]!r}, behind a comma", hint)
    for number, row in rows:
        if len(row) < width or any(row[width:]):
            place = f"{where}, line {number}"
            hint = f"its delimiter was taken to be {chosen!r}" if is_auto else ""
            raise wrong(argument, f"{width} cells", place, str(len(row)), hint)
    if even:
        columns, lines = even[1:]
    else:
        columns = tuple([row[place] for _, row in rows] for place in range(width))
        lines = [number for number, _ in rows]
    is_usual = chosen in ",\t" or not is_auto
    said = () if is_usual else (f"{_NAMES[chosen]}s between the columns",)
    said += tuple(f"left out, as a title: {title!r}" for title in titles)
    said += (f"the first column has no head: read as {names} of the rows",) if names else ()
    if chosen == "," and not header and width % 2 == 0 and all(map(_WHOLE.fullmatch, cells)):
        said += ("commas are between whole numbers, and none is decimal",)
    return Table(argument, where, tuple(heads), columns, lines, said=said, separator=chosen)


def _lacks_a_head(rows: list[list[str]]) -> bool:
    """Does each row begin with its name or number, which the heads have no name for?

    >>> _lacks_a_head([["x", "y"], ["a", "1", "2"], ["b", "3", "4"]])
    True
    """
    width, below = len(rows[0]) + 1, rows[1:]
    if not (width > 2 and below and all(len(row) == width and row[-1] for row in below)):
        return False
    first = [row[0] for row in below]
    return counts(first) or (kind_of(first) == "text" and len(set(first)) == len(first))


def _other_reading(rows: list[list[str]], delimiter: str) -> str:
    """Why a cell more than there are heads may be another one than the first, "" if it may not.

    >>> _other_reading([["a", "b"], ["0", "5", "7"], ["1", "7", "3"]], ",")[:43]
    'commas may be decimal ones, as in 0,5: then'
    >>> _other_reading([["a", "b"], ["0", ".5", "7"], ["1", "7", "3"]], ",")
    ''
    """
    settled = "a head above the first column says that it has names or numbers of the rows"
    for head in rows[0]:
        if names_option(head) or names_score(head) or names_task(head):
            return f"which column has no head is not clear beside {head!r}; {settled}"
    cells = [cell for row in rows[1:] for cell in row]
    if delimiter != "," or any(map(_WITH_POINT.fullmatch, cells)):
        return ""
    found = [[pair for pair in itertools.pairwise(row) if _are_halves(*pair)] for row in rows[1:]]
    if not all(found):
        return ""
    shown = ",".join(found[0][0])
    return f"commas may be decimal ones, as in {shown}: then semicolons separate columns; {settled}"


def _are_halves(one: str, other: str) -> bool:
    """May two cells be a number with a decimal comma between them?"""
    return bool(_WHOLE.fullmatch(one) and _BEHIND.fullmatch(other))


def _without_titles(text: str, delimiter: str) -> tuple[str, list[str]]:
    """The same, the lines above its heads empty, and what they were.

    They have something in their first cell alone, or are notes in JSON, as of a monitor of
    episodes. Words with spaces between them may be heads. What NumPy writes before heads is left
    out, too.
    """
    lines = text.split("\n", _MOST_TITLES)
    for number, line in enumerate(lines):
        others = "".join(line.split(delimiter)[1:]).strip(' "\r')
        others += "".join(_BETWEEN.findall(line.replace(delimiter, "")))  # as if it had columns
        if not line.startswith("#{") and (others or delimiter == _SPACE):
            if not (number or line.startswith("# ")):
                return text, []
            titles = [title.strip(f' "\r{delimiter}') for title in lines[:number]]
            heads = re.sub(r"\A# +", "", line)
            return "\n" * number + "\n".join([heads, *lines[number + 1 :]]), [*filter(None, titles)]
    return text, []


def _with_one_header(
    argument: str, where: str, rows: list[tuple[int, list[str]]]
) -> list[tuple[int, list[str]]]:
    """The same below one row of heads: above those of a pivoted frame, pandas writes another one.

    Names of its index stand in a row of their own below.
    """
    if len(rows) < 4:
        return rows
    (_, above), (number, heads), (_, names) = rows[:3]
    count = sum(map(bool, names))  # of columns of the index
    is_pivot = len(above) == len(heads) == len(names) and 0 < count < len(above)
    if not is_pivot or any(names[count:]) or any(above[:count]) or not all(above[count:]):
        return rows
    kinds = list(dict.fromkeys(above[count:]))
    if len(kinds) > 1:
        hint = f"frame[{kinds[0]!r}].to_csv writes those of one"
        raise wrong(
            argument, "one kind of numbers below two rows of heads", where, listed(kinds), hint
        )
    return [(number, [*names[:count], *heads[count:]]), *rows[3:]]


def _even(
    text: str, delimiter: str
) -> tuple[list[tuple[int, list[str]]], tuple[list[str], ...], range] | None:
    """The heads, the columns below and their lines, if it is as plain as long tables are.

    Each line has as many cells as the first, whose last one is a head, and nothing is quoted.
    """
    text = text.replace("\r\n", "\n")
    below = text.lstrip("\n")
    begin, below = len(text) - len(below) + 1, below.rstrip("\n")
    if delimiter == _SPACE or not below or '"' in below or "\r" in below:
        return None
    lines = below.split("\n")
    if len({line.count(delimiter) for line in lines}) > 1 or len(lines) < 2:
        return None
    if len(max(lines, key=len)) > csv.field_size_limit():
        return None
    width = lines[0].count(delimiter) + 1
    cells = [*map(str.strip, below.replace("\n", delimiter).split(delimiter))]
    first, columns = cells[:width], tuple(cells[place::width] for place in range(width))
    # Rows of an index of pandas, or of nothing, begin with an empty cell.
    if not first[-1] or "" in columns[0]:
        return None
    for column in columns:
        del column[0]
    return [(begin, first)], columns, range(begin + 1, begin + len(lines))


def _rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    is_space = delimiter == _SPACE
    lines = (_AROUND.sub("", line) for line in lines) if is_space else lines
    reader = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=is_space)
    begin = 1
    for row in reader:
        cells = [cell.strip() for cell in row]
        if any(cells):
            yield begin, cells
        begin = reader.line_num + 1


def _delimiter_of(argument: str, where: str, text: str, header: bool) -> str:
    """What separates the columns of a text; ValueError if it may be read in two ways.

    A delimiter is possible if all lines below titles have as many cells as the first one, two or
    more. Of several, those remain whose cells have no other one in them, but for commas between
    digits; then those with the fewest titles. Spaces do only if their cells are the clean ones, or
    nothing else is possible.
    """
    begins: dict[str, list[str]] = {}
    possible: dict[str, tuple[int, list[list[str]]]] = {}
    for delimiter in _NAMES:
        below, titles = _without_titles(text, delimiter) if header else (text, [])
        rows: list[list[str]] = []
        with contextlib.suppress(csv.Error):
            lines = (found[0] for found in _LINE.finditer(below))
            for _, row in itertools.islice(_rows(lines, delimiter), _LOOKED_AT):
                rows.append(row)
            if _fits(rows):
                # Heads may have other delimiters in them; but commas in heads are no decimal ones.
                heads_count = not header or delimiter == _SPACE or len(rows) == 1
                possible[delimiter] = len(titles), rows if heads_count else rows[1:]
        if rows and delimiter != _SPACE:
            begins[delimiter] = rows[0]
    _, spaced = possible.pop(_SPACE, (0, []))
    signs = "".join(possible)
    clean = [d for d, (_, rows) in possible.items() if _is_clean(rows, signs.replace(d, ""))]
    kept = clean or [*possible]
    fewest = min((possible[d][0] for d in kept), default=0)
    kept = [d for d in kept if possible[d][0] == fewest]
    if len(kept) > 1:
        names = " or ".join(f"{DELIMITERS[delimiter]}s" for delimiter in kept)
        raise wrong(argument, "one delimiter", where, names, "--delimiter says which it is")
    if kept:
        is_spaced = spaced and _is_clean(spaced, kept[0])
        return _SPACE if is_spaced and not _is_clean(possible[kept[0]][1], _SPACE) else kept[0]
    # Nothing fits, or there is one column: the most frequent one, so that the bad line is named.
    most = max(begins, key=lambda delimiter: len(begins[delimiter]), default=",")
    is_one = len(begins.get(most, "1")) == 1
    if spaced and (is_one or _is_clean(spaced, most)):
        return _SPACE
    if begins and is_one:
        got = listed(begins[most], 1)
        expected = "two columns or more with commas, semicolons, tabs, bars or spaces between them"
        raise wrong(argument, expected, where, got)
    return most


def _fits(rows: list[list[str]]) -> bool:
    """Have all rows as many cells as the first one, two or more?"""
    width = len(rows[0]) if rows else 0
    is_even = width > 1 and all(len(row) >= width and not any(row[width:]) for row in rows)
    return is_even or (width > 1 and _lacks_a_head(rows))


def _is_clean(rows: list[list[str]], others: str) -> bool:
    return not any(
        other in _DECIMAL.sub("", cell) for row in rows for cell in row for other in others
    )
