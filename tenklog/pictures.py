"""Pictures: this module draws charts as SVG that stands in a page: lines over rounds, and bars of reports.

A chart is a Vega-Lite specification, plain data, and vl-convert (the extra `tenklog[page]`) makes the SVG of it without
any network. Colours are the page's own variables, so that one picture is right in dark, in light and on paper; what
tells lines apart is also their dashes and the name at their end.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from wcwidth import wcswidth

from tenklog.errors import UsageError
from tenklog.render import visible

COLOURS = 10
MISSING = ("pages need vl-convert-python and jinja2", "pip install 'tenklog[page]'")
DASHES = ((1, 0), (7, 3), (2, 3), (9, 3, 2, 3), (14, 4), (4, 2, 1, 2))
WIDE, MIDDLE, NARROW = 920, 560, 350
LABEL = 17  # pixels between the names of two lines
MOST_BARS = 12


class Line(Struct, frozen=True):
    """A line of a chart: its name, which of the page's styles it has (from 0), and a value a round from the start."""

    name: str
    style: int
    values: Sequence[float]
    marks: Sequence[int] = ()  # rounds with a cross


class Picture(Struct, frozen=True):
    """A picture in the sizes that the page chooses from, and what it shows, for whoever does not see it."""

    svgs: tuple[tuple[str, str], ...]  # (size, SVG)
    about: str


class Plot(Struct, frozen=True):
    """The place of a chart's plot in its picture, in pixels."""

    width: int
    height: int
    left: int
    right: int
    top: int = 14
    bottom: int = 42


def colour(style: int) -> str:
    """Return the page's colour of a player's or column's number."""
    return f"var(--p{style % COLOURS + 1})"


def dash(style: int) -> str:
    """Return the dashes of a number; with the colours they make 30 different lines."""
    return " ".join(map(str, DASHES[style % len(DASHES)]))


# -- lines ------------------------------------------------------------------------------------------------------------


def lines(
    series: Sequence[Line], about: str, sizes: Sequence[str], target: int | None = None,
    within: tuple[float, float] | None = None, rounds: int | None = None,
) -> Picture:  # fmt: skip
    """Draw lines over the rounds of a game; `within` is the least range of values, `rounds` the least of rounds."""
    low, high = within or (0.0, 1.0)
    values = [value for line in series for value in line.values]
    low, high = min(low, *values, 0.0), max(high, *values, target or 0)
    high += (high - low) * 0.04
    low -= (high - low) * 0.04 if low < 0 else 0
    last = max(rounds or 1, *(len(line.values) - 1 for line in series))
    drawn = [
        (size, _svg(_lines_spec(series, _line_plot(size, series), target, (low, high), last), about)) for size in sizes
    ]
    return Picture(tuple(drawn), about)


def _line_plot(size: str, series: Sequence[Line]) -> Plot:
    width, height = {"wide": (WIDE, 430), "middle": (MIDDLE, 340), "narrow": (NARROW, 300)}[size]
    height = max(height, LABEL * (len(series) + 4))  # room for every name
    longest = max(_width(line.name) for line in series)
    return Plot(width, height, 56, 34 + min(longest, 160 if size == "wide" else 92))


def _width(text: str) -> int:
    """Guess how wide a text is, in pixels."""
    return round(max(wcswidth(visible(text)), len(text) // 2) * 7.6)


def _lines_spec(
    series: Sequence[Line], plot: Plot, target: int | None, domain: tuple[float, float], last: int
) -> dict[str, Any]:
    x = {"field": "x", "type": "quantitative", "scale": {"domain": [0, last], "nice": False}}
    y = {"field": "y", "type": "quantitative", "scale": {"domain": [*domain], "nice": False, "zero": False}}
    steps = max(1, -(-last // (24 if plot.width == WIDE else 10)))
    axis = {"title": "Round", "values": [*range(0, last + 1, steps)], "format": "d", "grid": False, "labelFlush": False}
    layers: list[dict[str, Any]] = []
    if domain[0] < 0:
        layers.append(_rule(0, "var(--ink)", [1, 0]))
    if target is not None:
        layers.append(_rule(target, "var(--muted)", [3, 4]))
        layers.append(
            {
                "data": {"values": [{"x": 0, "y": target}]},
                "mark": {"type": "text", "align": "left", "dx": 4, "dy": -7, "text": f"target {target}"},
                "encoding": {"x": x, "y": y, "color": {"value": "var(--muted)"}},
            }
        )
    names = _names(series, plot, domain)
    for line, place in zip(series, names, strict=True):
        points = [{"x": number, "y": value} for number, value in enumerate(line.values)]
        end = points[-1]
        stroke = {"color": {"value": colour(line.style)}}
        layers += [
            {
                "data": {"values": points},
                "mark": {
                    "type": "line", "strokeWidth": 2.5, "strokeDash": [*DASHES[line.style % len(DASHES)]],
                    "strokeJoin": "round", "interpolate": "linear",
                },
                "encoding": {"x": x | {"axis": axis}, "y": y | {"axis": {"title": None, "format": "d"}}, **stroke},
            },
            {
                "data": {"values": [end]},
                "mark": {"type": "point", "filled": True, "size": 42, "opacity": 1},
                "encoding": {"x": x, "y": y, **stroke},
            },
            {
                "data": {"values": [{"x": end["x"], "y": place, "name": visible(line.name)}]},
                "mark": {
                    "type": "text", "align": "left", "dx": 12, "fontWeight": 600, "limit": plot.right - 22,
                    "fontSize": 13, "baseline": "middle",
                },
                "encoding": {"x": x, "y": y, "text": {"field": "name", "type": "nominal"}, **stroke},
            },
        ]  # fmt: skip
        if line.marks:
            crosses = [{"x": number, "y": line.values[number]} for number in sorted(set(line.marks))]
            layers.append(
                {
                    "data": {"values": crosses},
                    "mark": {"type": "point", "shape": "cross", "angle": 45, "size": 90, "filled": True, "opacity": 1},
                    "encoding": {"x": x, "y": y, "color": {"value": "var(--ink)"}},
                }
            )
    return _spec(plot, {"layer": layers})


def _rule(y: float, stroke: str, dashes: list[int]) -> dict[str, Any]:
    return {
        "data": {"values": [{}]},
        "mark": {"type": "rule", "strokeDash": dashes, "strokeWidth": 1},
        "encoding": {"y": {"datum": y}, "color": {"value": stroke}},
    }


def _names(series: Sequence[Line], plot: Plot, domain: tuple[float, float]) -> list[float]:
    """Return at which value each name stands: where its line ends, moved so far that no two overlap."""
    height = plot.height - plot.top - plot.bottom
    scale = (domain[1] - domain[0]) / height
    order = sorted(range(len(series)), key=lambda number: -series[number].values[-1])
    least = min(LABEL, height / max(1, len(series) - 1)) * scale
    places: list[float] = [0.0] * len(series)
    above = domain[1] + least
    for number in order:  # downwards from the top, each at least so far below the one above
        above = places[number] = min(series[number].values[-1], above - least)
    below = domain[0] - least
    for number in reversed(order):  # and up again where the lowest fell out of the picture
        below = places[number] = max(places[number], below + least)
    return places


# -- bars -------------------------------------------------------------------------------------------------------------


class Bar(Struct, frozen=True):
    """A bar: what stands beside it, how long it is, how its value is written, and the value to compare it with."""

    name: str
    value: float
    text: str
    beside: float | None = None


def bars(rows: Sequence[Bar], about: str, unit: str, sizes: Sequence[str], most: float | None = None) -> Picture:
    """Draw bars one below the other, from 0 on; a thin line across a bar is what it is compared with."""
    told = [0.0, *(row.value for row in rows), *(row.beside or 0.0 for row in rows)]
    low, high = min(told), max(*told, most or 0.0)
    domain = (low, high if high > low else 1e-9)
    drawn = []
    for size in sizes:
        width = {"wide": WIDE, "middle": MIDDLE, "narrow": NARROW}[size]
        left = 14 + min(max(_width(row.name) for row in rows), width // 3)
        plot = Plot(width, 56 + 26 * len(rows), left, 64)
        drawn.append((size, _svg(_bars_spec(rows, plot, unit, domain), about)))
    return Picture(tuple(drawn), about)


def _bars_spec(rows: Sequence[Bar], plot: Plot, unit: str, domain: tuple[float, float]) -> dict[str, Any]:
    values = [
        {
            "n": visible(row.name),
            "x": row.value,
            "text": row.text,
            "beside": row.beside,
            "end": max(row.value, row.beside or 0, 0),
        }
        for row in rows
    ]
    y = {"field": "n", "type": "nominal", "sort": None, "axis": {"title": None, "labelLimit": plot.left - 10}}
    x = {"type": "quantitative", "scale": {"domain": [*domain], "nice": False}}
    axis = {"title": unit, "format": "~r", "tickCount": max(2, (plot.width - plot.left - plot.right) // 90)}
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "bar", "height": {"band": 0.62}, "cornerRadiusEnd": 2},
            "encoding": {"y": y, "x": x | {"field": "x", "axis": axis}, "color": {"value": "var(--bar)"}},
        },
        {
            "mark": {"type": "text", "align": "left", "dx": 7, "fontWeight": 600, "baseline": "middle"},
            "encoding": {
                "y": y, "x": x | {"field": "end"}, "text": {"field": "text", "type": "nominal"},
                "color": {"value": "var(--ink)"},
            },
        },
    ]  # fmt: skip
    if any(row.beside is not None for row in rows):
        tick = {"type": "tick", "thickness": 3, "height": {"band": 0.9}, "opacity": 1}
        encoding = {"y": y, "x": x | {"field": "beside"}, "color": {"value": "var(--ink)"}}
        layers.append({"mark": tick, "encoding": encoding})
    if domain[0] < 0:
        layers.append({"mark": "rule", "encoding": {"x": x | {"datum": 0}, "color": {"value": "var(--ink)"}}})
    return _spec(plot, {"data": {"values": values}, "layer": layers})


# -- to SVG -----------------------------------------------------------------------------------------------------------


def _spec(plot: Plot, content: dict[str, Any]) -> dict[str, Any]:
    ink, muted, rule = "var(--ink)", "var(--muted)", "var(--rule)"
    return {
        "autosize": "none",
        "padding": {"left": plot.left, "right": plot.right, "top": plot.top, "bottom": plot.bottom},
        "width": plot.width - plot.left - plot.right,
        "height": plot.height - plot.top - plot.bottom,
        "background": None,
        "config": {
            "aria": False,
            "mark": {"aria": False},
            "view": {"stroke": None},
            "axis": {
                "labelFontSize": 12, "labelColor": muted, "titleColor": muted, "titleFontSize": 12,
                "titleFontWeight": "normal", "gridColor": rule, "domainColor": rule, "tickColor": rule,
            },
            "text": {"fontSize": 12, "color": ink},
        },
        **content,
    }  # fmt: skip


def _svg(spec: dict[str, Any], about: str) -> str:
    """Return the SVG of a specification, one image with a name for whoever reads by ear."""
    try:
        import vl_convert
    except ImportError:
        raise UsageError(*MISSING) from None
    from html import escape

    made = vl_convert.vegalite_to_svg(spec)
    plot = f"{spec['padding']['left']} {spec['padding']['top']} {spec['width']} {spec['height']}"
    head, _, rest = made.partition(">")
    box = head.split('viewBox="')[1].split('"')[0]
    name = escape(visible(about))
    return f'<svg viewBox="{box}" role="img" aria-label="{name}" data-plot="{plot}" focusable="false">{rest}'
