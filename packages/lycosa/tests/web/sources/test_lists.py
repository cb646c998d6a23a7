"""URL lists in plain text and Markdown."""

from __future__ import annotations

from lycosa.web.sources import Source, read_source
from tables import each

HOME = "https://docs.example.org/llms.txt"

LLMS = """# Reef handbook

> Everything about coral reefs, for readers of all kinds.

Some prose with a [link in it](/prose), and more.

## Guides

- [Bleaching](https://docs.example.org/guides/bleaching.md): why corals lose their colour
- [Surveys](guides/surveys.md) - how to count fish
* <https://docs.example.org/guides/bare-address>
1. [Numbered](/guides/numbered "With a title")

## Optional ##

- [Wiki (English)](https://en.example.org/wiki/Reef_(biology)): elsewhere
- [Same page](#guides)
- [Mail](mailto:reefs@example.org)
- ![A picture](/reef.jpg)

[reference]: https://docs.example.org/reference 'Where it comes from'
"""


def read(text: str, url: str = HOME, content_type: str = "text/plain") -> Source | None:
    return read_source(text.encode(), url, content_type)


@each(["text/plain; charset=utf-8", "text/markdown", "text/html"])
def test_read_list_reads_llms_txt(content_type: str) -> None:
    source = read(LLMS, content_type=content_type)
    assert source is not None
    assert ("list", "Reef handbook") == (source.form, source.title)
    assert [
        ("https://docs.example.org/prose", "link in it", "and more."),
        ("https://docs.example.org/guides/bleaching.md", "Bleaching", "Guides why corals lose their colour"),
        ("https://docs.example.org/guides/surveys.md", "Surveys", "Guides how to count fish"),
        ("https://docs.example.org/guides/bare-address", "guides bare address", "Guides"),
        ("https://docs.example.org/guides/numbered", "Numbered", "Guides"),
        ("https://en.example.org/wiki/Reef_(biology)", "Wiki (English)", "Optional elsewhere"),
        ("https://docs.example.org/reference", "reference", "Optional Where it comes from"),
    ] == list(zip(source.links.urls, source.links.anchors, source.links.contexts, strict=True))
    assert {"not a web URL": 1} == dict(source.left_out)


def test_read_list_reads_plain_urls() -> None:
    source = read(
        "\ufeffhttps://a.example/x\r\nhttps://a.example/y\r\n\r\n# more\r\nHTTP://b.example\r\n",
        "https://a.example/s.txt",
    )
    assert source is not None
    assert ["https://a.example/x", "https://a.example/y", "http://b.example/"] == source.links.urls


def test_read_list_takes_title_after_url() -> None:
    source = read(
        "# Mine\n## Reefs\nhttps://a.example/x  Why corals bleach\nhttps://a.example/y\n", "https://a.example/list"
    )
    assert source is not None
    assert (["Why corals bleach", "y"], ["Reefs", "Reefs"]) == (source.links.anchors, source.links.contexts)


@each(
    [
        ("Read [this](/a).\nIt is about reefs.\nAnd about fish.\n", "https://a.example/notes.txt"),
        ("Reefs are large.\n", "https://a.example/llms.txt"),
        ("# Only a heading\n", "https://a.example/readme.md"),
        ("1. one\n2. two\n", "https://a.example/list"),
        ("example.org/reefs\n", "https://a.example/list"),
    ]
)
def test_read_list_rejects_prose(text: str, url: str) -> None:
    assert read(text, url) is None
