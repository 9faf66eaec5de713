"""Lets the blocks of a sweep take turns, and saves it now and then."""

import concurrent.futures
import threading
import time
from collections.abc import Callable

from jaxrace.sweep import snapshot
from jaxrace.sweep.blocks import LaneBlock, Turn
from jaxrace.sweep.checkpoint import Saver
from jaxrace.sweep.ledger import Ledger
from jaxrace.sweep.rows import Rows
from jaxrace.sweep.stopping import Interrupted

OnRows = Callable[[int, Rows], None]

# Seconds between two looks at ``stop`` while no turn ends.
_LOOK = 1.0

# Seconds after which a sweep that was asked to stop waits no more for a turn to end.
_PATIENCE = 8.0


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
        self._stopped_at: float | None = None
        self._saver = saver
        self._saved_at = time.monotonic()

    def play(self, burst: int, num_threads: int) -> None:
        """Let the blocks take turns until nothing is left to do.

        Args:
            burst: Most steps of a turn.
            num_threads: Blocks that advance at once.
        """
        playing: dict[concurrent.futures.Future[Turn | None], LaneBlock] = {}
        try:
            self._take_turns(playing, burst, max(num_threads, 1))
        except Exception:
            # Not while the program ends, nor after a second signal.
            concurrent.futures.wait(playing, self._time_left())
            raise
        self._save()

    def _take_turns(
        self,
        playing: dict[concurrent.futures.Future[Turn | None], LaneBlock],
        burst: int,
        num_threads: int,
    ) -> None:
        idle = list(self._blocks)
        while playing or idle:
            stops = self._is_stopped()
            pauses = stops or self._is_due()
            if pauses and not playing:
                self._save()
                if stops:
                    raise Interrupted
                pauses = False
            if stops and not self._time_left():
                raise Interrupted  # without what the others have done since the last checkpoint
            while idle and not pauses and len(playing) < num_threads:
                block = idle.pop(0)
                playing[_begin_turn(block, self._ledger, burst)] = block
            first = concurrent.futures.FIRST_COMPLETED
            for future in concurrent.futures.wait(playing, _LOOK, first).done:
                block, turn = playing.pop(future), future.result()
                if turn is not None:
                    idle.append(block)
                    self._enter(turn)

    def _is_stopped(self) -> bool:
        """Has ``stop`` ever said so?"""
        if self._stopped_at is None and self._stop is not None and self._stop():
            self._stopped_at = time.monotonic()
        return self._stopped_at is not None

    def _time_left(self) -> float:
        """Seconds to wait for turns that have not ended."""
        now = time.monotonic()
        waited = 0.0 if self._stopped_at is None else now - self._stopped_at
        return max(_PATIENCE - waited, 0.0)

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


def _begin_turn(
    block: LaneBlock, ledger: Ledger, burst: int
) -> concurrent.futures.Future[Turn | None]:
    """In a thread of its own, not one of a pool.

    The end of the program would wait for those of a pool, and a turn may never end.
    """
    future: concurrent.futures.Future[Turn | None] = concurrent.futures.Future()

    def play() -> None:
        try:
            future.set_result(block.turn(ledger, burst))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=play, daemon=True).start()
    return future
