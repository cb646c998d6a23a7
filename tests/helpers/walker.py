"""A plain Scrapy project: a spider that follows every link, turned into a focused crawler by five settings.

    python walker.py SETTINGS URL ...

SETTINGS is JSON. Fetched URLs are printed as they arrive, one per line, followed by the stats.
"""

import json
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response
from scrapy.resolver import CachingThreadedResolver
from twisted.internet import defer


class Loopback(CachingThreadedResolver):
    """Resolver of names below localhost (RFC 6761), which some systems lack."""

    def getHostByName(self, name: str, timeout: Any = None) -> Any:
        if name.endswith(".localhost"):
            return defer.succeed("127.0.0.1")
        return super().getHostByName(name, timeout)


class Walker(scrapy.Spider):
    name = "walker"

    def parse(self, response: Response) -> Iterator[Any]:
        print(response.url, flush=True)
        yield {"url": response.url}
        yield from response.follow_all(css="a")


class Odd(scrapy.Spider):
    """Spider that sends requests of every kind and prints the responses."""

    name = "odd"

    async def start(self) -> AsyncIterator[Any]:
        base = self.settings["BASE"]
        yield scrapy.Request(f"{base}/start", self.begin)

    async def begin(self, response: Response) -> AsyncIterator[Any]:
        base = self.settings["BASE"]
        print("begin", flush=True)
        yield scrapy.Request(
            f"{base}/echo?b=2&a=1", self.echo, method="POST", body=b"\x00body", headers={"X-Odd": "yes"},
            cookies={"c": "1"}, meta={"pair": (1, {"x"}), "n": 2**70}, cb_kwargs={"more": "told"}, flags=["f"],
        )  # fmt: skip
        yield scrapy.http.JsonRequest(f"{base}/echo?json", self.echo, data={"a": [1]}, cb_kwargs={"more": "json"})
        yield scrapy.Request(f"{base}/again", self.again, dont_filter=True)
        yield scrapy.Request(f"{base}/again", self.again, dont_filter=True)
        yield scrapy.Request(f"{base}/again", self.again)  # filtered as a duplicate
        yield scrapy.Request(f"{base}/moved", self.again, meta={"of": "moved"})
        yield scrapy.Request(f"{base}/dead", self.again, errback=self.failed)
        yield scrapy.Request(f"{base}/flaky", self.again)
        yield scrapy.Request(f"{base}/low", self.again, priority=-3)
        yield scrapy.Request(f"{base}/high", self.again, priority=7)
        yield scrapy.Request(f"{base}/lambda", lambda answer: self.again(answer))
        if self.settings.getbool("DIE"):
            self.crawler.signals.connect(self.die, scrapy.signals.request_left_downloader)

    def die(self, request: scrapy.Request) -> None:
        """Kill this process after the first page is recorded, while the next one is being fetched."""
        import os
        import signal

        os.kill(os.getpid(), signal.SIGKILL)

    def echo(self, response: Response, more: str) -> None:
        meta = {key: repr(response.meta.get(key)) for key in ("pair", "n")}
        print("echo", json.dumps([more, response.text, meta, response.request.flags if response.request else []]))

    def again(self, response: Response) -> None:
        print("got", response.url.rpartition("/")[2], response.meta.get("of", ""), flush=True)

    def failed(self, failure: Any) -> Iterator[Any]:
        print("failed", flush=True)
        yield scrapy.Request(f"{self.settings['BASE']}/instead", self.again)


class Told(scrapy.Spider):
    """Spider that sets relevance and link relevance itself."""

    name = "told"

    def parse(self, response: Response) -> Iterator[Any]:
        print(response.url, flush=True)
        good = "reef" in response.url
        yield {"url": response.url, "relevance": good}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, meta={"relevance": 0.9 if "reef" in link else 0.1})


SPIDERS = {spider.name: spider for spider in (Walker, Odd, Told)}


def main() -> None:
    given = json.loads(sys.argv[1])
    settings = {
        "TELNETCONSOLE_ENABLED": False, "LOG_LEVEL": "ERROR", "LOGSTATS_INTERVAL": 0, "TWISTED_DNS_RESOLVER": Loopback,
        "MEMUSAGE_ENABLED": False, "DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS_PER_DOMAIN": 8, **given,
    }  # fmt: skip
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(SPIDERS[given.get("SPIDER", "walker")])
    process.crawl(crawler, start_urls=sys.argv[2:])
    process.start()
    stats = crawler.stats.get_stats() if crawler.stats is not None else {}
    print(json.dumps({key: value for key, value in stats.items() if isinstance(value, int | float | str)}))


if __name__ == "__main__":
    main()
