"""A review as one self-contained HTML page, with a light, a dark and a print style."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from ... import PROGRAM
from ...drawing.theme import DARK, LIGHT, Theme, properties
from ...model.table import Table
from ..html import Markup, document, tag
from .page_figures import legend_key, render_board, render_graph, symbol_of, tiles_in_hand
from .remarks import Wording
from .review import (
    BAD_RATINGS,
    RATING_SYMBOLS,
    Decision,
    MoveReview,
    Review,
    summary_rows,
    turning_point_text,
)
from .values import SIGNIFICANCE


def render_page(review: Review, table: Table, made: Sequence[Decision], wording: Wording) -> str:
    """Return the page as HTML.

    Args:
        review: the review.
        table: the game, replayed to its end.
        made: the decisions of the game.
        wording: texts in the language of the page.
    """
    text = wording.text
    title, names = text("title", game=review.name), ", ".join(seat.name for seat in review.seats)
    rollouts = f"{sum(move.rollouts for move in review.moves):,}"
    content = [
        tag("h1", title),
        tag("p", names, None if review.over else f". {text('unfinished')}", class_="muted"),
        tag("p", text(f"meaning.{review.terms.kind}")),
    ]
    if review.moves:
        content += [_course(review, wording), _summary(review, wording)]
        content += [_viewer(review, table, made, wording), _moves(review, wording)]
    made_by = text("made_by", rollouts=rollouts, seed=review.seed, program=PROGRAM, version=review.version)
    content.append(tag("p", made_by, class_="muted"))
    style = Markup(f"{_colours()}\n{_file('page.css')}")
    script = _file("page.js") if review.moves else None
    return document(f"{title}: {names}", style, content, language=wording.language, script=script)


def _file(name: str) -> Markup:
    return Markup((resources.files(__package__) / name).read_text(encoding="utf-8"))


def _colours() -> str:
    def variables(theme: Theme, shade: str) -> str:
        # Small text needs more contrast than symbols: rims have it in the light theme, fills in the dark one.
        texts = {f"{letter}-text": getattr(paint, shade) for letter, paint in theme.paints.items()}
        return "".join(f"--{name}:{colour};" for name, colour in (properties(theme) | texts).items())

    return (
        f":root{{color-scheme:light dark;{variables(LIGHT, 'rim')}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{variables(DARK, 'fill')}}}}}"
    )


def _scrolling(label: str, table: Markup) -> Markup:
    """Return a table in a box that scrolls sideways, also by keyboard."""
    return tag("div", table, class_="wide", tabindex=0, role="region", aria_label=label)


# ---------------------------------------------------------------- graph and summary


def _course(review: Review, wording: Wording) -> Markup:
    text = wording.text
    legend = [tag("li", legend_key(number), f" {seat.name}") for number, seat in enumerate(review.seats)]
    turns = [
        tag(
            "li",
            tag(
                "button", turning_point_text(turn, review, wording), data_go=min(turn.ply, len(review.moves))
            ),
        )
        for turn in review.turning
    ]
    return tag(
        "section",
        tag("h2", f"{text('graph')}: {text(f'terms.{review.terms.kind}')}"),
        tag("ul", legend, class_="legend"),
        render_graph(review, wording),
        tag(
            "input",
            id="scrubber",
            type="range",
            min=1,
            max=len(review.moves),
            value=1,
            aria_label=text("move"),
        ),
        tag("p", id="peek", class_="muted"),
        tag("h2", text("turning")),
        tag("ul", turns, class_="turns") if turns else tag("p", text("no_turning")),
    )


def _summary(review: Review, wording: Wording) -> Markup:
    text = wording.text
    head, *rows = summary_rows(review, wording)
    error = wording.change(SIGNIFICANCE * max(seat.account.error for seat in review.seats))
    table = tag(
        "table",
        tag(
            "thead",
            tag("tr", (tag("th", cell, scope="col", class_=_alignment(n)) for n, cell in enumerate(head))),
        ),
        tag(
            "tbody",
            (
                tag("tr", (tag("td", cell, class_=_alignment(n)) for n, cell in enumerate(row)))
                for row in rows
            ),
        ),
    )
    return tag(
        "section",
        tag("h2", text("summary")),
        _scrolling(text("summary"), table),
        tag("p", text("adds_up", error=error), class_="muted"),
    )


def _alignment(column: int, text_columns: Sequence[int] = (0,)) -> str | None:
    """Return the class of a cell: text is aligned to the left, numbers to the right."""
    return "text" if column in text_columns else None


# ---------------------------------------------------------------- move by move


def _viewer(review: Review, table: Table, made: Sequence[Decision], wording: Wording) -> Markup:
    text = wording.text
    hands = tiles_in_hand(table.variant, [tile for one in made for tile in one.view.hand(one.seat)])
    steps = [
        tag("button", f"← {text('previous')}", id="previous"),
        tag("button", f"{text('following')} →", id="following"),
        tag("button", text("next_mistake"), id="mistake"),
    ]
    articles = [
        _article(move, one, hands, review, wording) for move, one in zip(review.moves, made, strict=True)
    ]
    picture = tag("div", Markup(render_board(table, made, review)), class_="picture")
    details = tag(
        "div", tag("div", steps, class_="steps"), articles, tag("p", text("keys"), class_="muted keys")
    )
    return tag("section", tag("div", picture, details, class_="viewer"), id="viewer")


def _rated(move: MoveReview, wording: Wording) -> Markup:
    symbol = tag("b", RATING_SYMBOLS[move.rating], aria_hidden="true")
    return tag("span", symbol, f" {wording.text(f'rating.{move.rating}')}", class_=f"rated {move.rating}")


def _article(
    move: MoveReview, decision: Decision, hands: dict[str, str], review: Review, wording: Wording
) -> Markup:
    text, name = wording.text, review.seats[move.seat].name
    number = text("move_number", ply=move.ply)
    luck = f"{text('luck')} {wording.change(move.luck.change, signed=True)}"
    drew = text("drew", tiles=", ".join(move.drew)) if move.drew else ""
    return tag(
        "article",
        tag("header", tag("h3", f"{number} · {name}"), tag("strong", move.move), _rated(move, wording)),
        tag("p", wording.remark(move.remark), class_="said"),
        _candidates(move, review, wording) if move.candidates else None,
        tag("h3", text("known", name=name)),
        tag(
            "div", (tag("span", Markup(hands[tile])) for tile in decision.view.hand(move.seat)), class_="hand"
        ),
        _scores(decision, review, wording),
        tag("p", "; ".join(filter(None, (luck, drew))), class_="muted"),
        data_ply=move.ply,
        data_made=move.made,
        data_label=f"{number} · {name}: {move.move} · {text(f'rating.{move.rating}')}",
        data_wrong=1 if move.rating in BAD_RATINGS else None,
    )


def _candidates(move: MoveReview, review: Review, wording: Wording) -> Markup:
    text = wording.text
    rows = []
    for number, one in enumerate(move.candidates):
        made = tag("small", f" ({text('made')})") if number == move.made else None
        button = tag("button", one.move, made, data_candidate=number, aria_pressed="false")
        behind = f"{wording.change(-one.behind, signed=True)} ± {wording.bare_change(one.behind_error)}"
        cells = [tag("td", button, class_="text"), tag("td", wording.value(one.value))]
        cells.append(tag("td", behind if number else ""))
        rows.append(tag("tr", cells, _points(one.points[move.seat], wording)))
    spanning = tag("th", text("expected"), scope="colgroup", colspan=len(review.tracks))
    titles = (text("move"), text("value"), text("behind"))
    head = (tag("th", title, scope="col", rowspan=2, class_=_alignment(n)) for n, title in enumerate(titles))
    over = tag("thead", tag("tr", head, spanning), tag("tr", _tracks(review, wording)))
    table = tag("table", over, tag("tbody", rows), class_="candidates")
    return _scrolling(text("candidates"), table)


def _tracks(review: Review, wording: Wording) -> list[Markup]:
    return [
        tag("th", symbol_of(track, wording.track(track)) or wording.track(track), scope="col")
        for track in review.tracks
    ]


def _points(points: Sequence[float], wording: Wording) -> list[Markup]:
    """Return cells with the points by track, the lowest in bold."""
    low = min(points) if len(points) > 1 else None
    return [
        tag("td", tag("b", n) if points[at] == low else n) for at, n in enumerate(map(wording.number, points))
    ]


def _scores(decision: Decision, review: Review, wording: Wording) -> Markup:
    head = tag("tr", tag("th", wording.text("player"), scope="col", class_="text"), _tracks(review, wording))
    rows = [
        tag("tr", tag("td", seat.name, class_="text"), _points(tuple(points.values()), wording))
        for seat, points in zip(review.seats, decision.view.scores, strict=True)
    ]
    return tag("table", tag("thead", head), tag("tbody", rows), class_="scores")


def _moves(review: Review, wording: Wording) -> Markup:
    text = wording.text
    left = (0, 1, 2, 3, 7)
    titles = ("#", *map(text, ("player", "move", "rating", "gave_up", "luck", "best_move", "comment")))
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
        row = (tag("td", cell, class_=_alignment(n, left)) for n, cell in enumerate(cells))
        rows.append(tag("tr", row, data_ply=move.ply))
    head = (tag("th", title, scope="col", class_=_alignment(n, left)) for n, title in enumerate(titles))
    table = tag("table", tag("thead", tag("tr", head)), tag("tbody", rows), class_="moves")
    return tag("section", tag("h2", text("moves")), _scrolling(text("moves"), table), class_="listed")
