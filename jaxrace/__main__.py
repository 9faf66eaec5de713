"""``python -m jaxrace``: the command."""

import sys

from jaxrace.cli import main

if __name__ == "__main__":
    sys.exit(main())
