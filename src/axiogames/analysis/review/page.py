"""A review as one self-contained HTML page, with a light, a dark and a print style."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from ... import PROGRAM
from ...drawing.theme import DARK, LIGHT, Theme, properties
from ...model.table import Table
from ..html import Markup, colour_schemes, document, tag
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


def render_page(review: Review, table: Table, decided: Sequence[Decision], wording: Wording) -> str:
    """Return the page as HTML.

    Args:
        review: the review.
        table: the game, replayed to its end.
        decided: the decisions of the game.
        wording: texts in the language of the page.
    """
    text = wording.text
    title, names = text("title", game=review.name), ", ".join(seat.name for seat in review.seats)
    rollouts = f"{sum(move.rollouts for move in review.moves):,}"
    content = [
        tag("h1", title),
        tag("p", names, None if review.over else f". {text('unfinished')}", class_="muted"),
        tag("p", text(f"meaning.{review.scale.kind}")),
    ]
    if review.moves:
        content += [_graph_section(review, wording), _summary_section(review, wording)]
        content += [_viewer(review, table, decided, wording), _move_table(review, wording)]
    footer = text("made_by", rollouts=rollouts, seed=review.seed, program=PROGRAM, version=review.version)
    content.append(tag("p", footer, class_="muted"))
    style = Markup(f"{_colour_schemes()}\n{_file('page.css')}")
    script = _file("page.js") if review.moves else None
    return document(f"{title}: {names}", style, content, language=wording.language, script=script)


def _file(name: str) -> Markup:
    return Markup((resources.files(__package__) / name).read_text(encoding="utf-8"))


def _colour_schemes() -> str:
    def variables(theme: Theme, shade: str) -> dict[str, str]:
        # Small text needs more contrast than symbols: the rims in the light theme, the fills in the dark one.
        texts = {f"{letter}-text": getattr(paint, shade) for letter, paint in theme.paints.items()}
        return properties(theme) | texts

    # Printed pages use the light scheme.
    dark_media = "screen and (prefers-color-scheme:dark)"
    return colour_schemes(variables(LIGHT, "rim"), variables(DARK, "fill"), dark_media=dark_media)


def _scrollable(label: str, table: Markup) -> Markup:
    """Return a table in a box that scrolls horizontally, also by keyboard."""
    return tag("div", table, class_="wide", tabindex=0, role="region", aria_label=label)


# ---------------------------------------------------------------- graph and summary


def _graph_section(review: Review, wording: Wording) -> Markup:
    text = wording.text
    legend = [tag("li", legend_key(number), f" {seat.name}") for number, seat in enumerate(review.seats)]
    turns = [
        tag(
            "li",
            tag(
                "button", turning_point_text(turn, review, wording), data_go=min(turn.ply, len(review.moves))
            ),
        )
        for turn in review.turning_points
    ]
    return tag(
        "section",
        tag("h2", f"{text('graph')}: {text(f'terms.{review.scale.kind}')}"),
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


def _summary_section(review: Review, wording: Wording) -> Markup:
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
        _scrollable(text("summary"), table),
        tag("p", text("adds_up", error=error), class_="muted"),
    )


def _alignment(column: int, text_columns: Sequence[int] = (0,)) -> str | None:
    """Return the class of a cell: text is left-aligned, numbers are right-aligned."""
    return "text" if column in text_columns else None


# ---------------------------------------------------------------- move by move


def _viewer(review: Review, table: Table, decided: Sequence[Decision], wording: Wording) -> Markup:
    text = wording.text
    letters = [tile for decision in decided for tile in decision.view.hand(decision.seat)]
    hands = tiles_in_hand(table.variant, letters)
    steps = [
        tag("button", f"← {text('previous')}", id="previous"),
        tag("button", f"{text('following')} →", id="following"),
        tag("button", text("next_mistake"), id="mistake"),
    ]
    articles = [
        _move_details(move, decision, hands, review, wording)
        for move, decision in zip(review.moves, decided, strict=True)
    ]
    picture = tag("div", Markup(render_board(table, decided, review)), class_="picture")
    details = tag(
        "div", tag("div", steps, class_="steps"), articles, tag("p", text("keys"), class_="muted keys")
    )
    return tag("section", tag("div", picture, details, class_="viewer"), id="viewer")


def _rating(move: MoveReview, wording: Wording) -> Markup:
    symbol = tag("b", RATING_SYMBOLS[move.rating], aria_hidden="true")
    return tag("span", symbol, f" {wording.text(f'rating.{move.rating}')}", class_=f"rated {move.rating}")


def _move_details(
    move: MoveReview, decision: Decision, hands: dict[str, str], review: Review, wording: Wording
) -> Markup:
    text, name = wording.text, review.seats[move.seat].name
    number = text("move_number", ply=move.ply)
    luck = f"{text('luck')} {wording.change(move.luck.change, signed=True)}"
    drew = text("drew", tiles=", ".join(move.drew)) if move.drew else ""
    return tag(
        "article",
        tag("header", tag("h3", f"{number} · {name}"), tag("strong", move.move), _rating(move, wording)),
        tag("p", wording.remark(move.remark), class_="said"),
        _candidates(move, review, wording) if move.candidates else None,
        tag("h3", text("known", name=name)),
        tag(
            "div", (tag("span", Markup(hands[tile])) for tile in decision.view.hand(move.seat)), class_="hand"
        ),
        _scores(decision, review, wording),
        tag("p", "; ".join(filter(None, (luck, drew))), class_="muted"),
        data_ply=move.ply,
        data_made=move.chosen_index,
        data_label=f"{number} · {name}: {move.move} · {text(f'rating.{move.rating}')}",
        data_wrong=1 if move.rating in BAD_RATINGS else None,
    )


def _candidates(move: MoveReview, review: Review, wording: Wording) -> Markup:
    text = wording.text
    rows = []
    for index, candidate in enumerate(move.candidates):
        mark = tag("small", f" ({text('made')})") if index == move.chosen_index else None
        button = tag("button", candidate.move, mark, data_candidate=index, aria_pressed="false")
        error = wording.bare_change(candidate.behind_error)
        behind = f"{wording.change(-candidate.behind, signed=True)} ± {error}"
        cells = [tag("td", button, class_="text"), tag("td", wording.value(candidate.value))]
        cells.append(tag("td", behind if index else ""))
        rows.append(tag("tr", cells, _points(candidate.points[move.seat], wording)))
    spanning = tag("th", text("expected"), scope="colgroup", colspan=len(review.tracks))
    titles = (text("move"), text("value"), text("behind"))
    head = (tag("th", title, scope="col", rowspan=2, class_=_alignment(n)) for n, title in enumerate(titles))
    over = tag("thead", tag("tr", head, spanning), tag("tr", _tracks(review, wording)))
    table = tag("table", over, tag("tbody", rows), class_="candidates")
    return _scrollable(text("candidates"), table)


def _tracks(review: Review, wording: Wording) -> list[Markup]:
    return [
        tag("th", symbol_of(track, wording.track(track)) or wording.track(track), scope="col")
        for track in review.tracks
    ]


def _points(points: Sequence[float], wording: Wording) -> list[Markup]:
    """Return cells with the points by track, the lowest in bold."""
    low = min(points) if len(points) > 1 else None
    return [tag("td", tag("b", wording.number(n)) if n == low else wording.number(n)) for n in points]


def _scores(decision: Decision, review: Review, wording: Wording) -> Markup:
    head = tag("tr", tag("th", wording.text("player"), scope="col", class_="text"), _tracks(review, wording))
    rows = [
        tag("tr", tag("td", seat.name, class_="text"), _points(tuple(points.values()), wording))
        for seat, points in zip(review.seats, decision.view.scores, strict=True)
    ]
    return tag("table", tag("thead", head), tag("tbody", rows), class_="scores")


def _move_table(review: Review, wording: Wording) -> Markup:
    text = wording.text
    left = (0, 1, 2, 3, 7)
    titles = ("#", *map(text, ("player", "move", "rating", "gave_up", "luck", "best_move", "comment")))
    rows = []
    for move in review.moves:
        cells = (
            tag("a", str(move.ply), href=f"#{move.ply}", data_go=move.ply),
            review.seats[move.seat].name,
            move.move,
            _rating(move, wording),
            wording.change(-move.loss, signed=True) if move.loss else "",
            wording.change(move.luck.change, signed=True) if move.candidates else "",
            move.candidates[0].move if move.loss else "",
            wording.remark(move.remark),
        )
        row = (tag("td", cell, class_=_alignment(n, left)) for n, cell in enumerate(cells))
        rows.append(tag("tr", row, data_ply=move.ply))
    head = (tag("th", title, scope="col", class_=_alignment(n, left)) for n, title in enumerate(titles))
    table = tag("table", tag("thead", tag("tr", head)), tag("tbody", rows), class_="moves")
    return tag("section", tag("h2", text("moves")), _scrollable(text("moves"), table), class_="listed")
