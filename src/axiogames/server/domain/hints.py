"""Hints for people at tables, computed in the background; each person can have one pending hint."""

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
from ..transport.rate_limits import HINTS, HINTS_FROM_ADDRESS, RateLimits
from ..work_pools import JobTimeout
from .bots import Bots
from .refusals import Refused
from .room import Room

log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class _PendingHint:
    """Task that computes a hint for a client."""

    client: Client
    task: asyncio.Task[None] | None = None


class Hints:
    """Computes hints. The hint of a client that disconnects is cancelled."""

    def __init__(self, bots: Bots, limits: RateLimits) -> None:
        self._bots = bots
        self._limits = limits
        self._pending: dict[str, _PendingHint] = {}  # by person

    def __len__(self) -> int:
        return len(self._pending)

    def start(self, room: Room, client: Client, view: View, message_id: str | None) -> None:
        """Start computing a hint, which is sent to the client when it is ready.

        Raises:
            Refused: Another hint for the person is pending, or they have requested too many.
            Busy: Too many hints are pending.
        """
        person = client.person or ""
        if person in self._pending:
            raise Refused("too_fast", "wait for the hint that you have already requested")
        self._bots.check_hint(person)
        self._check_rate(person)
        pending = self._pending[person] = _PendingHint(client)
        pending.task = asyncio.create_task(self._send_hint(room, client, person, view, message_id))
        pending.task.add_done_callback(lambda _: self._pending.pop(person))

    def _check_rate(self, person: str) -> None:
        network = self._bots.requesters.of(person).network
        allowed = self._limits.allow(HINTS, person)
        if network:
            allowed = self._limits.allow(HINTS_FROM_ADDRESS, network) and allowed
        if not allowed:
            raise Refused("too_fast", "too many hints requested; wait a moment and try again")

    async def _send_hint(
        self, room: Room, client: Client, person: str, view: View, message_id: str | None
    ) -> None:
        try:
            client.send(encode(_hint_message(await self._bots.hint(view, person), view, message_id)))
        except AxioError as error:
            room.subscribers.send_refusal(client, error, message_id)
        except JobTimeout:
            room.subscribers.send_refusal(
                client, Refused("busy", "the hint took too long; try again later"), message_id
            )
        except Exception:
            log.exception("a hint at table %s failed", room.id)
            room.subscribers.send_refusal(
                client, Refused("busy", "the hint could not be computed; try again"), message_id
            )

    def cancel(self, client: Client) -> None:
        """Cancel the pending hint of a client that has disconnected."""
        pending = self._pending.get(client.person or "")
        if pending is not None and pending.client is client and pending.task is not None:
            pending.task.cancel()

    def close(self) -> None:
        """Cancel all pending hints."""
        for pending in self._pending.values():
            if pending.task is not None:
                pending.task.cancel()


def _hint_message(hint: Hint, view: View, message_id: str | None) -> HintMessage:
    legal = view.legal_moves()
    actions = legal.actions.tolist()
    picks = [
        HintPick(
            actions.index(suggestion.candidate.action),
            suggestion.candidate.move,
            suggestion.candidate.value,
            suggestion.candidate.error,
            suggestion.remarks,
        )
        for suggestion in hint.suggestions
    ]
    only = HintPick(0, str(legal[0]), None, None, (Remark("hint_only"),))
    return HintMessage(message_id, hint.scale, picks or [only])
