"""Tables in text files: CSV with any delimiter, as spreadsheets and other programs write it."""

import contextlib
import csv
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from jaxrace.core.validation import require_choice
from jaxrace.tables.heads import are_numbered_tasks, names_option, names_score, names_task
from jaxrace.tables.table import Place, Table, counts, kind_of, named, quoted

_SPACE = " "  # one or more of them; names may have spaces, too, so it is tried last
_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", _SPACE: "space"}

_MOST_TITLES = 20  # lines above the heads
_LOOKED_AT = 100  # rows that tell the delimiter
_DECIMAL = re.compile(r"\d,\d")
_WHOLE = re.compile(r"[+-]?\d+")
# What is on the two sides of a decimal comma, and what only stands where decimals have points.
_BROKEN = re.compile(r"[+-]?\d+\n\d+(e[+-]?\d+)?\s*%?", re.IGNORECASE)
_BETWEEN = re.compile(r"[;\t|]|,(?=\S)")
_LINE, _AROUND = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+"), re.compile(r"^ +| +$")
_RULE = re.compile(r":?-{2,}:?")  # below the heads, in Markdown
_CUT = re.compile(r"[+-]?0\d+|-0")
_WITH_POINT = re.compile(r"[+-]?(\d+\.\d*|\.\d+)(e[+-]?\d+)?\s*%?", re.IGNORECASE)

Row = tuple[str, ...]


def parse(place: Place, text: str, delimiter: str = "auto", header: bool = True) -> Table:
    """The table in a text, its cells without spaces around, and without empty lines.

    Without a ``header`` columns are called "option 1", "option 2", ... A first column of names or
    numbers of the rows may have no head, as R writes it, if no other column may lack one.
    """
    require_choice("delimiter", delimiter, ("auto", *_NAMES.values()))
    is_auto = delimiter == "auto"
    signs = {name: sign for sign, name in _NAMES.items()}
    chosen = _delimiter_of(place, text, header) if is_auto else signs[delimiter]
    text, titles = _without_titles(text, chosen) if header else (text, [])
    try:
        lines, rows = _plain_rows(text, chosen) or _all_rows(text, chosen)
    except csv.Error as error:
        raise place.wrong("a table", f"other text ({error})") from None
    if not rows:
        raise place.wrong("a table with something in it", "none")
    is_usual = chosen in ",\t" or not is_auto
    said = [] if is_usual else [f"{_NAMES[chosen]}s between the columns"]
    said += [f"left out, as a title: {title!r}" for title in titles]
    if header and len(rows) > 1 and all(map(_RULE.fullmatch, filter(None, rows[1]))):
        said.append("a table of Markdown")
        rows, lines = [rows[0], *rows[2:]], [lines[0], *lines[2:]]
        if not any(row[0] for row in rows):  # lines begin with a bar
            rows = [row[1:] for row in rows]
    if header and (heads := _heads_of_pivot(place, rows)):
        rows, lines = [heads, *rows[3:]], [lines[1], *lines[3:]]
    if header and (heads := _heads_of_two_levels(place, rows)):
        rows, lines = [heads, *rows[2:]], lines[1:]
        said.append("two rows of heads: the one that tells columns apart")
    if header and _lacks_a_head(rows):
        if hint := _other_reading(rows, chosen):
            width, got = len(rows[0]), str(len(rows[1]))
            raise place.wrong(f"{width} cells", got, hint=hint, at=f", line {lines[1]}")
        names = "numbers" if counts([row[0] for row in rows[1:]]) else "names"
        said.append(f"the first column has no head: read as {names} of the rows")
        rows[0] = "", *rows[0]
    heads = rows[0] if header else [f"option {at}" for at in range(1, len(rows[0]) + 1)]
    # A head that is empty at the end belongs to a delimiter at the end of each line.
    width = len(heads)
    while width > 1 and not rows[0][width - 1] and not any(any(row[width - 1 :]) for row in rows):
        width -= 1
    heads, at = named(heads[:width]), f", line {lines[0]}"
    place.require_different(heads, at)
    is_among = any(kind_of([head]) == "number" for head in heads[1:])
    if titles and is_among and not are_numbered_tasks(heads[1:]):
        got = f"{quoted(heads)} below {titles[-1]!r}"
        hint = "a name above each column says which is which"
        raise place.wrong("names of columns", got, hint=hint, at=at)
    if chosen == "," and not header:
        cells = [cell for row in rows for cell in row]
        if cut := [*filter(_CUT.fullmatch, cells)]:
            hint = "semicolons between columns let commas be decimal ones"
            raise place.wrong("numbers", f"{cut[0]!r}, behind a comma", hint=hint)
        if width % 2 == 0 and all(map(_WHOLE.fullmatch, cells)):
            said.append("commas are between whole numbers, and none is decimal")
    if set(map(len, rows)) != {width}:
        for number, row in zip(lines, rows, strict=True):
            if len(row) < width or any(row[width:]):
                hint = f"its delimiter was taken to be {chosen!r}" if is_auto else ""
                at = f", line {number}"
                raise place.wrong(f"{width} cells", str(len(row)), hint=hint, at=at)
    rows, lines = rows[header:], lines[header:]
    columns = tuple([row[at] for row in rows] for at in range(width))
    about = place.argument, place.where, heads, columns, lines
    return Table(*about, said=tuple(said), separator=chosen)


def _plain_rows(text: str, delimiter: str) -> tuple[Sequence[int], list[Row]] | None:
    """As ``_all_rows``, but split at once: only where nothing is quoted and all rows are alike."""
    text = text.replace("\r\n", "\n")
    begin, body = len(text) - len(text.lstrip("\n")) + 1, text.strip("\n")
    lines = body.split("\n")
    are_alike = len({line.count(delimiter) for line in lines}) == 1
    if not are_alike or delimiter == _SPACE or '"' in body or "\r" in body:
        return None
    cells = map(str.strip, body.replace("\n", delimiter).split(delimiter))
    rows = [*zip(*[cells] * (lines[0].count(delimiter) + 1), strict=True)]
    is_plain = all(map(any, rows)) and len(max(lines, key=len)) <= csv.field_size_limit()
    return (range(begin, begin + len(rows)), rows) if is_plain else None


def _all_rows(text: str, delimiter: str) -> tuple[Sequence[int], list[Row]]:
    """The rows of a text that are not empty, and the line of each."""
    pairs = [*_rows(io.StringIO(text, newline=""), delimiter)]
    return [line for line, _ in pairs], [row for _, row in pairs]


def _rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, Row]]:
    """The line and the cells of each row that is not empty."""
    is_space = delimiter == _SPACE
    lines = (_AROUND.sub("", line) for line in lines) if is_space else lines
    reader = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=is_space)
    begin = 1
    for row in reader:
        cells = tuple(map(str.strip, row))
        if any(cells):
            yield begin, cells
        begin = reader.line_num + 1


def _lacks_a_head(rows: Sequence[Row]) -> bool:
    """Does each row begin with its name or number, and the heads have one cell less?"""
    width, below = len(rows[0]) + 1, rows[1:]
    if not (width > 2 and below and all(len(row) == width and row[-1] for row in below)):
        return False
    first = [row[0] for row in below]
    return counts(first) or (kind_of(first) == "text" and len(set(first)) == len(first))


def _other_reading(rows: Sequence[Row], delimiter: str) -> str:
    """Why the cell beyond the heads may be another one than the first, "" if it may not."""
    settled = "a head above the first column says that it has names or numbers of the rows"
    for head in rows[0]:
        if names_option(head) or names_score(head) or names_task(head):
            return f"which column has no head is not clear beside {head!r}; {settled}"
    if delimiter != "," or any(_WITH_POINT.fullmatch(cell) for row in rows[1:] for cell in row):
        return ""
    found = [
        [",".join(pair) for pair in itertools.pairwise(row) if _BROKEN.fullmatch("\n".join(pair))]
        for row in rows[1:]
    ]
    if not all(found):
        return ""
    said = f"commas may be decimal ones, as in {found[0][0]}: then semicolons separate columns"
    return f"{said}; {settled}"


def _without_titles(text: str, delimiter: str) -> tuple[str, list[str]]:
    """A text with empty lines for its titles (a first cell alone, or notes in JSON), and these."""
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


def _heads_of_pivot(place: Place, rows: Sequence[Row]) -> Row | None:
    """The heads of a pivoted frame of pandas, whose three rows are kind, columns and index."""
    if len(rows) < 4:
        return None
    above, heads, names = rows[:3]
    count = sum(map(bool, names))  # of columns of the index
    is_pivot = len(above) == len(heads) == len(names) and 0 < count < len(above)
    if not is_pivot or any(names[count:]) or any(above[:count]) or not all(above[count:]):
        return None
    kinds = list(dict.fromkeys(above[count:]))
    if len(kinds) > 1:
        hint, got = f"frame[{kinds[0]!r}].to_csv writes those of one", quoted(kinds)
        raise place.wrong("one kind of numbers below two rows of heads", got, hint=hint)
    return (*names[:count], *heads[count:])


def _heads_of_two_levels(place: Place, rows: Sequence[Row]) -> Row | None:
    """The heads of a table with two rows of them, one of which is the same in all columns."""
    if len(rows) < 3 or not len(rows[0]) == len(rows[1]) == len(rows[2]) > 2:
        return None
    above, below = (list(row[1:]) for row in rows[:2])
    filled = [next((h for h in above[at::-1] if h), "") for at in range(len(above))]
    are_heads = kind_of(below) == "text" and all(below) and filled[0]
    if not are_heads or len({*filled}) == len(filled) or kind_of(rows[2][1:]) != "number":
        return None
    first = rows[1][0] or rows[0][0]
    for one, other in ((filled, below), (below, filled)):
        if len({*one}) == 1:
            return (first, *other)
    kinds = [*dict.fromkeys(below)]
    hint = f"keep the columns of one, such as {kinds[0]!r}, below one row of heads"
    raise place.wrong("one kind of numbers below two rows of heads", quoted(kinds), hint=hint)


def _delimiter_of(place: Place, text: str, header: bool) -> str:
    """What separates the columns of a text; BadArgument if it may be read in two ways.

    All lines have as many cells as the heads, two or more. Cells without other delimiters (but for
    commas between digits) win, then the fewest titles; spaces do if nothing else is as clean.
    """
    begins: dict[str, Row] = {}
    possible: dict[str, tuple[int, list[Row]]] = {}
    for delimiter in _NAMES:
        below, titles = _without_titles(text, delimiter) if header else (text, [])
        rows: list[Row] = []
        with contextlib.suppress(csv.Error):
            lines = (found[0] for found in _LINE.finditer(below))
            for _, row in itertools.islice(_rows(lines, delimiter), _LOOKED_AT):
                rows.append(row)
            if _fits(rows):
                # Heads may have other delimiters in them, and their commas are not decimal.
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
        got = " or ".join(f"{_NAMES[delimiter]}s" for delimiter in kept)
        raise place.wrong("one delimiter", got, hint="--delimiter says which it is")
    if kept:
        is_spaced = spaced and _is_clean(spaced, kept[0])
        return _SPACE if is_spaced and not _is_clean(possible[kept[0]][1], _SPACE) else kept[0]
    # Nothing fits, or there is one column: the most frequent one, so that the bad line is named.
    most = max(begins, key=lambda delimiter: len(begins[delimiter]), default=",")
    is_one = len(begins.get(most, "1")) == 1
    if spaced and (is_one or _is_clean(spaced, most)):
        return _SPACE
    if begins and is_one:
        expected = "two columns or more with commas, semicolons, tabs, bars or spaces between them"
        raise place.wrong(expected, quoted(begins[most], 1))
    return most


def _fits(rows: Sequence[Row]) -> bool:
    """Have all rows as many cells as the first one, two or more?"""
    width = len(rows[0]) if rows else 0
    is_even = all(len(row) >= width and not any(row[width:]) for row in rows)
    return width > 1 and (is_even or _lacks_a_head(rows))


def _is_clean(rows: Sequence[Row], others: str) -> bool:
    """Are there no other delimiters in the cells, but for decimal commas?"""
    return not any(
        other in _DECIMAL.sub("", cell) for row in rows for cell in row for other in others
    )
