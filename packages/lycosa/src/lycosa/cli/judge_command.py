"""`lycosa judge` and `lycosa label`: judge pages again with other words, and label the least certain ones."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

from rich.text import Text

from lycosa.cli.parameters import REGISTRIES, Dir, Json, Threshold
from lycosa.cli.printing import Part, heading, page_parts, print_result, require_crawl, show
from lycosa.collection import judging
from lycosa.collection.best import Question, questions
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.estimate import describe_threshold
from lycosa.collection.judging import JudgingResult, RejudgedPage
from lycosa.core.errors import InputError
from lycosa.core.types import Label
from lycosa.store.directory import Directory, is_running
from lycosa.store.log import SqliteLog, current_labels
from lycosa.training.sources import IRRELEVANT, RELEVANT
from lycosa.web.urls import canonical


def judge(
    directory: Dir,
    words: Annotated[list[str] | None, "WORDS", "New topic. Default: the topic of the crawl."] = None,
    *,
    example: Annotated[
        list[str] | None, "PAGE", "An example of a relevant page, from the crawl or a file; repeatable."
    ] = None,
    threshold: Threshold = None,
    by: Annotated[str, "--judge", "NAME", REGISTRIES["judges"], "The judge to use (see 'lycosa list judges')."] = "",
    keep: Annotated[bool, "Apply the result to the crawl. Default: only show it."] = False,
    everything: Annotated[
        bool, "--all", "Judge all pages of a large crawl. Default: a sample, unless --keep is given."
    ] = False,
    json: Json = False,
) -> None:
    """Judge pages again with other words, without fetching.

    Other words, examples, another judge or another threshold: the output shows which pages become relevant and which
    no longer are. With --keep, all commands use the new judgement, and so does the crawl when resumed. Without WORDS
    and options, the judge learns from everything known so far. Of crawls with 30,000 pages or more, a sample is judged,
    so that you can try out words; with --all or --keep, all pages are.
    """
    words, examples = words or [], example or []
    judged = judging.judge(
        directory, " ".join(words), examples=examples, threshold=threshold, judge=by, keep=keep,
        sample=0 if everything else 15_000,  # pages in a sample, which are judged within seconds
    )  # fmt: skip
    again = [str(directory), *words, *(part for name in examples for part in ("--example", name))]
    again += ["--threshold", f"{threshold:g}"] if threshold is not None else []
    again += ["--judge", by] if by else []
    print_result(judged, _parts(judged, shlex.join(again)), json=json)


def _parts(judged: JudgingResult, again: str) -> Iterator[Part]:
    before, after = judged.before, judged.after
    if judged.sample_of:
        yield f"A sample of {after.pages:,} from {judged.sample_of:,} pages (all of them: --all)"
    yield f"before: {before.description}, relevance {describe_threshold(judged.threshold_before)}"
    threshold = describe_threshold(judged.threshold)
    yield Text.assemble(("now", "bold"), f":    {after.description}, relevance {threshold}, by {judged.judge}")
    if not judged.gained_count and not judged.lost_count:
        yield "The same pages are relevant as before."
    yield from _moved(f"{_pages(judged.gained_count, 'come')} in", judged.gained, judged.gained_count)
    yield from _moved(f"{_pages(judged.lost_count, 'go')} out", judged.lost, judged.lost_count)
    yield from _moved("nearest to the threshold", judged.nearest, len(judged.nearest))
    if judged.kept:
        yield "Applied: all commands use the new judgement, and so does the crawl when resumed."
    else:
        yield f"Apply it with:  lycosa judge {again} --keep"


def _pages(count: int, verb: str) -> str:
    return f"1 page {verb}{'es' if verb == 'go' else 's'}" if count == 1 else f"{count:,} pages {verb}"


def _moved(title: str, pages: Sequence[RejudgedPage], count: int) -> Iterator[Part]:
    yield from heading(title) if pages else []
    for page in pages:
        yield from page_parts(page.after, page.title, page.url, page.before if page.before != page.after else None)
    if pages and count > len(pages):
        yield Text(f"  and {count - len(pages):,} more", "dim")


def label(
    directory: Dir,
    *,
    yes: Annotated[list[str] | None, "URL", "A relevant page that the crawl has fetched; repeatable."] = None,
    no: Annotated[list[str] | None, "URL", "An irrelevant page that the crawl has fetched; repeatable."] = None,
    json: Json = False,
) -> None:
    """Label pages as relevant or not, so that the judge learns.

    Without --yes and --no, prompts for labels of the ten pages whose labels would help most. The judge learns
    immediately, and uses its knowledge when the crawl is resumed. A new label replaces an earlier one. 'lycosa train
    DIR' trains a model on the labels.
    """
    if yes or no:
        require_crawl(directory)
        keep_labels(directory, [*((url, True) for url in yes or ()), *((url, False) for url in no or ())], json=json)
        return
    with CrawlDirectory(directory) as collection:
        found = questions(collection, 10)
    if found and not json and sys.stdin.isatty() and sys.stdout.isatty() and not is_running(directory):
        _ask(directory, found)
    else:
        print_result({"questions": found}, _questions(found, directory), json=json)


def _questions(found: Sequence[Question], directory: Path) -> Iterator[Part]:
    if not found:
        yield "The judge is certain about every unlabelled page."
        return
    yield "Labelling these pages would help most:"
    for question in found:
        yield from page_parts(question.relevance_now, question.title, question.url)
    name = shlex.quote(str(directory))
    yield f"Label them with: lycosa label {name} --yes URL, or --no URL; both are repeatable"


def _ask(directory: Path, found: Sequence[Question]) -> None:
    """Prompt for one label after the other; labels are stored at the end, also after an interrupt."""
    show(["Are these pages relevant? y: yes, n: no, Enter: skip, q: quit"])
    labels: dict[str, bool] = {}
    for question in found:
        show(page_parts(question.relevance_now, question.title, question.url))
        try:
            typed = input("  y/n? ").strip().lower()[:1]
        except (EOFError, KeyboardInterrupt):
            print()
            break
        if typed == "q":
            break
        if typed in ("y", "n"):
            labels[question.url] = typed == "y"
    if labels:
        keep_labels(directory, labels.items())


def keep_labels(directory: Path, labels: Iterable[tuple[str, bool]], *, json: bool = False) -> None:
    """Record labels of pages, let the judge learn from them, and print the new counts."""
    opened = Directory.open(directory)
    try:
        with closing(opened.log()) as log:
            nodes: dict[str, bool] = {}
            for url, relevant in labels:
                if nodes.setdefault(_known(directory, log, url), relevant) != relevant:
                    raise InputError("conflicting-options", f"{url} is labelled with both --yes and --no: choose one")
            now = time.time()
            with log.batch():
                for node, relevant in nodes.items():
                    log.append(Label(node, relevant, now))
                judged = judging.learn(opened, log, now)
            given = current_labels(log)
    finally:
        opened.close()
    good, bad = sum(given.values()), len(given) - sum(given.values())
    counts = {RELEVANT: sum(nodes.values()), IRRELEVANT: len(nodes) - sum(nodes.values())}
    kinds = ", ".join(f"{count} labelled as {kind}" for kind, count in counts.items() if count)
    change = f"{judged.after.description}; before: {judged.before.description}."
    parts: list[Part] = [f"{kinds}; now {good} yes, {bad} no.", change]
    if good >= 3 and bad >= 3:
        parts.append(f"Train with them: lycosa train {shlex.quote(str(directory))}")
    facts = {"labelled": nodes, "yes": good, "no": bad, "before": judged.before, "after": judged.after}
    print_result(facts, parts, json=json)


def _known(directory: Path, log: SqliteLog, url: str) -> str:
    node = canonical(url) or url
    visits = list(log.visits("url = ?", given=(node,)))
    if any(visit.is_page for visit in visits):
        return node
    for visit in visits:
        if visit.target:
            raise InputError("page-redirects", f"{node} redirects to {visit.target}: label that page")
    if visits:
        raise InputError("unknown-page", f"{node} could not be fetched ({visits[-1].outcome}): label another page")
    raise InputError("unknown-page", f"the crawl has not fetched {node}: see 'lycosa show {directory}'")
