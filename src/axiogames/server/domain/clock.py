"""Outages of the server, and deadlines that do not count them."""

from __future__ import annotations

from ..storage.uptime import Outage, UptimeState

GRACE_SECONDS = 30.0  # minimum time to move after an outage
HEARTBEAT_SECONDS = 2.0  # between two heartbeats
HEARTBEAT_TIMEOUT = 10.0  # seconds without a heartbeat, after which the server counts as down


class Uptime:
    """Outages of the server, as known to this process.

    Nobody can move during an outage. No clock runs during one, and none expires right after it.
    """

    def __init__(self) -> None:
        self.resumed_at = 0  # end of the last outage
        self.earliest_deadline = 0
        self.outages: tuple[Outage, ...] = ()
        self.last_heartbeat: int | None = None  # stored by this process
        self.database_lost = False  # whether the database was unavailable at the last attempt

    def update(self, state: UptimeState) -> bool:
        """Adopt the state shared by all processes and return whether deadlines may have changed."""
        before = self.earliest_deadline, self.outages
        self.outages = state.outages
        self.note_resumption(state.resumed)
        return before != (self.earliest_deadline, self.outages)

    def note_resumption(self, at: int) -> bool:
        """Note that an outage ended at `at` and return whether deadlines may have changed."""
        before = self.earliest_deadline
        self.earliest_deadline = max(before, at + int(1000 * GRACE_SECONDS))
        self.resumed_at = max(self.resumed_at, at)
        return self.earliest_deadline != before

    def is_suspended(self, at: int) -> bool:
        """Return whether this process was suspended and has stored no heartbeat since.

        Until it does, the length of the outage is unknown, so no clock may expire.
        """
        return self.last_heartbeat is not None and at - self.last_heartbeat > 1000 * HEARTBEAT_TIMEOUT

    def end(self, since: int, length: int) -> int:
        """Return the time at which the server has run for `length` milliseconds, counted from `since`."""
        end = since + length
        for outage_start, outage_end in self.outages:
            if outage_start < end:
                end += max(0, outage_end - max(outage_start, since))
        return end
