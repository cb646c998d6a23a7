"""PDF files."""

from document_files import files
from lycosa.web.parse_process import WorkerPool


def test_read_pdf_excludes_page_headers_from_main_part(pool: WorkerPool) -> None:
    [file] = [file for name, file in files() if name == "running.pdf"]
    document = pool.run("page", file.body, "http://a.test/a.pdf", "")
    assert ("Journal of Reefs" in document.text, "Journal" in document.main, "Page 3" in document.main) == (
        True,
        False,
        False,
    )
    assert ["Chapter A", "Chapter B"] == document.headings.split("\n")[:2]
