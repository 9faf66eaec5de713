"""Build the site: ``python docs/build.py [--external]``, into docs/_build/html.

Warnings are errors, a link within the site that leads nowhere among them; ``--external`` asks the
addresses outside instead. Needs ``pip install -e ".[docs]"``.
"""

import sys
from pathlib import Path

from sphinx.cmd.build import main

HERE = Path(__file__).parent


def build(external: bool = False) -> int:
    """The exit status of Sphinx."""
    builder = "linkcheck" if external else "html"
    options = ["--fresh-env", "--write-all", "--fail-on-warning", "--keep-going", "--quiet"]
    return main([*options, "-b", builder, str(HERE), str(HERE / "_build" / builder)])


if __name__ == "__main__":
    sys.exit(build("--external" in sys.argv[1:]))
