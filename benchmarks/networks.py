"""Gossip and message routing on random networks: nodes contacted until the target is found, with and without estimates.

Gossip: 1,000 peers on a ring ordered by interest, each linked to its six nearest, with a tenth of the links rewired at
random (Watts, Strogatz 1998). One peer searches for coral reefs, and a tenth of the peers may be contacted. Measured is
the share of the peers with matching documents that are found.

Messages: 2,500 people on a grid. Each knows the four neighbours and one distant person, with probability proportional
to the inverse squared distance (Kleinberg 2000). One sends a message to another. Measured are the people who hold the
message until it arrives, and the length of its path.

    python benchmarks/networks.py [--seeds 1,2,3,4,5]
"""

from __future__ import annotations

import argparse
from random import Random
from statistics import mean, stdev

import lycosa
from lycosa.judges.space_judge import SpaceJudge
from lycosa.spaces.acquaintance import AcquaintanceSpace, Trait
from lycosa.spaces.gossip import GossipSpace
from lycosa.testweb.prose import TOPICS, by_name, paragraphs, query, title

TOPIC = "marine biology/coral reefs"
PEERS, NEAR, FAR, DOCUMENTS = 1000, 3, 0.1, 5
SIDE = 50


def ring(peers: int, near: int, far: float, chance: Random) -> dict[str, list[str]]:
    """Return a small-world network: a ring lattice with some links rewired at random."""
    links: dict[int, set[int]] = {peer: set() for peer in range(peers)}
    for peer in range(peers):
        for step in range(1, near + 1):
            other = chance.randrange(peers) if chance.random() < far else (peer + step) % peers
            if other != peer:
                links[peer].add(other)
                links[other].add(peer)
    return {f"peer {peer}": [f"peer {other}" for other in sorted(others)] for peer, others in links.items()}


def gossip(seed: int, strategy: str, known: float, stale: float, peers: int = PEERS) -> float:
    """Return the share of the peers with matching documents found after contacting a tenth of all."""
    chance = Random(seed)
    overlay = ring(peers, NEAR, FAR, chance)
    topics = [peer * len(TOPICS) // peers for peer in range(peers)]  # neighbours share an interest
    documents, wanted = {}, set()
    for peer in range(peers):
        texts = []
        for number in range(DOCUMENTS):
            topic = topics[peer] if chance.random() < 0.7 else chance.randrange(len(TOPICS))
            texts.append(f"{title(topic, seed, peer, number)}\n{' '.join(paragraphs(chance, topic, 60))}")
            if topic == by_name(TOPIC):
                wanted.add(f"peer {peer}")
        documents[f"peer {peer}"] = texts
    space = GossipSpace(overlay, documents, known=known, stale=stale, seed=seed)
    start = f"peer {chance.randrange(peers)}"
    crawl = lycosa.crawl(
        query(by_name(TOPIC)), [start], space=space, strategy=strategy, budget=peers // 10, concurrency=1,
        random_seed=seed, judge="vector",
    )  # fmt: skip
    return len(wanted.intersection(visit.node for visit in crawl)) / len(wanted)


def grid(side: int, chance: Random) -> dict[str, list[str]]:
    """Return a grid with a distant link per node, with probability proportional to the inverse squared distance.

    There are four times d places at distance d, so the distance is drawn with probability proportional to 1/d, then the
    place, both again if it is off the grid.
    """
    distances = range(1, 2 * side - 1)
    links = {}
    for x in range(side):
        for y in range(side):
            near = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
            far = (-1, -1)
            while not (0 <= far[0] < side and 0 <= far[1] < side):
                distance = chance.choices(distances, [1.0 / d for d in distances])[0]
                across = chance.randint(-distance, distance)
                up = (distance - abs(across)) * chance.choice((-1, 1))
                far = (x + across, y + up)
            known = [place for place in near if 0 <= place[0] < side and 0 <= place[1] < side] + [far]
            links[f"{x},{y}"] = [f"{a},{b}" for a, b in dict.fromkeys(known)]
    return links


def message(seed: int, strategy: str, misjudged: float, side: int = SIDE) -> tuple[int, int]:
    """Return the number of people who hold a message until it arrives, and the length of its path."""
    chance = Random(seed)
    links = grid(side, chance)
    sender, receiver = chance.sample(sorted(links), 2)
    traits: dict[str, dict[str, Trait]] = {
        name: {"place": tuple(float(part) for part in name.split(","))} for name in links
    }
    space = AcquaintanceSpace(links, traits, receiver, misjudged=misjudged, seed=seed)
    held = 0
    crawl = lycosa.crawl(
        SpaceJudge(), [sender], space=space, strategy=strategy, budget=len(links), concurrency=1, random_seed=seed
    )
    for visit in crawl:
        held += 1
        if visit.relevance:
            break
    assert crawl.engine is not None
    table = crawl.engine.table
    return held, int(table.depth[table.row_of[receiver]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="1,2,3,4,5")
    seeds = [int(seed) for seed in parser.parse_args().seeds.split(",")]
    print("| gossip | caches | relevant peers found, % |\n|---|---|---|")
    for strategy, known, stale in (
        ("breadth-first", 1.0, 0.0), ("random", 1.0, 0.0),
        ("best-first", 1.0, 0.0), ("best-first", 0.5, 0.1), ("best-first", 0.2, 0.5), ("best-first", 0.0, 0.0),
    ):  # fmt: skip
        shares = [100 * gossip(seed, strategy, known, stale) for seed in seeds]
        caches = f"{known:.0%} known, {stale:.0%} of it stale" if strategy == "best-first" else "-"
        print(f"| {strategy} | {caches} | {mean(shares):.1f} ± {stdev(shares):.1f} |", flush=True)
    print("\n| message | misjudged by up to | people | hands |\n|---|---|---|---|")
    for strategy, misjudged in (("breadth-first", 0.0), ("best-first-anchor", 0.0), ("best-first-anchor", 0.05)):
        runs = [message(seed, strategy, misjudged) for seed in seeds]
        held, hands = zip(*runs, strict=True)
        error = f"{misjudged:g}" if strategy != "breadth-first" else "-"
        cells = f"{mean(held):.0f} ± {stdev(held):.0f} | {mean(hands):.1f} ± {stdev(hands):.1f}"
        print(f"| {strategy} | {error} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
