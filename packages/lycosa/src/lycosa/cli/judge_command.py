"""`lycosa judge`: judge pages again with other words."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Annotated

from rich.text import Text

from lycosa.cli.parameters import REGISTRIES, Dir, Json, Threshold
from lycosa.cli.printing import Part, heading, page_parts, print_result
from lycosa.collection import judging
from lycosa.collection.estimate import describe_threshold
from lycosa.collection.judging import JudgingResult, RejudgedPage


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
