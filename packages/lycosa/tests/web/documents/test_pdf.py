"""PDF files."""

from document_files import files
from lycosa.web.parse_process import WorkerPool


def test_running_lines_are_not_of_the_main_part(readers: WorkerPool) -> None:
    """What stands at the top of all pages is text, but nobody came for it; large letters are headings."""
    [file] = [file for name, file in files() if name == "running.pdf"]
    document = readers.run("page", file.body, "http://a.test/a.pdf", "")
    assert ("Journal of Reefs" in document.text, "Journal" in document.main, "Page 3" in document.main) == (
        True,
        False,
        False,
    )
    assert ["Chapter A", "Chapter B"] == document.headings.split("\n")[:2]
