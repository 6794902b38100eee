"""Hints for people at tables: one at a time for each person, made beside the game."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from ...analysis.review.hints import Hint
from ...analysis.review.remarks import Remark
from ...errors import AxioError
from ...model.view import View
from ..presentation.messages import HintMessage, HintPick
from ..transport.client import Client, encode
from ..transport.rate_limits import HINTS, HINTS_FROM_ADDRESS, Limits
from ..work_pools import JobTimeout
from .bots import Bots
from .refusals import Refused
from .room import Room

log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class _Asked:
    """A hint that is being made: for which client."""

    client: Client
    task: asyncio.Task[None] | None = None


class Hints:
    """Makes hints. Whoever hangs up gives up their place in the queue."""

    def __init__(self, bots: Bots, limits: Limits) -> None:
        self._bots = bots
        self._limits = limits
        self._asked: dict[str, _Asked] = {}  # by person

    def __len__(self) -> int:
        return len(self._asked)

    def start(self, room: Room, client: Client, view: View, message: str | None) -> None:
        """Begin a hint for a client, which is told when it is ready.

        Raises:
            Refused: A hint for the same person is not ready yet, or they have asked for too many.
            Busy: Too many people wait for one.
        """
        person = client.person or ""
        if person in self._asked:
            raise Refused("too_fast", "one hint at a time: wait for the one that you have asked for")
        self._bots.check_hint(person)
        self._check_pace(person)
        asked = self._asked[person] = _Asked(client)
        asked.task = asyncio.create_task(self._tell(room, client, person, view, message))
        asked.task.add_done_callback(lambda _: self._asked.pop(person))

    def _check_pace(self, person: str) -> None:
        network = self._bots.askers.of(person).network
        good = self._limits.allow(HINTS, person)
        if network:
            good = self._limits.allow(HINTS_FROM_ADDRESS, network) and good
        if not good:
            raise Refused("too_fast", "these were many hints; wait a moment and try again")

    async def _tell(self, room: Room, client: Client, person: str, view: View, message: str | None) -> None:
        try:
            client.send(encode(_message(await self._bots.hint(view, person), view, message)))
        except AxioError as error:
            room.subscribers.send_refusal(client, error, message)
        except JobTimeout:
            room.subscribers.send_refusal(
                client, Refused("busy", "there is no hint for this position"), message
            )
        except Exception:
            log.exception("a hint at table %s could not be made", room.id)
            room.subscribers.send_refusal(
                client, Refused("busy", "the hint could not be made; try again"), message
            )

    def cancel(self, client: Client) -> None:
        """Cancel the hint that a client waits for, because it is gone."""
        asked = self._asked.get(client.person or "")
        if asked is not None and asked.client is client and asked.task is not None:
            asked.task.cancel()

    def close(self) -> None:
        """Make no more hints."""
        for asked in self._asked.values():
            if asked.task is not None:
                asked.task.cancel()


def _message(found: Hint, view: View, message: str | None) -> HintMessage:
    offered = view.legal_moves()
    actions = offered.actions.tolist()
    picks = [
        HintPick(
            actions.index(one.candidate.action),
            one.candidate.move,
            one.candidate.value,
            one.candidate.error,
            one.remarks,
        )
        for one in found.suggestions
    ]
    only = HintPick(0, str(offered[0]), None, None, (Remark("hint_only"),))
    return HintMessage(message, found.terms, picks or [only])
