"""Judging one decision from what the seat knew: the best moves, the one that was made, and how sure that is.

First a search finds the promising moves. Then these and the one that was made are played on again, all in the
same guesses of what is hidden, which are not those that they were chosen by: otherwise the best would look
better than it is. Guesses come in chunks, and the spread of the chunks says how sure a difference is.
"""

from __future__ import annotations

import time
from collections.abc import Container, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ...games.runtime.loops import step
from ...games.runtime.state import DRAW, PLACE, allocate
from ...games.runtime.xorshift import seed_state
from ...games.variant import State, copied
from ...model.view import View
from ...players.evaluation.rollout_loops import rollout_policy_at
from ...players.evaluation.weights import load_weights, scratch_dtype
from ...players.interface import Budget
from ...players.search.analysis import analyse
from ...players.search.rollouts import CHUNK, FAST, TO_THE_END, Rollouts, load_config
from .values import LEAST, SURE, straight


def after(view: View, action: int) -> State:
    """The state that a move leads to, before anything is drawn."""
    state = view.state.copy()
    view.variant.kernels[step](view.variant.constants, state, action, False)
    return state


def wasted(view: View, action: int, led_to: State) -> int:
    """How many points of a move are lost because a track cannot show them."""
    variant = view.variant
    if variant.cap is None or action >= variant.first_other_action:
        return 0
    fresh = view.state.copy()
    fresh["scores"] = 0  # so that no track is near its cap
    rated = variant.gains(fresh, np.array([action], np.int32))[0]
    return int(np.maximum(rated - led_to["gain"][0], 0).sum())


def wins_turn(view: View, led_to: State) -> bool:
    """Whether the move that has led to a state won one more turn or placement."""
    variant, before = view.variant, view.state
    if led_to["phase"][0] == DRAW:
        elsewhere = variant.source(led_to) != variant.source(before)
        return elsewhere or variant.extra_turns(led_to) > variant.extra_turns(before)
    return bool(
        variant.players > 1 and led_to["phase"][0] == PLACE and led_to["seat"][0] == before["seat"][0]
    )


def simple_move(view: View) -> int:
    """The number of the move that simple play makes for the seat to move."""
    variant = view.variant
    scratch = allocate(scratch_dtype(len(variant.tracks)))
    state = copied(view.state)  # rating writes into the state's scratch fields
    return int(
        variant.kernels[rollout_policy_at](
            variant.constants, state, seed_state(0), load_weights(variant), scratch
        )
    )


SHOWN = 5  # moves that are compared, besides the one that was made
SEARCH, COMPARE, FINISH = 0.4, 0.4, 0.2  # how a budget is shared out
FEWEST, MOST = 4, 4096  # chunks
APART = 1 << 40  # from one seed to another that shares no guess with it


class Estimate(Struct, frozen=True):
    """A number and its standard error."""

    value: float
    error: float


class Candidate(Struct, frozen=True):
    """A move that was compared with the others.

    `value` is what it is worth, `behind` how much less that is than the best, each with its standard error.
    `gain` is what it scores at once, by track, `wasted` how many points more that would be without the cap.
    `points` are what every seat is likely to have in the end, and `points_error` how sure their difference to
    those of the best is.
    """

    move: str
    action: int
    value: float
    error: float
    behind: float
    behind_error: float
    gain: tuple[int, ...]
    wasted: int
    wins_turn: bool
    points: tuple[tuple[float, ...], ...]
    points_error: tuple[tuple[float, ...], ...]

    @property
    def told_apart(self) -> bool:
        """Whether it is surely, and noticeably, worse than the best."""
        return self.behind > max(SURE * self.behind_error, LEAST)


class Judgement(Struct, frozen=True):
    """The moves that were compared, the best first, and which of them was made (-1: none).

    A move without an alternative is not judged: it has no candidates. `simple` is what the position is worth
    to somebody who plays simply (see `yardstick`), as it was expected before. The move that was made is worth
    `choice` more than that, and `lead` more than the simple move is worth now.
    """

    candidates: tuple[Candidate, ...]
    made: int = -1
    rollouts: int = 0
    simple: Estimate = Estimate(0.0, 0.0)
    choice: Estimate = Estimate(0.0, 0.0)
    lead: Estimate = Estimate(0.0, 0.0)

    @property
    def forced(self) -> bool:
        """Whether there was no choice."""
        return not self.candidates

    @property
    def chosen(self) -> Candidate:
        """The move that was made."""
        return self.candidates[self.made]

    @property
    def given_up(self) -> float:
        """What the move gave up; nothing, where it cannot be told apart from the best."""
        if self.forced or not self.chosen.told_apart:
            return 0.0
        return self.chosen.behind


@dataclass(frozen=True, slots=True)
class Sample:
    """What came of some moves in chunks of guesses: values and points by chunk and move."""

    values: np.ndarray
    points: np.ndarray

    @property
    def rollouts(self) -> int:
        """How often moves were played on, all together."""
        return int(self.values.size * CHUNK)


def judge(view: View, made: int | None, budget: Budget, seed: int) -> Judgement:
    """Judge the position of a view whose seat has to move, and the move with this number, if one was made.

    A budget of rollouts is kept to as long as its seconds last. Where they do, the same seed gives the same.
    """
    actions = view.legal_moves().actions
    if len(actions) < 2:
        return Judgement(())
    manner = load_config(view.variant, FAST)
    turns = manner.turns
    found = analyse(
        view,
        seed=seed,
        seconds=budget.seconds * SEARCH,
        rollouts=None if budget.rollouts is None else int(budget.rollouts * SEARCH),
        threads=budget.threads,
        manner=manner,
        include=() if made is None else (made,),
    )
    simple = simple_move(view)
    tried = [line.action for line in found.lines[:SHOWN]]
    shown = {*tried, made}
    tried += [
        action for action in dict.fromkeys((made, simple)) if action is not None and action not in tried
    ]
    playing = Rollouts(view, load_weights(view.variant), seed + APART, budget.threads)
    try:
        if turns == TO_THE_END:
            compared = finished = _sample(playing, tried, TO_THE_END, budget, COMPARE + FINISH)
            earlier = compared.values[:, tried.index(simple)]
        else:
            compared = _sample(playing, tried, turns, budget, COMPARE)
            finished = _sample(playing, tried, TO_THE_END, budget, FINISH)
            earlier = _as_expected(playing, simple, turns, len(compared.values))
    finally:
        playing.close()
    played = found.rollouts + compared.rollouts + (finished.rollouts if finished is not compared else 0)
    judgement = _judgement(view, tried, shown, made, compared, finished)
    mine = earlier if made is None else compared.values[:, tried.index(made)]
    return replace(
        judgement,
        rollouts=played,
        simple=_estimate(earlier),
        choice=_estimate(mine - earlier),
        lead=_estimate(mine - compared.values[:, tried.index(simple)]),
    )


def _sample(playing: Rollouts, actions: Sequence[int], turns: int, budget: Budget, share: float) -> Sample:
    """Play the moves on for a share of the budget."""
    numbers = np.array(actions, np.int32)
    values, points = list[np.ndarray](), list[np.ndarray]()
    wanted, until = MOST, time.perf_counter() + budget.seconds * share
    if budget.rollouts is not None:
        wanted = max(FEWEST, round(budget.rollouts * share / len(actions) / CHUNK))
    while len(values) < wanted:
        chunks = min(budget.threads, wanted - len(values))
        for tally in playing.run(numbers, len(values) * CHUNK, chunks * CHUNK, turns):
            values.append(straight(playing.variant, tally.means))
            points.append(tally.points / tally.count[:, None, None])
        if len(values) >= FEWEST and time.perf_counter() > until:
            break
    return Sample(np.array(values), np.array(points))


def _as_expected(playing: Rollouts, simple: int, turns: int, chunks: int) -> np.ndarray:
    """The simple move as the judgement of the seat's move before saw it: with one turn less still to come.

    That judgement was a mean over all that could happen until now, so what differs from it is luck alone.
    """
    tallies = playing.run(np.array([simple], np.int32), 0, chunks * CHUNK, turns - 1)
    return np.array([straight(playing.variant, tally.means)[0] for tally in tallies])


def _judgement(
    view: View,
    tried: Sequence[int],
    shown: Container[int | None],
    made: int | None,
    compared: Sample,
    finished: Sample,
) -> Judgement:
    means = compared.values.mean(axis=0)
    order = np.argsort(-means, kind="stable")
    best = compared.values[:, order[0]]
    errors = _errors(compared.values)
    behind = _errors(best[:, None] - compared.values)
    likely = finished.points.mean(axis=0)
    unsure = _errors(finished.points[:, order[:1]] - finished.points)
    led_to = [after(view, action) for action in tried]
    candidates = tuple(
        Candidate(
            move=str(view.variant.decode(view.state, tried[i])),
            action=tried[i],
            value=float(means[i]),
            error=float(errors[i]),
            behind=float(means[order[0]] - means[i]),
            behind_error=float(behind[i]),
            gain=tuple(led_to[i]["gain"][0].tolist()) if tried[i] < view.variant.first_other_action else (),
            wasted=wasted(view, tried[i], led_to[i]),
            wins_turn=wins_turn(view, led_to[i]),
            points=_rows(likely[i]),
            points_error=_rows(unsure[i]),
        )
        for i in order.tolist()
        if tried[i] in shown or i == order[0]
    )
    return Judgement(candidates, next((n for n, one in enumerate(candidates) if one.action == made), -1))


def _estimate(chunks: np.ndarray) -> Estimate:
    return Estimate(float(chunks.mean()), float(_errors(chunks)))


def _errors(chunks: np.ndarray) -> np.ndarray:
    """The standard errors of the means over chunks."""
    return np.asarray(chunks.std(axis=0, ddof=1) / np.sqrt(len(chunks)))


def _rows(points: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(round(n, 3) for n in row) for row in points.tolist())
