"""`lycosa train browse`: learn from a browsing record which pages lead to relevant ones."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from rich.table import Column
from rich.text import Text

from lycosa.cli.commands import with_more
from lycosa.cli.parameters import Json, Language, Pages, Quiet, network_options, network_parameters
from lycosa.cli.printing import Part, listing, print_result, remarks, right_aligned
from lycosa.cli.progress_bar import show_progress
from lycosa.core.spec import format_spec
from lycosa.training.browse import BrowsingResult, train_browse
from lycosa.training.page_loading import fetched_pages, recorded_pages

MAX_ROWS = 20  # listed clusters; --json has all of them


@with_more(network_parameters(), last=True)
def browse(
    record: Annotated[
        Path,
        "RECORD",
        "A file with one visited page per line as JSON (url, relevant, referrer), or a crawl's directory.",
    ],
    *,
    out: Annotated[Path, "-o", "FILE", "File to write the model to."],
    unlabelled: Annotated[
        str,
        "HOW",
        "Pages without a label: path (they count on the way to relevant ones, but are no example of anything) "
        "or no (they are irrelevant).",
    ] = "path",
    positives_only: Annotated[bool, "Learn from relevant pages only; all others form one background cluster."] = False,
    states: Annotated[int, "Number of distances to distinguish; 4: relevant, one step away, two, farther."] = 4,
    clusters: Annotated[int, "Number of K-Means clusters, including the one of relevant pages."] = 5,
    gap: Annotated[float, "Minutes without visits after which a new path begins, in a record without referrers."] = 30,
    most: Annotated[int, "Maximum number of training pages, chosen at random."] = 3000,
    pages: Pages = None,
    random_seed: Annotated[int, "Random seed for the initial clusters."] = 0,
    language: Language = "en",
    quiet: Quiet = False,
    json: Json = False,
    **network: Any,
) -> None:
    """Learn from recorded browsing, for --strategy hmm."""
    options = network_options(**network)
    with show_progress(quiet or json) as progress:
        done = train_browse(
            record,
            out,
            recorded_pages(pages) if pages else fetched_pages(options),
            progress=progress,
            unlabelled=unlabelled,
            positives_only=positives_only,
            states=states,
            clusters=clusters,
            gap=gap,
            most=most,
            language=language,
            seed=random_seed,
        )
    browsing = done.browsing
    facts = {
        "file": done.out,
        "pages": len(browsing),
        "relevant": int(browsing.relevant.sum()),
        "terms": len(browsing.terms),
        "steps": len(browsing.steps),
        "states": np.bincount(browsing.state, minlength=browsing.states).tolist(),
        "transitions": done.transitions.tolist(),
        **{name: getattr(done, name) for name in ("clusters", "left_out", "notes")},
    }
    print_result(facts, _parts(done, facts), json=json, quiet=quiet)


def _parts(done: BrowsingResult, facts: dict[str, Any]) -> Iterator[Part]:
    pages = f"{facts['pages']:,} pages, {facts['relevant']:,} of them relevant, {facts['steps']:,} steps between them"
    yield Text.assemble((str(done.out), "bold"), f": {pages}, {facts['terms']:,} terms")
    yield Text("how far pages are from a relevant one, and where their visitors went next", "bold")
    yield _states(facts["states"], facts["transitions"])
    yield from _clusters("K-Means (strategy hmm)", done.clusters["kmeans"])
    yield from _clusters("X-Means (strategy hmm-xmeans)", done.clusters["xmeans"])
    yield from remarks(done.left_out, done.notes)
    strategy = shlex.quote(format_spec("hmm", {"file": str(done.out)}))
    yield f"Crawl with it: lycosa crawl --strategy {strategy} --seed URL"


def _states(counts: list[int], transitions: list[list[int]]) -> Part:
    states = len(counts)
    names = ["relevant", *(f"{n} step{'s' if n > 1 else ''} away" for n in range(1, states - 1)), "farther, or no path"]
    columns = [right_aligned("state"), Column("pages", overflow="fold"), right_aligned("")]
    columns += [right_aligned(f"to {n}", no_wrap=True) for n in range(states)]
    rows = []
    for n, moves in enumerate(transitions):
        shares = (f"{count / sum(moves):.2f}" if sum(moves) else "-" for count in moves)
        rows.append([str(n), names[n], f"{counts[n]:,}", *shares])
    return listing(columns, rows)


def _clusters(title: str, clusters: list[dict[str, Any]]) -> Iterator[Part]:
    ranked = sorted(clusters, key=lambda cluster: (-cluster["relevant"], cluster["cluster"] < 0, -cluster["pages"]))
    rows = []
    for cluster in ranked[:MAX_ROWS]:
        number = "none" if cluster["cluster"] < 0 else str(cluster["cluster"])
        counts = (f"{cluster[name]:,}" for name in ("pages", "relevant"))
        rows.append((number, *counts, " ".join(cluster["words"]) or "-"))
    columns = [*map(right_aligned, ("cluster", "pages", "relevant")), Column("typical words (stems)", overflow="fold")]
    yield Text(f"clusters by {title}", "bold")
    yield listing(columns, rows)
    if len(clusters) > MAX_ROWS:
        yield f"and {len(clusters) - MAX_ROWS} more: --json lists all"
