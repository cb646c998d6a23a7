"""Take the screenshots of the docs: the report of a crawl of the embedded web, and commands in a terminal.

    python tools/screenshots.py [--out docs]

Needs Chromium (tools/chromium finds or installs it). Several requests are in flight at once, so two runs differ by a
few pages.
"""

from __future__ import annotations

import argparse
import base64
import fcntl
import io
import os
import pty
import shlex
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright
from rich.console import Console
from rich.text import Text

from lycosa.testweb import Web, serve
from lycosa.testweb.changing import ChangingWeb

ROOT = Path(__file__).resolve().parent.parent
TOPIC = "marine biology/coral reefs"
PORT = 8123
LARGEST = 250_000
"""Maximum bytes of a screenshot, because each clone of the repository contains them."""

TERMINAL = """<!DOCTYPE html><meta charset="utf-8"><style>
body {{ margin: 0; padding: 18px; background: #14171a; width: max-content }}
pre {{ margin: 0; color: #e8e6e1; font: 13px/1.35 "DejaVu Sans Mono", Menlo, Consolas, monospace }}
{stylesheet}</style><pre>{code}</pre>"""


def in_terminal(command: list[str], columns: int, directory: Path) -> str:
    """Return the output of a command in a terminal with `columns` columns, without its progress."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    running = subprocess.Popen(
        [sys.executable, "-m", "lycosa", *command],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        cwd=directory,
        env={**environment, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
    )
    os.close(theirs)
    text = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # Linux reports a closed terminal in this way
            break
        if not piece:
            break
        text += piece
    os.close(ours)
    if running.wait():
        raise SystemExit(f"lycosa {' '.join(command)} failed: {text.decode()}")
    return text.decode().replace("\r\n", "\n")


def terminal_page(commands: list[tuple[str, str]], columns: int) -> str:
    """Return commands and their output as HTML."""
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for number, (typed, written) in enumerate(commands):
        if number:
            console.print()
        console.print(Text.assemble(("$ ", "bold cyan"), (typed, "bold")))
        console.print(Text.from_ansi(written.rstrip("\n")))
    return console.export_html(code_format=TERMINAL, inline_styles=True)


def shoot(browser: Browser, source: Path, target: Path, size: tuple[int, int], start: str = "", **how: Any) -> None:
    """Take a screenshot of a page in a window of this size, scrolled to the element `start`."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, **how)
    page.goto(source.as_uri())
    if start:
        page.evaluate("start => document.querySelector(start).scrollIntoView({behavior: 'instant'})", start)
    page.screenshot(path=target)
    page.close()


def shoot_phones(browser: Browser, source: Path, target: Path, starts: list[str]) -> None:
    """Take screenshots on a phone, and join them side by side."""
    with TemporaryDirectory() as directory:
        shots = [Path(directory) / f"{number}.png" for number in range(len(starts))]
        for shot, start in zip(shots, starts, strict=True):
            shoot(browser, source, shot, (390, 844), start, color_scheme="light")
        images = "".join(
            f'<img src="data:image/png;base64,{base64.b64encode(shot.read_bytes()).decode()}">' for shot in shots
        )
    style = (
        "body{margin:0;display:flex;gap:16px;padding:16px;background:#dcd9d2;width:max-content}img{border-radius:14px}"
    )
    _shoot_content(browser.new_page(), f"<style>{style}</style>{images}", target)


def _shoot_content(page: Page, html: str, target: Path) -> None:
    page.set_content(html)
    page.evaluate("Promise.all([...document.images].map(image => image.decode()))")
    page.locator("body").screenshot(path=target)
    page.close()


def shoot_changes(browser: Browser, out: Path) -> None:
    """Take the screenshot of the changes on a web that ages by some days between crawl and refresh."""
    ahead = [0.0]
    web = ChangingWeb(Web(pages=600, hosts=15, traps=()), lambda: time.time() + ahead[0], seed=1, start=time.time())
    with TemporaryDirectory() as name, serve(web, port=PORT, record=False):
        directory = Path(name)
        crawl = ["crawl", web.query(TOPIC), "--seed", web.seeds(TOPIC)[0], "--allow-network", "127.0.0.0/8"]
        in_terminal([*crawl, "--delay", "0.05", "--budget", "150", "--out", "reefs"], 100, directory)
        ahead[0] = 4 * 86_400.0
        written = in_terminal(["refresh", "reefs", "--all"], 100, directory)
        page = terminal_page([("lycosa refresh reefs --all", written)], 100)
        _shoot_content(browser.new_page(), page, out / "terminal-refresh.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs")
    out: Path = parser.parse_args().out
    chromium = subprocess.run([ROOT / "tools" / "chromium", "find"], capture_output=True, text=True, check=False).stdout
    if not chromium:
        raise SystemExit("no Chromium: tools/chromium installs one")
    web = Web()
    with TemporaryDirectory() as name, serve(web, port=PORT, record=False), sync_playwright() as playwright:
        directory = Path(name)
        crawl = ["crawl", web.query(TOPIC), "--seed", web.seeds(TOPIC)[0], "--allow-network", "127.0.0.0/8"]
        crawl += ["--delay", "0.05", "--budget", "300", "--out", "reefs"]
        written = in_terminal(crawl, 100, directory)
        page = in_terminal(["report", "reefs"], 100, directory).replace(str(directory.resolve()), "/home/you")
        browser = playwright.chromium.launch(executable_path=chromium.strip(), args=["--no-sandbox"])
        source = directory / "reefs" / "report.html"
        shoot(browser, source, out / "report-light.png", (1280, 1480), color_scheme="light")
        shoot_phones(browser, source, out / "report-phone.png", ["body", "#harvest", "#ways"])
        for columns in (40, 100):
            shown = ("lycosa show reefs", in_terminal(["show", "reefs"], columns, directory))
            commands = (
                [shown]
                if columns == 40
                else [(f"lycosa {shlex.join(crawl)}", written), ("lycosa report reefs", page), shown]
            )
            html = terminal_page(commands, columns)
            _shoot_content(browser.new_page(), html, out / f"terminal-{columns}.png")
        browser.close()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.strip(), args=["--no-sandbox"])
        shoot_changes(browser, out)
        browser.close()
    for picture in sorted([*out.glob("report-*.png"), *out.glob("terminal-*.png")]):
        size = picture.stat().st_size
        print(f"{picture.name}: {size / 1000:.0f} kB{', too large' if size > LARGEST else ''}")


if __name__ == "__main__":
    main()
