"""What a judge gains from a person's yes and no, on pages that nobody labelled.

    python benchmarks/feedback.py PAGES.warc.gz LABELS.tsv [--exclude /wp/index/] [--least 20] [--most 600] [--every 1]

Topics are made of the classes as in judges.py: the words of the class's name and the four that stand out most in ten
pages of it, which are then left out. The judge `vector` ranks all other pages; the first 1, 5, 10 and 20 get a yes or
no by their class; and all the rest is ranked again by

    taught      what Lycosa learns (lycosa.topics.lessons)
    rocchio     beta + the mean cosine with the yes pages - half of that with the no pages
    regression  logistic regression on the labels alone; the judge's ranking while there is but one kind of them

Told are means over the topics, on the pages without a label: average precision, how often it is worse than before by
more than .01, precision of the first 50, how many of the pages at or above the threshold are right, and how many of the
right ones that is.
"""

from __future__ import annotations

import argparse
import random
import zlib
from collections import defaultdict
from pathlib import Path

import numpy as np
from judges import EXAMPLES, Column, Pages, classes, precision

from lycosa.text.tokens import stems
from lycosa.topics.lessons import Correction, Lesson, Usual, revised
from lycosa.topics.query import THRESHOLD

LABELLED = (1, 5, 10, 20)


class Vectors:
    """Cosines between pages, and the average page."""

    def __init__(self, pages: Pages, idf: Column) -> None:
        self.pages, self.idf, usual = pages, idf, Usual()
        self.unit = []
        for bag in pages.bags:
            usual.add(bag.ids, bag.counts)
            weights = (1.0 + np.log(bag.counts)) * idf[bag.ids]
            self.unit.append(weights / np.sqrt(weights @ weights))
        self.usual = usual.mean()

    def cosines(self, page: int) -> Column:
        """Of one page with all."""
        dense = np.zeros(len(self.idf))
        dense[self.pages.bags[page].ids] = self.unit[page]
        return np.array([unit @ dense[bag.ids] for unit, bag in zip(self.unit, self.pages.bags, strict=True)])


def taught(vectors: Vectors, beta: Column, labelled: list[int], relevant: Column) -> Column:
    """All scores, corrected."""
    bags = vectors.pages.bags
    lessons = [Lesson(bags[n].ids, bags[n].counts, float(beta[n]), bool(relevant[n])) for n in labelled]
    correction = Correction(lessons, THRESHOLD, vectors.usual)
    return np.array(
        [revised(score, correction.delta(bag.ids, bag.counts)) for score, bag in zip(beta, bags, strict=True)]
    )


def rocchio(beta: Column, cosines: Column, yes: Column) -> Column:
    """The query moved towards the yes pages, and half as far away from the no pages."""
    scores = beta.copy()
    if yes.any():
        scores += cosines[yes].mean(0)
    if not yes.all():
        scores -= 0.5 * cosines[~yes].mean(0)
    return scores


def regression(beta: Column, cosines: Column, yes: Column, labelled: list[int]) -> Column:
    """Logistic regression with a small penalty, by gradient ascent in its dual form."""
    if yes.all() or not yes.any():
        return beta
    kernel, a = cosines[:, labelled] + 0.1, np.zeros(len(yes))
    for _ in range(2000):
        p = 1.0 / (1.0 + np.exp(-(kernel @ a)))
        a += 0.5 * (yes - p - a / 20.0)
    return a @ (cosines + 0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path)
    parser.add_argument("labels", type=Path)
    parser.add_argument("--exclude", default="", help="leave out addresses with this in them")
    parser.add_argument("--least", type=int, default=20, help="pages that a class needs")
    parser.add_argument("--most", type=int, default=600)
    parser.add_argument("--every", type=int, default=1, help="take every so many topics only")
    parser.add_argument("--from", type=int, default=0, dest="first", help="and start with this one")
    given = parser.parse_args()
    pages = Pages(given.pages, given.exclude)
    everywhere = pages.idf(list(range(len(pages.bags))))
    vectors = Vectors(pages, everywhere)
    members = classes(given.labels, pages.urls)
    topics = [name for name in sorted(members) if given.least <= len(members[name]) <= given.most]
    told: dict[tuple[int, str], list[tuple[float, ...]]] = defaultdict(list)
    for name in topics[given.first :: given.every]:
        chance, inside = random.Random(zlib.crc32(name.encode())), sorted(members[name])
        relevant = np.zeros(len(pages.bags), bool)
        relevant[inside] = True
        examples = chance.sample(inside, min(EXAMPLES, len(inside) // 4))
        centroid = pages.centroid(examples)
        standing_out = sorted(centroid, key=lambda term: -centroid[term] * everywhere[term])
        named = [pages.words.id_of.get(stem) for stem in stems(name.split("/")[-1].replace("_", " "))]
        query = {term: 1.0 for term in [*named, *standing_out[:4]] if term is not None}
        beta = pages.scores(query, "log", everywhere)
        kept = np.ones(len(beta), bool)
        kept[examples] = False
        order = [page for page in np.argsort(-beta, kind="stable").tolist() if kept[page]]
        near = np.array([vectors.cosines(page) for page in order[: max(LABELLED)]])
        for n in LABELLED:
            labelled = order[:n]
            rest = kept.copy()
            rest[labelled] = False
            yes = relevant[labelled]
            if not relevant[rest].any():
                continue
            for way, scores in (
                ("before", beta),
                ("taught", taught(vectors, beta, labelled, relevant)),
                ("rocchio", rocchio(beta, near[:n], yes)),
                ("regression", regression(beta, near[:n], yes, labelled)),
            ):
                right, above = relevant[rest], scores[rest] >= THRESHOLD
                first = right[np.argsort(-scores[rest], kind="stable")][:50].mean()
                hits = float((right & above).sum())
                told[n, way].append(
                    (
                        precision(scores[rest], right)[0],
                        float(first),
                        hits / above.sum() if above.any() else np.nan,
                        hits / right.sum(),
                    )
                )
    print(f"{len(pages.bags)} pages, {len(told[1, 'before'])} topics\n")
    print("| labels | judge | average precision | worse | first 50 | above threshold: right | of the right |")
    print("|---|---|---|---|---|---|---|")
    for (n, way), values in sorted(told.items(), key=lambda item: item[0][0]):
        means = np.nanmean(values, 0)
        worse = np.mean([now[0] < then[0] - 0.01 for now, then in zip(values, told[n, "before"], strict=True)])
        print(
            f"| {n} | {way} | {means[0]:.3f} | {worse:.0%} | {means[1]:.3f} | {means[2]:.2f} | {means[3]:.2f} |",
        )


if __name__ == "__main__":
    main()
