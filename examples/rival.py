"""A rival for `lycosa lab benchmark` in the style of a Scrapy spider: best-first by anchors and page relevance.

    lycosa lab benchmark --also 'program,command=python examples/rival.py'

Needs only Python. Adapt `Spider.parse`.
"""

import heapq
import json
import sys


class Spider:
    """As in Scrapy: `parse` gets a page and yields requests with a priority."""

    def __init__(self, topic):
        self.words = set(topic.lower().split())

    def parse(self, page):
        for link in page["links"]:
            words = set(link["anchor"].lower().split())
            shared = len(words & self.words) / max(1, len(words))
            yield {"url": link["url"], "priority": (page["relevance"] + shared) / 2}


def send(message):
    print(json.dumps(message), flush=True)  # without flush the benchmark would wait until its timeout


def main():
    spider, queue, seen, fetched = None, [], set(), set()
    for line in sys.stdin:
        event = json.loads(line)
        if event["event"] == "start":
            spider = Spider(event["topic"])
            send({"protocol": 1})
        elif event["event"] == "page":
            fetched.add(event["url"])  # a seed may have been seen as a link before
            for request in spider.parse(event):
                if request["url"] not in (seen | fetched):
                    seen.add(request["url"])
                    heapq.heappush(queue, (-request["priority"], len(seen), request["url"]))
        elif event["event"] == "pick":
            while queue and queue[0][2] in fetched:
                heapq.heappop(queue)
            send({"pick": heapq.heappop(queue)[2] if queue else None})


if __name__ == "__main__":
    main()
