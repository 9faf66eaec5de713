"""How the file of a command is read, in its config; imports nothing heavy."""

from typing import Literal

Decimal = Literal["auto", "comma", "point"]
Delimiter = Literal["auto", "comma", "semicolon", "tab", "bar", "space"]
