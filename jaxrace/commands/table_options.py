"""How the file of a command is read, in its config; imports nothing heavy."""

from typing import Literal, get_args

from jaxrace.validation import require_choice

Decimal = Literal["auto", "comma", "point"]
Delimiter = Literal["auto", "comma", "semicolon", "tab", "bar", "space"]


def require_signs(decimal: str, delimiter: str) -> None:
    """Raise unless both are known."""
    require_choice("decimal", decimal, get_args(Decimal))
    require_choice("delimiter", delimiter, get_args(Delimiter))
