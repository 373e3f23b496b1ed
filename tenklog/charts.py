"""Charts: this module draws pictures in the terminal, in signs alone, so that they are legible without colour.

It needs the extra `tenklog[chart]` (plotext).
"""

import re
from collections.abc import Sequence
from typing import Any

from tenklog.errors import UsageError
from tenklog.projections import Sheet, running
from tenklog.render import visible
from tenklog.reports import Report
from tenklog.stats import Answer
from tenklog.sweep import Sweep

WIDTH = 78
SIGNS = "#o+x=*%@&~"


def bars(report: Report, answer: Answer) -> str:
    """Draw the columns of a report that make its picture: a group of bars for each row, shares in percent."""
    label, *series = report.chart
    units = {column.name: column.unit for column in report.columns}
    found = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    rows = [row for row in found if all(row[name] is not None for name in series)]
    if not rows:
        return "Nothing to draw."
    heights = [[float(row[name]) * (100 if units.get(name) == "share" else 1) for row in rows] for name in series]
    labels = [visible(str(row[label])) for row in rows]
    words = [name.replace("_", " ") for name in series]
    kinds = [" (%)" if units.get(name) == "share" else "" for name in series]
    told = [name + kind for name, kind in zip(words, kinds, strict=True)]
    return _bars(f"{report.title}: {', '.join(words)}", heights, labels, told, label.replace("_", " "))


def _bars(title: str, heights: list[list[float]], labels: list[str], series: list[str], about: str) -> str:
    """Draw a group of bars for each label; `heights` are lists, one for each of the series."""
    signs = list(SIGNS[: len(series)])
    figure = _figure(3 + len(labels) * (len(series) + 1))
    # The first row is drawn at the top, and in a group of bars the first one too.
    drawn = [one[::-1] for one in heights[::-1]]
    places = list(range(1, len(labels) + 1))
    figure.draw(figure.bar(places, drawn if len(series) > 1 else drawn[0], marker=signs[::-1], orientation="h"))
    least, most = min(0.0, *map(min, heights)), max(0.0, *map(max, heights))
    figure.ruler("x").lim(least, most if most > least else 1e-9)
    figure.ruler("y").ticks(places, labels[::-1])
    legend = "   ".join(f"{sign} {name}" for sign, name in zip(signs, series, strict=True))
    return f"{title}\n{_text(figure)}\n{about}: {legend}"


def changes(found: Sweep) -> str:
    """Draw for each value of a sweep how often another player wins than at the table."""
    rows = [(" ".join(one.values.values()), one.changed) for one in found.rows if one.changed is not None]
    if not rows:
        return "Nothing to draw: no game is decided under both rules."
    heights = [[100 * changed for _, changed in rows]]
    title = f"{visible(found.rules)}, {visible(' and '.join(found.keys))}: another winner"
    return _bars(title, heights, [visible(label) for label, _ in rows], ["another winner (%)"], " ".join(found.keys))


def race(sheet: Sheet) -> str:
    """Draw the totals of a game's players round by round."""
    if not sheet.rounds:
        return "Nothing to draw."
    figure = _figure(22)
    legend: list[str] = []
    for number, (player, totals) in enumerate(zip(sheet.players, running(sheet), strict=True)):
        sign = _sign(player, number, [line[0] for line in legend])
        line = figure.signal(list(range(len(totals))), totals, marker=sign)
        line.lines(True)
        figure.draw(line)
        legend.append(f"{sign} {visible(player)}")
    return f"{visible(sheet.game)}, {visible(sheet.rules)}: totals by round\n{_text(figure)}\n{'   '.join(legend)}"


def _sign(player: str, number: int, taken: Sequence[str]) -> str:
    """Return the sign of a player's line: the first letter, or the seat where that is taken or no plain letter."""
    first = player[0]
    return first if first.isascii() and first.isalnum() and first not in taken else chr(ord("a") + number)


def _figure(height: int) -> Any:  # plotext has no types
    try:
        import plotext
    except ImportError:
        raise UsageError("pictures need plotext", "pip install 'tenklog[chart]'") from None
    plotext.terminal.limit(False, False)
    figure = plotext.figure
    figure.clear()
    figure.theme("colorless")
    figure.plot_size(WIDTH, height)
    return figure


def _text(figure: Any) -> str:
    text = re.sub("\x1b\\[[0-9;]*m", "", str(figure.build()))
    return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n"))
