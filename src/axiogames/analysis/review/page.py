"""A review as a page: one file with everything in it, by day and by night, on screen and on paper."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from ... import PROGRAM
from ...drawing.theme import DARK, LIGHT, Theme, properties
from ...model.table import Table
from ..html import Markup, tag
from .page_figures import board, graph, key, symbol_of, tiles_in_hand
from .remarks import Wording
from .review import SIGNS, WRONG, Decision, Review, Reviewed, summary_rows, told_turn
from .values import SURE


def page(review: Review, table: Table, made: Sequence[Decision], wording: Wording) -> str:
    """The page as HTML."""
    say = wording.say
    title, names = say("title", game=review.name), ", ".join(seat.name for seat in review.seats)
    rollouts = f"{sum(move.rollouts for move in review.moves):,}"
    parts = [
        tag("h1", title),
        tag("p", names, None if review.over else f". {say('unfinished')}", class_="muted"),
        tag("p", say(f"meaning.{review.terms.kind}")),
    ]
    if review.moves:
        parts += [_course(review, wording), _summary(review, wording)]
        parts += [_viewer(review, table, made, wording), _moves(review, wording)]
    made_by = say("made_by", rollouts=rollouts, seed=review.seed, program=PROGRAM, version=review.version)
    parts.append(tag("p", made_by, class_="muted"))
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"{title}: {names}"),
        tag("style", Markup(f"{_colours()}\n{_file('page.css')}")),
    ]
    script = tag("script", _file("page.js")) if review.moves else None
    whole = tag("html", tag("head", head), tag("body", tag("main", parts), script), lang=wording.language)
    return f"<!doctype html>\n{whole}\n"


def _file(name: str) -> Markup:
    return Markup((resources.files(__package__) / name).read_text(encoding="utf-8"))


def _colours() -> str:
    def named(theme: Theme, shade: str) -> str:
        # Small text needs more contrast than symbols: by day rims have it, by night fills.
        texts = {f"{letter}-text": getattr(paint, shade) for letter, paint in theme.paints.items()}
        return "".join(f"--{name}:{colour};" for name, colour in (properties(theme) | texts).items())

    return (
        f":root{{color-scheme:light dark;{named(LIGHT, 'rim')}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{named(DARK, 'fill')}}}}}"
    )


def _scrolling(label: str, table: Markup) -> Markup:
    """A table that may be wider than the screen; the keyboard can scroll it, too."""
    return tag("div", table, class_="wide", tabindex=0, role="region", aria_label=label)


# ---------------------------------------------------------------- the course of the game


def _course(review: Review, wording: Wording) -> Markup:
    say = wording.say
    legend = [tag("li", key(number), f" {seat.name}") for number, seat in enumerate(review.seats)]
    turns = [
        tag("li", tag("button", told_turn(turn, review, wording), data_go=min(turn.ply, len(review.moves))))
        for turn in review.turning
    ]
    return tag(
        "section",
        tag("h2", f"{say('graph')}: {say(f'terms.{review.terms.kind}')}"),
        tag("ul", legend, class_="legend"),
        graph(review, wording),
        tag(
            "input",
            id="scrubber",
            type="range",
            min=1,
            max=len(review.moves),
            value=1,
            aria_label=say("move"),
        ),
        tag("p", id="peek", class_="muted"),
        tag("h2", say("turning")),
        tag("ul", turns, class_="turns") if turns else tag("p", say("no_turning")),
    )


def _summary(review: Review, wording: Wording) -> Markup:
    say = wording.say
    head, *rows = summary_rows(review, wording)
    error = wording.change(SURE * max(seat.account.error for seat in review.seats))
    table = tag(
        "table",
        tag(
            "thead", tag("tr", (tag("th", cell, scope="col", class_=_side(n)) for n, cell in enumerate(head)))
        ),
        tag(
            "tbody",
            (tag("tr", (tag("td", cell, class_=_side(n)) for n, cell in enumerate(row))) for row in rows),
        ),
    )
    return tag(
        "section",
        tag("h2", say("summary")),
        _scrolling(say("summary"), table),
        tag("p", say("adds_up", error=error), class_="muted"),
    )


def _side(column: int, to_left: Sequence[int] = (0,)) -> str | None:
    return "text" if column in to_left else None


# ---------------------------------------------------------------- move by move


def _viewer(review: Review, table: Table, made: Sequence[Decision], wording: Wording) -> Markup:
    say = wording.say
    hands = tiles_in_hand(table.variant, [tile for one in made for tile in one.view.hand(one.seat)])
    steps = [
        tag("button", f"← {say('previous')}", id="previous"),
        tag("button", f"{say('following')} →", id="following"),
        tag("button", say("next_mistake"), id="mistake"),
    ]
    articles = [
        _article(move, one, hands, review, wording) for move, one in zip(review.moves, made, strict=True)
    ]
    picture = tag("div", Markup(board(table, made, review)), class_="picture")
    told = tag("div", tag("div", steps, class_="steps"), articles, tag("p", say("keys"), class_="muted keys"))
    return tag("section", tag("div", picture, told, class_="viewer"), id="viewer")


def _rated(move: Reviewed, wording: Wording) -> Markup:
    sign = tag("b", SIGNS[move.rating], aria_hidden="true")
    return tag("span", sign, f" {wording.say(f'rating.{move.rating}')}", class_=f"rated {move.rating}")


def _article(
    move: Reviewed, decision: Decision, hands: dict[str, str], review: Review, wording: Wording
) -> Markup:
    say, name = wording.say, review.seats[move.seat].name
    number = say("move_number", ply=move.ply)
    luck = f"{say('luck')} {wording.change(move.luck.change, signed=True)}"
    drew = say("drew", tiles=", ".join(move.drew)) if move.drew else ""
    return tag(
        "article",
        tag("header", tag("h3", f"{number} · {name}"), tag("strong", move.move), _rated(move, wording)),
        tag("p", wording.remark(move.remark), class_="said"),
        _candidates(move, review, wording) if move.candidates else None,
        tag("h3", say("known", name=name)),
        tag(
            "div", (tag("span", Markup(hands[tile])) for tile in decision.view.hand(move.seat)), class_="hand"
        ),
        _scores(decision, review, wording),
        tag("p", "; ".join(filter(None, (luck, drew))), class_="muted"),
        data_ply=move.ply,
        data_made=move.made,
        data_label=f"{number} · {name}: {move.move} · {say(f'rating.{move.rating}')}",
        data_wrong=1 if move.rating in WRONG else None,
    )


def _candidates(move: Reviewed, review: Review, wording: Wording) -> Markup:
    say = wording.say
    rows = []
    for number, one in enumerate(move.candidates):
        made = tag("small", f" ({say('made')})") if number == move.made else None
        button = tag("button", one.move, made, data_candidate=number, aria_pressed="false")
        behind = f"{wording.change(-one.behind, signed=True)} ± {wording.bare_change(one.behind_error)}"
        cells = [tag("td", button, class_="text"), tag("td", wording.value(one.value))]
        cells.append(tag("td", behind if number else ""))
        rows.append(tag("tr", cells, _points(one.points[move.seat], wording)))
    spanning = tag("th", say("expected"), scope="colgroup", colspan=len(review.tracks))
    titles = (say("move"), say("value"), say("behind"))
    head = (tag("th", title, scope="col", rowspan=2, class_=_side(n)) for n, title in enumerate(titles))
    over = tag("thead", tag("tr", head, spanning), tag("tr", _tracks(review, wording)))
    table = tag("table", over, tag("tbody", rows), class_="candidates")
    return _scrolling(say("candidates"), table)


def _tracks(review: Review, wording: Wording) -> list[Markup]:
    return [
        tag("th", symbol_of(track, wording.track(track)) or wording.track(track), scope="col")
        for track in review.tracks
    ]


def _points(points: Sequence[float], wording: Wording) -> list[Markup]:
    """Points by track; the lowest is set off."""
    low = min(points) if len(points) > 1 else None
    return [
        tag("td", tag("b", n) if points[at] == low else n) for at, n in enumerate(map(wording.number, points))
    ]


def _scores(decision: Decision, review: Review, wording: Wording) -> Markup:
    head = tag("tr", tag("th", wording.say("player"), scope="col", class_="text"), _tracks(review, wording))
    rows = [
        tag("tr", tag("td", seat.name, class_="text"), _points(tuple(points.values()), wording))
        for seat, points in zip(review.seats, decision.view.scores, strict=True)
    ]
    return tag("table", tag("thead", head), tag("tbody", rows), class_="scores")


def _moves(review: Review, wording: Wording) -> Markup:
    say = wording.say
    left = (0, 1, 2, 3, 7)
    titles = ("#", *map(say, ("player", "move", "rating", "gave_up", "luck", "best_move", "comment")))
    rows = []
    for move in review.moves:
        cells = (
            tag("a", str(move.ply), href=f"#{move.ply}", data_go=move.ply),
            review.seats[move.seat].name,
            move.move,
            _rated(move, wording),
            wording.change(-move.given_up, signed=True) if move.given_up else "",
            wording.change(move.luck.change, signed=True) if move.candidates else "",
            move.candidates[0].move if move.given_up else "",
            wording.remark(move.remark),
        )
        row = (tag("td", cell, class_=_side(n, left)) for n, cell in enumerate(cells))
        rows.append(tag("tr", row, data_ply=move.ply))
    head = (tag("th", title, scope="col", class_=_side(n, left)) for n, title in enumerate(titles))
    table = tag("table", tag("thead", tag("tr", head)), tag("tbody", rows), class_="moves")
    return tag("section", tag("h2", say("moves")), _scrolling(say("moves"), table), class_="listed")
