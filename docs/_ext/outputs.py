"""What a command prints is a block of its own, which is not copied with the command."""

import re
from typing import Any

from docutils import nodes
from sphinx.transforms import SphinxTransform

_COMMAND = re.compile(r"(jaxrace|python|pip|cat|head|for|export) ")


class Outputs(SphinxTransform):
    """Blocks of indented text: the first lines up to an empty one are commands, if they are any."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        """Split commands from what they print, in all blocks of a page."""
        for block in list(self.document.findall(nodes.literal_block)):
            if block.get("language", "text") not in ("text", "default", "none"):
                continue
            text = block.astext()
            commands, _empty, printed = text.partition("\n\n")
            if not _COMMAND.match(text):
                block["classes"].append("output")
            elif printed and not _COMMAND.match(printed):
                block.replace_self([_like(block, commands), _like(block, printed, "output")])


def _like(block: nodes.literal_block, text: str, *classes: str) -> nodes.literal_block:
    """A block with this text and the language of another."""
    made = nodes.literal_block(text, text, classes=list(classes))
    made["language"] = block.get("language", "text")
    made.source, made.line = block.source, block.line
    return made


def setup(app: Any) -> dict[str, bool]:
    """The extension, as Sphinx asks for it."""
    app.add_transform(Outputs)
    return {"parallel_read_safe": True}
