"""When the server was at work, and how clocks run by it."""

from __future__ import annotations

from ..storage.uptime import Outage, UptimeState

RESPITE = 30.0  # seconds that everybody has at least after an outage
BEAT = 2.0  # seconds between two heartbeats
ABSENCE = 10.0  # seconds without a heartbeat after which the server counts as down


class Uptime:
    """Outages of the server, as known to this process.

    Nobody could move during an outage. So no clock runs in one, and none ends right after it.
    """

    def __init__(self) -> None:
        self.returned = 0  # when the server last came back
        self.earliest = 0  # no deadline is before this
        self.outages: tuple[Outage, ...] = ()
        self.alive: int | None = None  # when this process last stored a heartbeat
        self.lost = False  # whether the database was lost and has not been found again

    def update(self, state: UptimeState) -> bool:
        """Adopt the state shared by all processes and return whether deadlines may have changed."""
        before = self.earliest, self.outages
        self.outages = state.outages
        self.note_return(state.resumed)
        return before != (self.earliest, self.outages)

    def note_return(self, at: int) -> bool:
        """Note that the server was down until `at` and return whether deadlines may have changed."""
        before, self.earliest = self.earliest, max(self.earliest, at + int(1000 * RESPITE))
        self.returned = max(self.returned, at)
        return self.earliest != before

    def asleep(self, at: int) -> bool:
        """Return whether this process was suspended and has stored no heartbeat since.

        Until then the length of the outage is unknown, so no clock may end.
        """
        return self.alive is not None and at - self.alive > 1000 * ABSENCE

    def end(self, since: int, length: int) -> int:
        """Return when the server has been at work for `length` milliseconds, counted from `since`."""
        end = since + length
        for begun, ended in self.outages:
            if begun < end:
                end += max(0, ended - max(begun, since))
        return end
