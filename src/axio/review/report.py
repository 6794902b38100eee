"""What every form of a review tells: signs of ratings, turning points, the table of luck and skill."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .game import Review, Turn
from .rating import Rating
from .wording import Wording

SIGNS: Mapping[Rating, str] = {
    "forced": "–",
    "best": "✓",
    "good": "·",
    "inaccuracy": "?!",
    "mistake": "?",
    "blunder": "??",
}
WRONG: tuple[Rating, ...] = ("inaccuracy", "mistake", "blunder")


def told_turn(turn: Turn, review: Review, wording: Wording) -> str:
    """A turning point as a sentence."""
    name = review.seats[turn.seat].name
    if turn.by == "choice":
        move, lost = wording.move(review.moves[turn.ply - 1].move), wording.change(-turn.change)
        return wording.say("turn_choice", ply=turn.ply, name=name, move=move, change=lost)
    where = "luck" if turn.ply <= len(review.moves) else "end"
    good = "good" if turn.change > 0 else "bad"
    change = wording.change(turn.change, signed=True)
    return wording.say(f"turn_{where}_{good}", ply=turn.ply, name=name, change=change)


def summary_rows(review: Review, wording: Wording) -> Iterator[list[str]]:
    """The table of luck and skill: its head, then a row for each seat."""
    say, change = wording.say, wording.change
    end = "result" if review.over else "so_far"
    signs = (SIGNS[rating] for rating in WRONG)
    yield [*map(say, ("player", "accuracy", "start", "luck", "play", end)), *signs]
    for seat in review.seats:
        account = seat.account
        yield [
            seat.name,
            "–" if seat.accuracy is None else wording.number(seat.accuracy),
            wording.value(account.start),
            change(account.luck, signed=True),
            change(account.choices + account.others, signed=True),
            wording.value(account.result),
            *(str(seat.ratings[rating]) for rating in WRONG),
        ]
