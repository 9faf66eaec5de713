"""The commands that README.md and docs/ name, wherever they do."""

import re

import run_pages
from shown_commands import CHECKOUT

# Pages of docs/how-to are run whole; those of docs/_build are copies.
_FOUND = (path.relative_to(CHECKOUT) for path in CHECKOUT.glob("docs/**/*.md"))
_OTHERS = {"how-to", "_build"}
PAGES = ("README.md", *sorted(path.as_posix() for path in _FOUND if not _OTHERS & {*path.parts}))

# Code in a line, which may go on in the next one, and lines of their own.
_CODE = re.compile(r"`([^`]+)`")
_BLOCK = re.compile(r"^(?:    |\$ )(\S.*)$", re.MULTILINE)
_FENCED = re.compile(r"^```\w*\n.*?^```$", re.DOTALL | re.MULTILINE)
_CALL = re.compile(
    r"^(jaxrace [a-z]+\b.*|python (?:-m )?\S+.*|pytest -m slow.*|(?:bench|docs/figures)/\w+\.py)"
)


def calls(page: str) -> list[str]:
    """Each once, in one line, without what follows ``#``; not what tests/docs/run_pages.py runs."""
    text = _FENCED.sub("", (CHECKOUT / page).read_text("utf-8"))
    is_run = page.removeprefix("docs/").removesuffix(".md") in run_pages.PAGES
    found = [*_CODE.findall(text), *([] if is_run else _BLOCK.findall(text))]
    lines = [" ".join(one.partition(" #")[0].split()) for one in found]
    parts = [part.strip() for line in lines for part in line.split("&&")]
    named = {part for part in parts if is_run and re.fullmatch(r"jaxrace [a-z]+", part)}
    return list(dict.fromkeys(part for part in parts if _CALL.match(part) and part not in named))


def is_of(call: str, command: str) -> bool:
    """Is it this command, as it stands or with more or fewer options, or a script that it runs?"""
    script = re.fullmatch(r"(?:python )?(?:bench|docs/figures)/(\w+)\.py", call)
    if script and re.search(rf"\b{script[1]}\b", command):
        return True
    call = call.partition(" [")[0]  # without what may be left out
    return f"{command} ".startswith(f"{call} ") or f"{call} -".startswith(f"{command} -")
