import lycosa

NOTES = {"start": "see tides, reefs", "tides": "see moon", "reefs": "coral reefs, see fish", "fish": "reef fish"}


def notes(name: str) -> lycosa.Page:  # a space: returns the page of a node
    return lycosa.Page("ok", marked=NOTES[name], links=lycosa.Links.to(*(n for n in NOTES if n in NOTES[name])))


def about_reefs(page: lycosa.Page) -> bool:  # a judge: is this page relevant?
    return "reef" in page.text


def near_good_pages(link: lycosa.Link) -> float:  # an estimator: how promising is this link?
    return link.source.relevance - 0.1 * link.depth


for visit in lycosa.crawl(about_reefs, ["start"], space=notes, strategy=near_good_pages):
    print(visit.node, visit.relevance)
