"""The processor seconds of a run of the tests: of all its processes, and of the slowest files."""

import collections
import os
from typing import Any

import pytest

_SHOWN = 10


def _seconds(children: bool) -> float:
    """Processor seconds of this process so far, and of its children that have ended."""
    times = os.times()
    own = times.user + times.system
    return own + times.children_user + times.children_system if children else own


class Clock:
    """A plugin of pytest; in each worker it measures, and the process above adds up."""

    def __init__(self) -> None:
        self._read = _seconds(children=True)
        self._of_file: dict[str, float] = collections.defaultdict(float)
        self._of_workers = 0.0
        self._has_workers = False

    def pytest_collection_finish(self) -> None:
        """What follows belongs to tests."""
        self._read = _seconds(children=True)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Any:
        """Note what was used since the last report, in a field that workers send along."""
        report = yield
        now = _seconds(children=True)
        report.processor_seconds = now - self._read
        self._read = now
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Add it to the test's file."""
        self._of_file[report.nodeid.split("::")[0]] += getattr(report, "processor_seconds", 0.0)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A worker sends all of its time, imports and collection included."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["processor_seconds"] = _seconds(children=True)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add the time of a worker."""
        self._has_workers = True
        self._of_workers += getattr(node, "workeroutput", {}).get("processor_seconds", 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the sum and the slowest files."""
        total = self._of_workers + _seconds(children=not self._has_workers)
        terminalreporter.section(f"{total:.0f} processor seconds; the slowest files")
        slowest = sorted(self._of_file.items(), key=lambda item: -item[1])[:_SHOWN]
        for name, seconds in slowest:
            terminalreporter.write_line(f"{seconds:7.1f} s  {name}")
