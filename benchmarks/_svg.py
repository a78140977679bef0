"""Draws the plots of a report as SVG files that read well on light and dark pages."""

import math
from collections.abc import Callable, Sequence
from html import escape

from benchmarks.measure import Plot

_WIDTH, _HEIGHT = 680, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 150, 40, 46
_COLOURS = ("#2563eb", "#d97706", "#059669", "#c026d3", "#64748b", "#dc2626")
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#374151}.title{font-size:14px;font-weight:600}"
    ".grid{stroke:#9ca3af;stroke-opacity:.35}.axis{stroke:#6b7280}"
    "@media(prefers-color-scheme:dark){text{fill:#d1d5db}}"
)

Scale = Callable[[float], float]


def drawn(plot: Plot) -> str:
    body = _bars(plot) if plot.kind == "bars" else _lines(plot)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(plot.title)}"><style>{_STYLE}</style>'
        f'<text class="title" x="{_LEFT}" y="20">{escape(plot.title)}</text>{"".join(body)}</svg>\n'
    )


def _lines(plot: Plot) -> list[str]:
    points = [point for series in plot.series for point in series.points]
    across = _scale([x for x, _ in points], _LEFT, _WIDTH - _RIGHT, logarithmic=plot.logarithmic_x)
    up = _scale([0.0, *(y for _, y in points)], _HEIGHT - _BOTTOM, _TOP)
    parts = [*_upright_axis(plot, [y for _, y in points], up)]
    for x in sorted({x for x, _ in points}) if plot.marks_x is None else plot.marks_x:
        parts.append(_text(across(x), _HEIGHT - _BOTTOM + 18, _short(x), "middle"))
    parts.append(_text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 8, plot.x, "middle"))
    for number, series in enumerate(plot.series):
        colour = _COLOURS[number % len(_COLOURS)]
        path = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in series.points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if len(series.points) <= 20:
            parts += [
                f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="3" fill="{colour}"/>' for x, y in series.points
            ]
        parts += _legend(number, series.name, colour)
    return parts


def _bars(plot: Plot) -> list[str]:
    """One stacked bar for each place; a series gives the same part of all of them."""
    totals = [sum(series.points[place][1] for series in plot.series) for place in range(len(plot.places))]
    up = _scale([0.0, *totals], _HEIGHT - _BOTTOM, _TOP)
    parts = [*_upright_axis(plot, totals, up)]
    step = (_WIDTH - _LEFT - _RIGHT) / len(plot.places)
    for place, name in enumerate(plot.places):
        left, below = _LEFT + step * (place + 0.2), 0.0
        for number, series in enumerate(plot.series):
            value = series.points[place][1]
            top = up(below + value)
            parts.append(
                f'<rect x="{left:.1f}" y="{top:.1f}" width="{step * 0.6:.1f}" height="{up(below) - top:.1f}" '
                f'fill="{_COLOURS[number % len(_COLOURS)]}"/>'
            )
            below += value
        parts.append(_text(left + step * 0.3, up(below) - 5, _short(below), "middle"))
        parts.append(_text(left + step * 0.3, _HEIGHT - _BOTTOM + 18, name, "middle"))
    for number, series in enumerate(plot.series):
        parts += _legend(number, series.name, _COLOURS[number % len(_COLOURS)])
    return parts


def _upright_axis(plot: Plot, values: Sequence[float], up: Scale) -> list[str]:
    parts = [_text(_LEFT - 8, _TOP - 6, plot.y, "end")]
    for mark in _marks(max([0.0, *values])):
        y = up(mark)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(_LEFT - 8, y + 4, _short(mark), "end"))
    return parts


def _legend(number: int, name: str, colour: str) -> list[str]:
    x, y = _WIDTH - _RIGHT + 14, _TOP + 8 + number * 20
    return [f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{colour}"/>', _text(x + 16, y, name)]


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _scale(values: Sequence[float], low: float, high: float, *, logarithmic: bool = False) -> Scale:
    def size(value: float) -> float:
        return math.log10(max(value, 1e-9)) if logarithmic else value

    lowest, highest = size(min(values)), size(max(values))
    span = (highest - lowest) or 1.0
    return lambda value: low + (size(value) - lowest) / span * (high - low)


def _marks(highest: float) -> list[float]:
    """Four to eight round numbers from zero on."""
    if highest <= 0:
        return [0.0]
    step = 10 ** math.floor(math.log10(highest))
    while highest / step < 4:
        step /= 2 if highest / step >= 2 else 5
    return [step * number for number in range(int(highest / step) + 1)]


def _short(value: float) -> str:
    for size, sign in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{sign}" if value % size == 0 else f"{value / size:.1f}{sign}"
    return f"{value:.3g}"
