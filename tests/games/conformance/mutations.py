"""Mutated positions, and games that continue from the accepted ones."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import numpy as np

from axiogames.errors import ParseError
from axiogames.games.invariants import PHASE_NAMES
from axiogames.games.runtime import loops
from axiogames.games.runtime.compile import INTERPRETED
from axiogames.games.runtime.state import DRAW, HIDDEN, OVER, allocate
from axiogames.games.runtime.xorshift import seed_word
from axiogames.games.variant import State, Variant
from axiogames.model.table import Table
from axiogames.model.view import View
from axiogames.players.evaluation import rollout_loops
from axiogames.players.evaluation.weights import load_weights, scratch_dtype
from axiogames.players.search.determinization import hidden_tiles
from axiogames.players.search.rollouts import ALWAYS, NEVER
from tests.games.conformance.positions import Case

MAX_STEPS = 2000  # moves and draws; real games have a few hundred
CANARY = b"\xa5" * 256
ODD_NUMBERS = (0, 1, 2, 3, 63, 80, 100, 126, 127, 128, 255, 999)
ODD_BYTES = (0, 1, 2, 63, 127, 128, 253, 254, 255)


def game(case: Case, rng: random.Random) -> Iterator[Table]:
    """Yield a table after every move and every single draw of a random game."""
    table = Table(case.variant())
    yield table
    while not table.over:
        if table.draw_due:
            table._step(sample_chance(table.variant, table.state, rng), checked=False)
        else:
            moves = table.legal_moves()
            table.play(moves[rng.randrange(len(moves))])
        yield table


def sample_chance(variant: Variant, state: State, rng: random.Random) -> int:
    """Return a random chance outcome by the weights."""
    outcomes = variant.chances(state)
    return rng.choices(outcomes, [weight for _, weight in outcomes])[0][0]


def split(text: str) -> tuple[list[str], dict[str, str]]:
    """Return the head of a position text and its fields by name."""
    words = text.split()
    return words[:3], dict(word.partition("=")[::2] for word in words[3:])


def joined(head: list[str], fields: dict[str, str]) -> str:
    """Return a position text with this head and these fields."""
    return " ".join((*head, *(f"{name}={value}" for name, value in fields.items())))


def mutated(text: str, rng: random.Random) -> str:
    """Return a position text with one to three mutated fields."""
    names = list(split(text)[1])
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        text = mutated_field(text, rng.choice(names), rng)
    return text


def mutated_field(text: str, name: str, rng: random.Random) -> str:
    """Return a position text with one mutated field."""
    head, fields = split(text)
    if name == "phase":
        fields[name] = rng.choice([*PHASE_NAMES.values(), fields[name].upper(), ""])
    else:
        fields[name] = rng.choice((_other_number, _other_order, _other_letter))(fields[name], rng)
    return joined(head, fields)


def plausible(text: str, rng: random.Random) -> str:
    """Return a probably reachable position: with fewer points or a different tile in a hand."""
    head, fields = split(text)
    if rng.randrange(2):
        numbers = [*re.finditer("[0-9]+", fields["scores"])]
        found = rng.choice(numbers)
        fewer = rng.randrange(int(found[0]) + 1)
        fields["scores"] = f"{fields['scores'][: found.start()]}{fewer}{fields['scores'][found.end() :]}"
        return joined(head, fields)
    hands = [hand.split(",") for hand in fields["hands"].split(";")]
    known = [(hand, n) for hand in hands for n, tile in enumerate(hand) if tile not in "?-"]
    counts = [re.fullmatch("(.+?)([0-9]+)", item) for item in fields["bag"].split(",")]
    bag = {found[1]: int(found[2]) for found in counts if found}
    if known and bag:
        (hand, n), new = rng.choice(known), rng.choice(sorted(bag))
        bag[hand[n]] = bag.get(hand[n], 0) + 1
        bag[new] -= 1
        hand[n] = new
    fields["hands"] = ";".join(map(",".join, hands))
    fields["bag"] = ",".join(f"{tile}{count}" for tile, count in bag.items() if count) or "-"
    return joined(head, fields)


def _other_number(value: str, rng: random.Random) -> str:
    numbers = [*re.finditer("[0-9]+", value)]
    if not numbers:
        return _other_letter(value, rng)
    found = rng.choice(numbers)
    number = int(found[0])
    new = rng.choice((number + 1, max(number - 1, 0), number + 2, *ODD_NUMBERS))
    return f"{value[: found.start()]}{new}{value[found.end() :]}"


def _other_order(value: str, rng: random.Random) -> str:
    """Return a list with items that are swapped, repeated, dropped or replaced."""
    parts = re.split("([;,/])", value)
    if len(parts) < 3:
        return _other_letter(value, rng)
    i, j = rng.randrange(0, len(parts), 2), rng.randrange(0, len(parts), 2)
    match rng.randrange(5):
        case 0:
            parts[i], parts[j] = parts[j], parts[i]
        case 1:
            parts[i] = parts[j]
        case 2:
            del parts[i : i + 2]
        case 3:
            parts[i:i] = [parts[j], parts[1]]
        case _:
            parts[i] = rng.choice(("-", "?", "", parts[i][::-1]))
    return "".join(parts)


def _other_letter(value: str, rng: random.Random) -> str:
    letters = list(value)
    if len(letters) < 2:
        return rng.choice("-?09")
    i, j = rng.randrange(len(letters)), rng.randrange(len(letters))
    if rng.randrange(2):
        letters[i], letters[j] = letters[j], letters[i]
    else:
        letters[i] = rng.choice("RGBOPY_?-123,;/^x#")
    return "".join(letters)


def mutated_state(state: State, rng: random.Random) -> State:
    """Return a state with one or two mutated bytes in one field."""
    data = bytearray(state.tobytes())
    kind, offset = state.dtype.fields[rng.choice(state.dtype.names)][:2]
    for _ in range(rng.choice((1, 2)) if kind.itemsize else 0):
        at = offset + rng.randrange(kind.itemsize)
        data[at] = rng.choice((*ODD_BYTES, (data[at] + 1) % 256, (data[at] - 1) % 256))
    return np.frombuffer(data, state.dtype)


def without_hidden(variant: Variant, state: State, rng: random.Random) -> State | None:
    """Return a valid state with random unseen tiles as hidden ones, `None` if 30 attempts find none."""
    for _ in range(30):
        filled = state.copy()
        _fill_in(variant, filled, rng)
        try:
            variant.check_state(filled)
        except ParseError:
            continue
        return filled
    return None


def _fill_in(variant: Variant, state: State, rng: random.Random) -> None:
    bag = state["bag"][0]

    def draw() -> int:
        kind = rng.choices(range(len(bag)), bag.tolist())[0]
        bag[kind] -= 1
        state["unseen"] -= 1
        return kind

    for seat in range(variant.players):
        hand = state["hands"][0, seat, : state["held"][0, seat]]
        if HIDDEN in hand:
            hand[:] = sorted(draw() for _ in hand)
    if "aside" in state.dtype.names:
        aside = state["aside"][0, : state["n_aside"][0]]
        if HIDDEN in aside:
            aside[:] = sorted((draw() for _ in aside), reverse=True)
    while state["unseen"][0] > state["in_bag"][0]:
        state["removed"][0, draw()] += 1


class Guarded:
    """Arrays with canary bytes before and after each of them."""

    def __init__(self) -> None:
        self._memories: list[bytearray] = []

    def array(self, array: np.ndarray) -> np.ndarray:
        """Return a guarded copy of an array."""
        self._memories.append(memory := bytearray(CANARY + array.tobytes() + CANARY))
        copy = np.frombuffer(memory, array.dtype, array.size, len(CANARY))
        return copy.reshape(array.shape).view(type(array))

    def check(self) -> None:
        """Fail if the canary bytes of any array have changed."""
        for memory in self._memories:
            assert memory.startswith(CANARY), "a write before the start of an array"
            assert memory.endswith(CANARY), "a write after the end of an array"


def roll_out(
    variant: Variant, state: State, rng: random.Random, *, moves: int, determinizations: int, turns: int
) -> bool:
    """Run a bot's rollouts from random moves of a state; return whether the seat to move has known moves.

    Fails if the rollouts write outside their arrays, or to an array that is not for results.
    """
    view = View(variant, state, None, ())
    legal = view.legal_moves().actions
    if not len(legal):
        return False
    actions = np.array(sorted(rng.sample(legal.tolist(), min(moves, len(legal)))), np.int32)
    before, weights = state.tobytes(), load_weights(variant)
    guarded, tracks = Guarded(), len(variant.tracks)
    states = allocate(state.dtype, 4)
    states[0] = state[0]
    sums = guarded.array(np.zeros(len(actions)))
    search_after = np.float32(NEVER if INTERPRETED else rng.choice((ALWAYS, 0.8, NEVER)))
    points = np.zeros((len(actions), variant.players, tracks))
    variant.kernels[rollout_loops.run_rollouts](
        variant.constants,
        guarded.array(states),
        rollout_loops.RolloutTask(
            actions=guarded.array(actions),
            seed=guarded.array(seed_word(rng.getrandbits(64))),
            first=0,
            samples=determinizations,
            hidden=guarded.array(hidden_tiles(view)),
            turns=turns,
            search_after=search_after,
        ),
        guarded.array(weights),
        guarded.array(allocate(scratch_dtype(tracks))),
        rollout_loops.RolloutSums(sums, guarded.array(np.zeros(len(actions))), guarded.array(points)),
    )
    guarded.check()
    assert state.tobytes() == before
    assert np.isfinite(sums).all()
    return True


def play_to_the_end(variant: Variant, state: State, rng: random.Random, *, check_every: int = 1) -> None:
    """Play random moves until the game is over; fail on writes outside the state and on invalid states."""
    memory = bytearray(CANARY + state.tobytes() + CANARY)
    state = np.frombuffer(memory, state.dtype, 1, len(CANARY)).view(type(state))
    for step in range(MAX_STEPS):
        if state["phase"][0] == OVER:
            break
        if state["phase"][0] >= DRAW:
            variant.kernels[loops.step](variant.constants, state, sample_chance(variant, state, rng), False)
        else:
            actions = variant.legal_actions(state)
            variant.gains(state, actions)
            action = rng.choice(actions.tolist())
            assert variant.kernels[loops.step](variant.constants, state, action, True) == 0
        assert memory.startswith(CANARY), "a write before the start of the state"
        assert memory.endswith(CANARY), "a write after the end of the state"
        if step % check_every == 0:
            variant.check_state(state)
    assert state["phase"][0] == OVER, "the game does not end"
    variant.check_state(state)
