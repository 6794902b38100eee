"""What a process knows of the times in which the server was at work, and how long clocks run by it."""

from __future__ import annotations

from ..storage.uptime import Outage, UptimeState

RESPITE = 30.0  # seconds that everybody has at least after a time in which the server was away
BEAT = 2.0  # seconds between two signs of life
ABSENCE = 10.0  # seconds without one after which the server was away


class Uptime:
    """When the server was at work.

    While it was away nobody could move. So no clock runs in an outage, and none ends right after it.
    """

    def __init__(self) -> None:
        self.returned = 0  # when the server came back last
        self.earliest = 0  # no deadline is before this
        self.outages: tuple[Outage, ...] = ()
        self.alive: int | None = None  # when this process has noted last that it is at work
        self.lost = False  # whether the database has been lost and not been found again

    def learn(self, standing: UptimeState) -> bool:
        """Take over what all processes know; whether deadlines may have changed."""
        before = self.earliest, self.outages
        self.outages = standing.outages
        self.resumed(standing.resumed)
        return before != (self.earliest, self.outages)

    def resumed(self, at: int) -> bool:
        """Note that the server was away until a time; whether deadlines may have changed."""
        before, self.earliest = self.earliest, max(self.earliest, at + int(1000 * RESPITE))
        self.returned = max(self.returned, at)
        return self.earliest != before

    def asleep(self, at: int) -> bool:
        """Whether this process was stopped, and has not noted yet that it goes on.

        Until then it is not known for how long clocks stood still, so none may end.
        """
        return self.alive is not None and at - self.alive > 1000 * ABSENCE

    def end(self, since: int, length: int) -> int:
        """Return when `length` milliseconds from `since` have passed with the server at work."""
        end = since + length
        for begun, ended in self.outages:
            if begun < end:
                end += max(0, ended - max(begun, since))
        return end
