"""A focused Scrapy spider, which benchmarks/page_cost.py compares with Lycosa.

    python benchmarks/scrapy_focused.py URL PAGES HOSTS QUERY

It does the work of Lycosa's best-first strategy as a Scrapy user would: page text -> tokens -> Snowball stems -> (1 +
log tf) idf vectors with document frequencies learned on the go -> cosine with the query for the page and for each
anchor. The priority of a link is the mean of the two, the best is fetched first, and robots.txt is obeyed. It has no
archive and no log. Tuned in Scrapy's favour: the same concurrency as Lycosa, no delay, cached stems, lxml trees, and
every feature disabled that a plain crawl does not need. The last line printed is {"pages": N}.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import scrapy
import Stemmer
from lxml.etree import XPath  # type: ignore[import-untyped]  # it ships no types
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import CloseSpider
from scrapy.http import HtmlResponse, Response
from scrapy.resolver import CachingThreadedResolver
from twisted.internet import defer

from lycosa.text.stopwords import ENGLISH

WORD = re.compile(r"[^\W_]{2,40}")
TEXT = XPath("//body//text()[not(parent::script or parent::style or parent::noscript)]")
TITLE = XPath("string(//title)")


class Words:
    """Vocabulary with stems, document frequencies and cosines."""

    def __init__(self, query: str) -> None:
        self.stem = Stemmer.Stemmer("english", 0).stemWord
        self.known: dict[str, str] = {}
        self.pages = 0
        self.frequency: Counter[str] = Counter()
        self.query = Counter(self.stems(query))
        self.vector: dict[str, float] = {}
        self.length = 0.0
        self.weigh()

    def stems(self, text: str) -> list[str]:
        known, found = self.known, []
        for token in WORD.findall(text.lower()):
            stem = known.get(token)
            if stem is None:
                stem = known[token] = "" if token in ENGLISH else self.stem(token)
            if stem:
                found.append(stem)
        return found

    def idf(self, term: str) -> float:
        return math.log((self.pages + 1) / (self.frequency[term] + 0.5)) + 1.0

    def learn(self, bag: Iterable[str]) -> None:
        self.pages += 1
        self.frequency.update(bag)
        self.weigh()

    def weigh(self) -> None:
        """Compute the query's vector, once per page."""
        self.vector = {term: count * self.idf(term) for term, count in self.query.items()}
        self.length = math.sqrt(sum(value * value for value in self.vector.values()))

    def cosine(self, bag: Counter[str]) -> float:
        """Return the cosine of a bag of stems and the query."""
        query = self.vector
        if query.keys().isdisjoint(bag):
            return 0.0
        dot = length = 0.0
        for term, count in bag.items():
            value = (1.0 + math.log(count)) * self.idf(term)
            length += value * value
            if term in query:
                dot += value * query[term]
        return dot / (math.sqrt(length) * self.length)


class Loopback(CachingThreadedResolver):
    """Resolver of names below localhost, which RFC 6761 defines as this machine; some systems cannot resolve them."""

    def getHostByName(self, name: str, timeout: Any = None) -> Any:
        if name.endswith(".localhost"):
            return defer.succeed("127.0.0.1")
        return super().getHostByName(name, timeout)


class Focused(scrapy.Spider):
    """Best-first crawl with Scrapy's own priority queue."""

    name = "focused"

    def __init__(self, url: str, pages: int, hosts: str, query: str) -> None:
        super().__init__()
        self.start_urls = [url]
        self.allowed_domains = hosts.split(",")
        self.budget = pages
        self.pages = 0
        self.words = Words(query)
        self.seen: set[str] = set()

    def parse(self, response: Response, **_: Any) -> Iterator[scrapy.Request]:
        if not isinstance(response, HtmlResponse) or self.pages >= self.budget:
            return
        self.pages += 1
        # Straight from the parsed tree: a selector object for every link would cost several times as much.
        words, tree = self.words, response.selector.root
        bag = Counter(words.stems(f"{TITLE(tree)} {' '.join(TEXT(tree))}"))
        page = words.cosine(bag)
        words.learn(bag)
        if self.pages >= self.budget:
            raise CloseSpider("page budget spent")
        best: dict[str, float] = {}
        for link in tree.iter("a"):
            href = link.get("href")
            if href is None:
                continue
            anchor = words.cosine(Counter(words.stems(" ".join(link.itertext()))))
            best[href] = max(best.get(href, 0.0), (page + anchor) / 2)
        for href, score in best.items():
            target = response.urljoin(href).partition("#")[0]
            # A URL is scheduled once, by the first page that links to it, as with Scrapy's own filter.
            if target.startswith("http") and target not in self.seen:
                self.seen.add(target)
                yield scrapy.Request(target, priority=round(1_000_000 * score))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("pages", type=int)
    parser.add_argument("hosts", help="comma-separated")
    parser.add_argument("query")
    given = parser.parse_args()
    process = CrawlerProcess(
        {
            "CONCURRENT_REQUESTS": 32,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
            "DOWNLOAD_DELAY": 0,
            "ROBOTSTXT_OBEY": True,
            "COOKIES_ENABLED": False,
            "RETRY_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "REFERER_ENABLED": False,
            "DNS_RESOLVER": Loopback,
            "LOG_LEVEL": "WARNING",
            "LOGSTATS_INTERVAL": 0,
            "MEMUSAGE_ENABLED": False,
            "USER_AGENT": "scrapy-focused-benchmark",
        }
    )
    crawler = process.create_crawler(Focused)
    process.crawl(crawler, url=given.url, pages=given.pages, hosts=given.hosts, query=given.query)
    process.start()
    spider = crawler.spider
    assert isinstance(spider, Focused)
    print(json.dumps({"pages": spider.pages}))


if __name__ == "__main__":
    main()
