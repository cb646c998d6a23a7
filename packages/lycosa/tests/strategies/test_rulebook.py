"""Tests of rule books: counting, chaining and the file format."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from input_errors import raises_input_error
from lycosa.strategies.rulebook import HEADER, Rule, RuleBook
from paper_rules import paper_rules


@pytest.fixture
def paper() -> RuleBook:
    """Return the rules of the paper's table 2."""
    return paper_rules()


@pytest.mark.paper("rules-table-2")
def test_add_counts_table_2(paper: RuleBook) -> None:
    """Ten pages per class give the rules of table 2."""
    assert {
        ("DH", "CH"): 0.8, ("DH", "PH"): 0.1, ("DH", "SP"): 0.1,
        ("CH", "DH"): 0.2, ("CH", "CH"): 0.4, ("CH", "PH"): 0.4,
        ("PH", "DH"): 0.3, ("PH", "CH"): 0.4, ("PH", "PH"): 0.3,
        ("SP", "SP"): 1.0,
    } == {(rule.source, rule.to): rule.probability for rule in paper}  # fmt: skip


def test_chain_one_link_figure_3(paper: RuleBook) -> None:
    """At depth 1 each class has its direct rule: PH .3 (the seed's links), CH .4 (URL 5), DH .1; SP has no path."""
    assert {"DH": 0.1, "CH": 0.4, "PH": 0.3} == paper.chain({"PH"}, depth=1)


@pytest.mark.paper("rules-chaining", "rules-figure-5")
def test_chain_two_links_figure_5(paper: RuleBook) -> None:
    """Depth 2 adds paths: DH .1 + .8 * .4 = .42, CH .4 + .2 * .1 = .42; PH has only its loop, .3; SP has no path."""
    chances = paper.chain({"PH"}, depth=2)
    assert {"DH": 0.42, "CH": 0.42, "PH": 0.3} == {name: pytest.approx(value) for name, value in chances.items()}
    assert "SP" not in chances


@pytest.mark.paper("rules-merging")
def test_chain_max_takes_best_path(paper: RuleBook) -> None:
    """With merge=max the best path counts: .8 * .4 = .32 for DH, the direct rule .4 for CH."""
    chances = paper.chain({"PH"}, depth=2, paths="max")
    assert (pytest.approx(0.32), pytest.approx(0.4)) == (chances["DH"], chances["CH"])


@pytest.mark.paper("rules-cycle-free")
def test_chain_three_links_excludes_cycles(paper: RuleBook) -> None:
    """Depth 3 adds nothing, as DH -> CH -> DH -> PH and CH -> CH -> ... repeat a class."""
    assert paper.chain({"PH"}, depth=2) == paper.chain({"PH"}, depth=3)


@pytest.mark.paper("rules-max-depth")
def test_chain_multiplies_three_links_in_a_row() -> None:
    """A -> B -> C -> T needs depth 3: .5 * .4 * .3 = .06; at depth 2 it has no path."""
    book = RuleBook()
    for source, to, good in (("A", "B", 5), ("B", "C", 4), ("C", "T", 3)):
        book.add(source, to, good)
        book.add(source, "X", 10 - good)
    assert pytest.approx(0.5 * 0.4 * 0.3) == book.chain({"T"}, depth=3)["A"]
    assert "A" not in book.chain({"T"}, depth=2)


def test_chain_rejects_too_many_paths() -> None:
    """With 150 classes that all link to each other, depth 3 works, and depth 4 is rejected."""
    book, names = RuleBook(), [f"C{number}" for number in range(150)]
    for source in names:
        for to in names:
            book.add(source, to)
    assert 149 + 1 == len(book.chain({"C0"}, depth=3))
    with raises_input_error("too-large", match="depth=3"):
        book.chain({"C0"}, depth=4)


def test_chain_merges_several_targets(paper: RuleBook) -> None:
    """For the targets CH and PH, DH has .8 + .1 = .9; both targets have (4 + 4 + 4 + 3) of 20 links, .75."""
    chances = paper.chain({"CH", "PH"}, depth=1)
    assert {"DH": pytest.approx(0.9), "CH": 0.75, "PH": 0.75} == chances


def test_members_include_classes_below() -> None:
    book = RuleBook()
    book.add("Science/Physics", "Science")
    book.add("Sciences", "Art")
    assert {"Science", "Science/Physics"} == book.members(["Science"])


classes = st.sampled_from("ABCDE")
counts = st.dictionaries(st.tuples(classes, classes), st.integers(1, 50), min_size=1)


def book_of(counted: dict[tuple[str, str], int]) -> RuleBook:
    book = RuleBook()
    for (source, to), count in counted.items():
        book.add(source, to, count)
    return book


@settings(max_examples=40)
@given(counts)
def test_probabilities_of_class_sum_to_1(counted: dict[tuple[str, str], int]) -> None:
    sums: dict[str, float] = {}
    for rule in book_of(counted):
        sums[rule.source] = sums.get(rule.source, 0.0) + rule.probability
    assert all(abs(total - 1) < 1e-9 for total in sums.values())


@settings(max_examples=60)
@given(counts, st.sets(classes, min_size=1, max_size=2), st.integers(1, 4), st.sampled_from(["sum", "max"]))
def test_chain_equals_sum_over_all_paths(
    counted: dict[tuple[str, str], int], wanted: set[str], depth: int, paths: str
) -> None:
    book = book_of(counted)
    p = {(rule.source, rule.to): rule.probability for rule in book}
    merged = {
        source: sum(p.get((source, target), 0.0) for target in wanted) for source in "ABCDE" if source not in wanted
    }
    expected = {}
    for source in merged:
        others = [name for name in merged if name != source]
        products = []
        for length in range(depth):
            for way in itertools.permutations(others, length):
                product = 1.0
                for a, b in itertools.pairwise([source, *way]):
                    product *= p.get((a, b), 0.0)
                products.append(product * merged[[source, *way][-1]])
        products = [product for product in products if product]
        if products:
            expected[source] = sum(products) if paths == "sum" else max(products)
    actual = book.chain(wanted, depth, paths)  # type: ignore[arg-type]
    assert {name: pytest.approx(value) for name, value in expected.items()} == {
        name: value for name, value in actual.items() if name not in wanted
    }


@settings(max_examples=40)
@given(counts)
def test_save_and_load_round_trip(
    tmp_path_factory: pytest.TempPathFactory, counted: dict[tuple[str, str], int]
) -> None:
    path = tmp_path_factory.mktemp("rules") / "rules.tsv"
    book = book_of(counted)
    book.save(path)
    loaded = list(RuleBook.load(path))
    assert [(r.source, r.to) for r in book] == [(r.source, r.to) for r in loaded]
    assert [pytest.approx(r.probability, abs=1e-8) for r in book] == [r.probability for r in loaded]


def test_load_uses_edited_probability(tmp_path: Path, paper: RuleBook) -> None:
    """An edited probability, .9 instead of .1, is not overridden by counts."""
    path = tmp_path / "rules.tsv"
    paper.save(path)
    path.write_text(path.read_text().replace("DH\tCH\t0.8", "DH\tCH\t0.05").replace("DH\tPH\t0.1", "DH\tPH\t0.85"))
    assert {"CH": 0.05, "PH": 0.85} == {
        rule.to: pytest.approx(rule.probability)
        for rule in RuleBook.load(path)
        if rule.source == "DH" and rule.to != "SP"
    }


def test_load_with_removed_rule_keeps_others(tmp_path: Path, paper: RuleBook) -> None:
    """Without DH -> CH, DH -> PH is still .1."""
    path = tmp_path / "rules.tsv"
    paper.save(path)
    path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith("DH\tCH")))
    assert pytest.approx(0.1) == RuleBook.load(path).probability("DH", "PH")


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("", "bad-file", "first line"),
        ("A\tB\t1\t1\n", "bad-file", "first line"),
        (f"{HEADER}\n", "empty-file", "rules.tsv"),
        (f"{HEADER[:-1]}7\nA\tB\t1\t1\n", "bad-version", "version 7"),
        (f"{HEADER}\nA B 1\n", "bad-file", "line 2"),
        (f"{HEADER}\nA\tB\tmany\t1\n", "out-of-range", "line 2"),
        (f"{HEADER}\nA\tB\tnan\t1\n", "out-of-range", "line 2"),
        (f"{HEADER}\n\x1b[31mA\tB\t.5\t1\n", "bad-value", "line 2"),
        (f"{HEADER}\nA\tB\t1.5\t1\n", "out-of-range", "line 2"),
        (f"{HEADER}\nA\tB\t.5\tinf\n", "out-of-range", "line 2"),
        (f"{HEADER}\nA\tB\t1\t1e308\nA\tC\t0\t1e308\n", "out-of-range", "line 2"),
        (f"{HEADER}\nA\tB\t.6\t1\nA\tC\t.6\t1\n", "out-of-range", "A add up to 1.2"),
        (f"{HEADER}\nA\tB\t.5\t1\nA\tB\t.5\t1\n", "duplicate", "A -> B"),
    ],
)
def test_load_names_line_and_reason(tmp_path: Path, text: str, code: str, place: str) -> None:
    path = tmp_path / "rules.tsv"
    path.write_text(text)
    with raises_input_error(code, match=place):
        RuleBook.load(path)


def test_load_rejects_missing_and_binary_files(tmp_path: Path) -> None:
    with raises_input_error("unreadable-file"):
        RuleBook.load(tmp_path / "none.tsv")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with raises_input_error("bad-encoding"):
        RuleBook.load(tmp_path / "binary")
    with raises_input_error("unreadable-file", match="pipe or a device"):
        RuleBook.load(Path("/dev/zero"))


def test_rule_as_text_has_classes_and_probability() -> None:
    assert "DH -> CH (0.8)" == str(Rule("DH", "CH", 0.8, 8))
