"""Chart of a soak test: resource use over the days, with kills and full disks marked."""

from __future__ import annotations

from collections.abc import Callable

from soaking.journal import Journal, Sample
from soaking.world import DAY

WIDTH, HEIGHT, ROW, COLUMN = 820, 560, 170, 400
LEFT, TOP = 56, 60
ACROSS, DOWN = 320, 105
STYLE = """
  text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #57606a }
  .title { font-weight: 600; font-size: 15px; fill: #1f2328 } .name { font-weight: 600; fill: #1f2328 }
  .axis { stroke: #8c959f } .killed { stroke: #cf222e; stroke-opacity: .35 } .full { fill: #bf8700; fill-opacity: .35 }
  polyline { fill: none; stroke-width: 1.6; stroke-linejoin: round }
  .server { stroke: #8a3c8f } text.server { stroke: none; fill: #8a3c8f; font-weight: 600 }
  .watch { stroke: #1f6f78 } text.watch { stroke: none; fill: #1f6f78; font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1 } .title, .name { fill: #f0f6fc } .axis { stroke: #656c76 }
    .server { stroke: #d58ad9 } text.server { fill: #d58ad9 } .watch { stroke: #5cc3cf } text.watch { fill: #5cc3cf }
  }"""
CHARTS: tuple[tuple[str, Callable[[Sample], float]], ...] = (
    ("memory, MB", lambda sample: sample.memory / 1e6),
    ("file handles", lambda sample: sample.handles),
    ("threads", lambda sample: sample.threads),
    ("logs, MB", lambda sample: sample.log / 1e6),
    ("archives, MB", lambda sample: sample.archive / 1e6),
    ("people's database, kB", lambda sample: sample.people / 1e3),
)


def draw(journal: Journal, end: float) -> str:
    """Return all charts as SVG."""
    days = end / DAY
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT + 40}" role="img" '
        f'aria-label="Memory, file handles, threads and sizes over {days:.0f} simulated days">',
        f"<style>{STYLE}</style>",
        f'<text class="title" x="{LEFT}" y="24">{days:.0f} simulated days: resource use of the processes</text>',
        f'<text class="server" x="{LEFT + 400}" y="24">server, ten people</text>',
        f'<text class="watch" x="{LEFT + 540}" y="24">watch</text>',
        f'<text x="{LEFT + 600}" y="24">red: killed, yellow: disk full</text>',
    ]
    for number, (name, value) in enumerate(CHARTS):
        left, top = LEFT + number % 2 * COLUMN, TOP + number // 2 * ROW
        parts += _chart(journal, end, name, value, left, top)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _chart(journal: Journal, end: float, name: str, value: Callable[[Sample], float], left: int, top: int) -> list[str]:
    highest = max((value(sample) for sample in journal.samples), default=1.0) or 1.0

    def x(at: float) -> float:
        return left + ACROSS * min(1.0, at / end)

    def y(height: float) -> float:
        return top + DOWN - DOWN * height / (1.1 * highest)

    parts = [f'<text class="name" x="{left}" y="{top - 6}">{name}</text>']
    for plan in journal.plans:
        if plan.death and plan.ended <= end:
            parts.append(f'<path class="killed" d="M{x(plan.ended):.1f} {top}v{DOWN}"/>')
        if plan.full is not None:
            width = max(1.0, x(plan.full.end) - x(plan.full.start))
            parts.append(
                f'<rect class="full" x="{x(plan.full.start):.1f}" y="{top + DOWN - 5}" width="{width:.1f}" height="5"/>'
            )
    parts.append(f'<path class="axis" d="M{left} {top}v{DOWN}h{ACROSS}" fill="none"/>')
    parts.append(f'<text x="{left - 6}" y="{y(highest) + 4:.0f}" text-anchor="end">{highest:,.0f}</text>')
    parts.append(f'<text x="{left - 6}" y="{top + DOWN + 4}" text-anchor="end">0</text>')
    for share in (0, 0.5, 1):
        parts.append(
            f'<text x="{left + ACROSS * share:.0f}" y="{top + DOWN + 16}" text-anchor="middle">'
            f"{share * end / DAY:.3g}{' days' if share == 1 else ''}</text>"
        )
    for party in ("server", "watch"):
        of = [sample for sample in journal.samples if sample.party == party and sample.at <= end]
        if name.startswith("people") and party == "watch":
            continue
        step = max(1, len(of) // 400)
        points = " ".join(f"{x(sample.at):.1f},{y(value(sample)):.1f}" for sample in of[::step])
        parts.append(f'<polyline class="{party}" points="{points}"/>')
    return parts
