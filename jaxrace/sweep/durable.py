"""Checkpoints of orbax that outlive a loss of power; orbax itself leaves that to the system.

Takes most of a second to import.
"""

import asyncio
from typing import Any

from orbax.checkpoint.path import atomicity

from jaxrace import files


class DurablePath(atomicity.AtomicRenameTemporaryPath):
    """A checkpoint that is on the disk as a whole before it gets the name by which it counts.

    What orbax writes last, after that, are notes of its own which nothing is read from.

    >>> issubclass(DurablePath, atomicity.AtomicRenameTemporaryPath)
    True
    """

    async def finalize(self) -> Any:
        """Give it its name."""
        await asyncio.to_thread(files.sync_tree, self.get())
        await super().finalize()
        await asyncio.to_thread(files.sync_tree, self.get_final())
        await asyncio.to_thread(files.sync_folder, self.get_final().parent)
