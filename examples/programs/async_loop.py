import asyncio

import lycosa


async def first_relevant(topic: str, wanted: int) -> list[str]:
    found: list[str] = []
    seeds = ["http://open-directory.localhost:8123/"]
    async with lycosa.crawl(topic, seeds, budget=100, delay=0.01, allow_network="127.0.0.0/8") as crawl:
        async for visit in crawl:
            found += [visit.url] if visit.is_page and visit.relevance > 0.2 else []
            if len(found) >= wanted:
                crawl.stop()  # visits in flight still arrive
    return found


print(asyncio.run(first_relevant("coral reef bleaching", wanted=3)))
