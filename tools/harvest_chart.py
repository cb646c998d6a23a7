"""Draw docs/harvest.svg: relevant pages against fetched pages, by scent, best-first and breadth-first.

    python tools/harvest_chart.py [--pages 1000] [--concurrency 16] [--out docs/harvest.svg]

The crawls run over HTTP on the embedded web, like `lycosa demo`. Relevance is the truth known to the web instead of the
judge's opinion. Several requests are in flight at once, so two runs differ by a few pages.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from tempfile import TemporaryDirectory

import lycosa
from lycosa.testweb import Web, serve

TARGET = Path(__file__).resolve().parent.parent / "docs" / "harvest.svg"
TOPIC = "marine biology/coral reefs"
WIDTH, HEIGHT = 720, 360
LEFT, RIGHT, TOP, BOTTOM = 56, 148, 52, 46
STRATEGIES = ("scent", "best-first", "breadth-first")
LINE = 17
"""Minimum vertical distance of labels: those of curves that end at the same height are stacked."""

STYLE = """
  text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #57606a }
  .title { font-weight: 600; font-size: 15px; fill: #1f2328 }
  .axis { stroke: #8c959f } .grid { stroke: #d8dee4 }
  polyline { fill: none; stroke-width: 2.5; stroke-linejoin: round }
  .scent { stroke: #8a3c8f } text.scent { stroke: none; fill: #8a3c8f; font-weight: 600 }
  .best-first { stroke: #1f6f78 } text.best-first { stroke: none; fill: #1f6f78; font-weight: 600 }
  .breadth-first { stroke: #a15c1f } text.breadth-first { stroke: none; fill: #a15c1f; font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1 } .title { fill: #f0f6fc } .axis { stroke: #656c76 } .grid { stroke: #2f363e }
    .scent { stroke: #d58ad9 } text.scent { fill: #d58ad9 }
    .best-first { stroke: #5cc3cf } text.best-first { fill: #5cc3cf }
    .breadth-first { stroke: #e0a062 } text.breadth-first { fill: #e0a062 }
  }"""


def curve(strategy: str, pages: int, concurrency: int) -> tuple[list[int], int]:
    """Return the number of relevant pages among the first n fetched, for each n; and their total."""
    web, found = Web(), [0]
    with serve(web, record=False), TemporaryDirectory() as directory:
        wanted = set(web.relevant(TOPIC))
        crawl = lycosa.crawl(
            web.query(TOPIC),
            web.seeds(TOPIC),
            out=Path(directory) / "crawl",
            strategy=strategy,
            budget=pages,
            concurrency=concurrency,
            delay=0.05,
            allow_network=["127.0.0.0/8"],
        )
        for visit in crawl:
            if visit.is_page:
                found.append(found[-1] + (visit.url in wanted))
    return found, len(wanted)


def draw(curves: dict[str, list[int]], wanted: int, query: str) -> str:
    """Return the chart as SVG."""
    pages = max(len(found) for found in curves.values()) - 1
    top = 10 * -(-max(max(found) for found in curves.values()) // 10)

    def at(x: float, y: float) -> tuple[float, float]:
        width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
        return round(LEFT + width * x / pages, 1), round(TOP + height * (1 - y / top), 1)

    lines = [f'<text class="title" x="16" y="26">On-topic pages found, of {wanted} there are (“{query}”)</text>']
    for y in range(0, top + 1, 10 if top <= 60 else 20):
        kind = "grid" if y else "axis"
        lines.append(f'<path class="{kind}" d="M{LEFT} {at(0, y)[1]}H{WIDTH - RIGHT}"/>')
        lines.append(f'<text x="{LEFT - 8}" y="{at(0, y)[1] + 4}" text-anchor="end">{y}</text>')
    for x in range(0, pages + 1, max(1, pages // 5)):
        lines.append(f'<text x="{at(x, 0)[0]}" y="{HEIGHT - BOTTOM + 19}" text-anchor="middle">{x:,}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    lines.append(f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">pages fetched</text>')
    lowest = -math.inf  # lower end of the previous label
    for name, found in sorted(curves.items(), key=lambda curve: -curve[1][-1]):
        corners = [(n, y) for n, y in enumerate(found) if n % 5 == 0 or n == len(found) - 1]
        points = " ".join("{},{}".format(*at(*corner)) for corner in corners)
        end = at(len(found) - 1, found[-1])
        lowest = max(end[1] + 5, lowest + LINE)
        lines.append(f'<polyline class="{name}" points="{points}"/>')
        lines.append(f'<text class="{name}" x="{end[0] + 8}" y="{round(lowest, 1)}">{name}: {found[-1]}</text>')
    text = ", ".join(f"{name} found {found[-1]}" for name, found in curves.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="On-topic pages found in {pages} pages fetched: {text}">\n<style>{STYLE}\n</style>\n'
        + "\n".join(lines)
        + "\n</svg>\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=16, help="requests in flight at once")
    parser.add_argument("--out", type=Path, default=TARGET)
    given = parser.parse_args()
    pages: int = given.pages
    curves, wanted = {}, 0
    for strategy in STRATEGIES:
        curves[strategy], wanted = curve(strategy, pages, given.concurrency)
        text = ", ".join(f"{curves[strategy][n]} in {n}" for n in range(pages // 10, pages + 1, pages // 10))
        print(f"{strategy}: {text}")
    given.out.write_text(draw(curves, wanted, Web().query(TOPIC)), "utf-8")


if __name__ == "__main__":
    main()
