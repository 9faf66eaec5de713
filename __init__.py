"""A clone called jaxrace, imported from the folder above it: the package is a folder further down.

Python takes the clone for the package there, installed or not, and would find nothing in it.
"""

from pathlib import Path

_inner = Path(__file__).with_name("jaxrace") / "__init__.py"
__path__ = [str(_inner.parent)]
__file__ = str(_inner)
exec(compile(_inner.read_text("utf-8"), _inner, "exec"))
