"""`lycosa sql`."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from commands import Command
from revisited_crawl import html, revisited

A, B, C = "http://a.test/", "http://b.test/=1", "http://c.test/"
QUESTIONS = re.findall(
    r"```sql\n(.*?)```", (Path(__file__).parents[4] / "docs/schema.md").read_text("utf-8"), re.DOTALL
)


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    with revisited(tmp_path / "crawl") as crawl:
        crawl.seed(A)
        crawl.page(A, html("Reefs", "Corals grow on reefs."), links=[B, C])
        crawl.page(B, html("=1+1", "Corals bleach."), 1.0, parent=A, anchor="bleaching", depth=1)
        crawl.page(C, html("Trains", "Trains run."), 2.0, parent=A, anchor="trains", depth=1, relevance=0.1)
        crawl.changed(B, html("Bleaching", "Corals bleach in warm water."), 3.0)
        crawl.gone(C, 4.0)
    return tmp_path / "crawl"


def test_query_prints_table_csv_and_json(crawl: Path, command: Command) -> None:
    query = "SELECT url, title, relevance, anchor FROM relevant_pages ORDER BY url"
    table = command.out("sql", crawl, query)
    assert "Bleaching" in table
    assert "2 rows" in table
    rows = list(csv.reader(io.StringIO(command.out("sql", crawl, query, "--csv"))))
    assert [["url", "title", "relevance", "anchor"], [A, "Reefs", "0.5", ""]] == rows[:2]
    assert {"url": B, "title": "Bleaching", "relevance": 0.5, "anchor": "bleaching"} == command.json(
        "sql", crawl, query
    )[1]


def test_without_query_lists_views_and_tables(crawl: Path, command: Command) -> None:
    tables = command.json("sql", crawl)
    assert ["pages", "relevant_pages", "requests", "hosts", "visit"] == list(tables)[:5]
    assert "anchor" in tables["pages"]
    assert "relevant_pages" in command.out("sql", crawl)


def test_links_and_terms_of_visit(crawl: Path, command: Command) -> None:
    query = f"SELECT links(seq) AS links, terms(seq) AS terms FROM pages WHERE url = '{A}'"
    [row] = command.json("sql", crawl, query)
    assert '[{"url": "http://b.test/=1", "anchor": "to http://b.test/=1", "relevance": 0.5}' == row["links"][:79]
    assert '"coral": 1' in row["terms"]
    counted = f"SELECT value FROM pages, json_each(terms(seq)) WHERE url = '{A}' AND key = 'reef'"
    assert [{"value": 3}] == command.json("sql", crawl, counted)


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM visit",
        "UPDATE score SET relevance_now = 1",
        "ATTACH '/tmp/other.sqlite' AS other",
        "PRAGMA query_only = 0",
        "CREATE TABLE mine (x)",
        "SELECT load_extension('x')",
        "SELECT writefile('/tmp/x', 'y')",
    ],
)
def test_nothing_can_be_changed(crawl: Path, command: Command, query: str) -> None:
    before = (crawl / "crawl.sqlite").read_bytes()
    said = command("sql", crawl, query)
    assert 2 == said.code
    assert "lycosa sql DIR" in said.err
    assert before == (crawl / "crawl.sqlite").read_bytes()


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("SELECT nope FROM visit", "no such column: nope"),
        ("SELECT 1; SELECT 2", "one statement at a time"),
        ("SELEKT", "syntax error"),
    ],
)
def test_wrong_query_is_explained_in_one_line(crawl: Path, command: Command, query: str, error: str) -> None:
    said = command("sql", crawl, query)
    assert (2, "") == (said.code, said.out)
    assert error in said.err
    assert 1 == said.err.count("\n")


def test_spreadsheet_runs_no_text(crawl: Path, command: Command) -> None:
    out = command.out("sql", crawl, "SELECT title FROM visit WHERE title LIKE '=%'", "--csv")
    assert "'=1+1" in out


@pytest.mark.parametrize("question", QUESTIONS, ids=range(1, 1 + len(QUESTIONS)))
def test_question_of_documentation_has_answers(crawl: Path, command: Command, question: str) -> None:
    assert isinstance(command.json("sql", crawl, question), list)


def test_documentation_answers_ten_questions(crawl: Path, command: Command) -> None:
    assert 10 == len(QUESTIONS)
    answers = [command.json("sql", crawl, question) for question in QUESTIONS]
    assert [{"host": "a.test", "relevant_pages": 1, "requests": 1, "yield": 1.0}] == answers[0][:1]
    assert [{"parent": A, "relevant_pages": 1}] == answers[2]
    assert [{"text": "bleaching", "pages": 1, "relevant": 1}] == answers[3]
    assert [{"after_pages": 0, "relevant": 2}] == answers[4]
    assert [C] == [row["url"] for row in answers[5]]
    assert ["c.test", "gone", 404] == [*answers[6][0].values()][:3]
    assert {"stem": "coral", "pages": 2} in answers[7]
    assert [] == answers[8]
    assert [(C, "vanished", 1), (B, "stands", 2)] == sorted(
        ((row["url"], row["state"], row["versions"]) for row in answers[9]), reverse=True
    )


def test_hostile_names_and_texts_are_printed_plainly(crawl: Path, command: Command) -> None:
    query = "SELECT '[/x]' AS '[/x]', char(27) || ']0;owned' || char(7) AS '=cmd()', 1794514000.5 AS at"
    assert "[/x]" in command.out("sql", crawl, query)
    printed = command.out("sql", crawl, query) + command.out("sql", crawl, query, "--csv")
    assert "\x1b" not in printed
    assert "'=cmd()" in printed
    assert "1794514000.500" in printed


def test_columns_of_same_name_are_refused_as_json(crawl: Path, command: Command) -> None:
    said = command("sql", crawl, "SELECT 1 AS a, 2 AS a", "--json")
    assert (2, True) == (said.code, "rename one with AS" in said.err)
