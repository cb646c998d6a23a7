"""A Scrapy crawl of a recorded site."""

import json
import os
import subprocess
import sys
from pathlib import Path

from replay_helpers import http_answer, record, serving, write

SPIDER = """
import json, sys
import scrapy
from scrapy.crawler import CrawlerProcess

class Walker(scrapy.Spider):
    name = "walker"
    start_urls = [sys.argv[1]]

    def parse(self, response):
        found.append((response.url, response.css("h1::text").get()))
        yield from response.follow_all(css="a")

found = []
process = CrawlerProcess({"ROBOTSTXT_OBEY": True, "LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False})
process.crawl(Walker)
process.start()
print(json.dumps(found))
"""


def page(title: str, *links: str) -> bytes:
    anchors = "".join(f'<a href="{link}">x</a>' for link in links)
    return http_answer(f"<h1>{title}</h1>{anchors}".encode())


def test_scrapy_crawls_recorded_site(tmp_path: Path) -> None:
    path = write(
        tmp_path / "site.warc.gz",
        record("http://a.example/robots.txt", http_answer(b"User-agent: *\nDisallow: /secret", kind="text/plain")),
        record("http://a.example/", page("Front", "/reefs", "/secret", "/moved", "/lost")),
        record("http://a.example/reefs", page("Reefs", "https://b.example:8443/corals")),
        record("http://a.example/secret", page("Secret")),
        record("http://a.example/moved", http_answer(b"", status="302 Found", more="Location: /here\r\n")),
        record("http://a.example/here", page("Here", "/")),
        record("https://b.example:8443/corals", page("Corals", "http://a.example/")),
        record("http://a.example/unlinked", page("Unlinked")),
    )
    with serving(tmp_path / "home", path) as proxy:
        environment = {**os.environ, "http_proxy": proxy.address, "https_proxy": proxy.address, "no_proxy": ""}
        ended = subprocess.run(
            [sys.executable, "-c", SPIDER, "http://a.example/"],
            capture_output=True,
            text=True,
            env=environment,
            timeout=240,
            check=False,
        )
    assert "" == ended.stderr
    assert {
        ("http://a.example/", "Front"),
        ("http://a.example/reefs", "Reefs"),
        ("http://a.example/here", "Here"),
        ("https://b.example:8443/corals", "Corals"),
    } == {(url, title) for url, title in json.loads(ended.stdout)}
    assert 1 <= proxy.tally["missing"]
