"""Lets the blocks of a sweep take turns, and saves it now and then."""

import concurrent.futures
import time
from collections.abc import Callable

from jaxrace.sweep import snapshot
from jaxrace.sweep.blocks import LaneBlock, Turn
from jaxrace.sweep.checkpoint import Saver
from jaxrace.sweep.ledger import Ledger
from jaxrace.sweep.rows import Rows
from jaxrace.sweep.stopping import Interrupted

OnRows = Callable[[int, Rows], None]


class Player:
    """Plays a sweep to its end.

    Args:
        blocks: Of lanes.
        ledger: What they have in common.
        on_rows: See ``run``.
        stop: See ``run``.
        saver: Saves the sweep; None if it is not to be saved.
    """

    def __init__(
        self,
        blocks: list[LaneBlock],
        ledger: Ledger,
        on_rows: OnRows | None,
        stop: Callable[[], bool] | None,
        saver: Saver | None,
    ) -> None:
        self._blocks = blocks
        self._ledger = ledger
        self._on_rows = on_rows
        self._stop = stop
        self._saver = saver
        self._saved_at = time.monotonic()

    def play(self, burst: int, num_threads: int) -> None:
        """Let the blocks take turns until nothing is left to do.

        Args:
            burst: Most steps of a turn.
            num_threads: Blocks that advance at once.
        """
        with concurrent.futures.ThreadPoolExecutor(max(num_threads, 1)) as pool:
            self._take_turns(pool, burst)
        self._save()

    def _take_turns(self, pool: concurrent.futures.Executor, burst: int) -> None:
        playing: dict[concurrent.futures.Future[Turn | None], LaneBlock] = {}
        idle = list(self._blocks)
        while playing or idle:
            stops = self._stop is not None and self._stop()
            pauses = stops or self._is_due()
            if pauses and not playing:
                self._save()
                if stops:
                    raise Interrupted
                pauses = False
            if not pauses:
                playing |= {pool.submit(block.turn, self._ledger, burst): block for block in idle}
                idle = []
            first = concurrent.futures.FIRST_COMPLETED
            for future in concurrent.futures.wait(playing, return_when=first).done:
                block, turn = playing.pop(future), future.result()
                if turn is not None:
                    idle.append(block)
                    self._enter(turn)

    def _enter(self, turn: Turn) -> None:
        self._ledger.enter(turn)
        if self._on_rows is not None:
            self._on_rows(int(self._ledger.ended.sum()), turn.rows)

    def _is_due(self) -> bool:
        return self._saver is not None and time.monotonic() - self._saved_at >= self._saver.every

    def _save(self) -> None:
        if self._saver is not None and self._blocks:
            self._saver.save(snapshot.take(self._blocks, self._ledger))
            self._saved_at = time.monotonic()
