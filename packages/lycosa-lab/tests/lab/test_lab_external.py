"""Programs in any language as strategies: those that play, and those that break, fall silent or cheat."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import sleep

import numpy as np
import pytest

from lycosa.core.errors import InputError
from lycosa.core.spec import spell
from lycosa.strategies import strategy
from lycosa_lab import external
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.experiment_runner import run
from lycosa_lab.experiments import Experiment
from lycosa_lab.external import ExternalStrategy
from lycosa_lab.judgements import Judgements
from lycosa_lab.simulation import Trace, simulate
from lycosa_lab.subjects import HuntSubject
from places import ROOT

EXAMPLES = ROOT / "examples"
LINKS = {"a": ["b", "c"], "b": ["d", "a"], "c": ["e", "d"], "d": ["f"], "e": ["g"], "f": [], "g": ["b"]}
GRAPH = CorpusIndex.of(LINKS, score={"c": 1.0, "e": 0.5}, alpha={("a", "c"): 1.0})


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has to wait long for who says nothing."""
    monkeypatch.setattr(external, "ANSWERING", 0.3)


def hunt(command: str, budget: int = 20, index: CorpusIndex = GRAPH) -> tuple[Trace, ExternalStrategy]:
    """A crawl from node a."""
    program = ExternalStrategy(command, budget=budget, words="reef")
    trace = simulate(Judgements.given(index), program, [0], budget)
    program.close()
    return trace, program


def names(trace: Trace) -> str:
    """What was fetched."""
    return "".join(GRAPH.names[node] for node in trace.nodes)


def shell(script: str) -> str:
    """A shell that says it speaks the protocol, and then does something else."""
    hello = (
        """read -r start; echo '{"protocol":1}'; while read -r line; do case $line in *pick*) break;; esac; done; """
    )
    return shlex.join(["bash", "-c", hello + script])


def test_a_rival_in_another_language_plays() -> None:
    """The shell's breadth-first fetches what ours does, page by page, and leaves nothing behind."""
    chance = np.random.default_rng(3)
    nodes = [f"http://n{number}.example/?a=b&c={number}" for number in range(60)]
    index = CorpusIndex.of({name: [nodes[to] for to in chance.integers(0, 60, 5)] for name in nodes})
    trace, program = hunt(f"bash {EXAMPLES / 'rival.sh'}", 40, index)
    ours = simulate(Judgements.given(index), strategy("breadth-first"), [0], 40)
    assert ours.nodes.tolist() == trace.nodes.tolist()
    assert program.ending == ""
    assert program.seconds > 0.0


def test_the_example_in_the_style_of_a_spider_plays() -> None:
    """Links of pages that were relevant come before others; when it has no more it gives up."""
    trace, program = hunt(f"{sys.executable} {EXAMPLES / 'rival.py'}")
    assert "abcegdf" == names(trace)  # c is worth 1, so e has .5, and g, by e's .5, .25; d and f have 0
    assert program.ending == ""
    assert len((EXAMPLES / "rival.py").read_text().splitlines()) <= 55


@pytest.mark.parametrize("command", [f"bash {EXAMPLES / 'rival.sh'}", f"{sys.executable} {EXAMPLES / 'rival.py'}"])
def test_a_seed_that_another_seed_links_to_is_not_picked(command: str) -> None:
    """It is shown as a link before it is fetched."""
    program = ExternalStrategy(command, budget=20, words="reef")
    trace = simulate(Judgements.given(GRAPH), program, [0, 1, 2], 20)
    program.close()
    assert ("", 7) == (program.ending if program.ending != "gave up" else "", len(trace.nodes))


def children() -> set[str]:
    """Processes that this one would have to wait for, ended ones among them."""
    return {pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()}


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (shell("kill -9 $$"), "it was killed by signal 9"),
        (shell("echo so tired >&2; exit 3"), "it ended with exit code 3: 'so tired'"),
        (shell("echo hello; sleep 9"), "it wrote 'hello', which is not JSON"),
        (shell("printf '[1]\\n'; sleep 9"), "it wrote '[1]', which is not a JSON object"),
        (shell("printf '\\377\\0\\n'; sleep 9"), "which is not JSON"),
        (shell("""echo '{"choice":"b"}'; sleep 9"""), "it was asked for a pick and said '{\"choice\": \"b\"}'"),
        (shell("""echo '{"pick":"nowhere"}'; sleep 9"""), "it picked 'nowhere', which is not a link that it was shown"),
        (shell("""echo '{"pick":"g"}'; sleep 9"""), "it picked 'g', which is not a link that it was shown"),
        (shell("""echo '{"pick":["b"]}'; sleep 9"""), "it picked '[\"b\"]', which is not a link"),
        (shell("""echo '{"pick":"a"}'; sleep 9"""), "it picked 'a' a second time"),
        (shell("head -c 80000 /dev/zero; sleep 9"), "it wrote a line of more than 65,536 bytes"),
        (shell("yes no | head -c 200000 | tr -d '\\n'; sleep 9"), "it wrote a line of more than 65,536 bytes"),
        ("true", "it ended with exit code 0"),
        ("""bash -c 'read -r l; echo "{\\"protocol\\":7}"; sleep 9'""", "it speaks protocol '7', not 1"),
        ("""bash -c 'read -r l; echo "{\\"protocol\\":1,\\"wants\\":[7]}"; sleep 9'""", "it wants '[7]': there is"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_said_and_costs_the_trial(command: str, reason: str) -> None:
    """The crawl ends there with what it has, the reason is one line, and no process is left."""
    before = children()
    trace, program = hunt(command)
    assert "a" == names(trace)
    assert program.ending.startswith("forfeited: ")
    assert reason in program.ending
    assert "\n" not in program.ending
    assert children() <= before


@pytest.mark.usefixtures("hasty")
def test_silence_is_not_waited_for_long() -> None:
    """A program that reads and says nothing; it is ended, too."""
    before = children()
    trace, program = hunt(shell("sleep 60"))
    assert ("a", "forfeited: it said nothing for 0.3 seconds") == (names(trace), program.ending)
    assert children() <= before


def test_what_was_found_before_counts() -> None:
    """Two good picks, then a wrong one."""
    picks = "".join(
        f"""echo '{{"pick":"{url}"}}'; while read -r line; do case $line in *pick*) break;; esac; done; """
        for url in ("c", "e")
    )
    trace, program = hunt(shell(picks + """echo '{"pick":"e"}'; sleep 9"""))
    assert "ace" == names(trace)
    assert "it picked 'e' a second time" in program.ending


@pytest.mark.usefixtures("hasty")
def test_who_does_not_read_is_not_waited_for() -> None:
    """A page that does not fit into the pipe, and a program that reads nothing after the start."""
    large = CorpusIndex.of({"a": [f"http://a.example/{number}/{'x' * 200}" for number in range(2000)]})
    _, program = hunt("""bash -c 'read -r l; echo "{\\"protocol\\":1}"; sleep 9'""", 5, large)
    assert "it does not read what it is told" in program.ending


def test_what_it_has_started_ends_with_it(tmp_path: Path) -> None:
    """A program that leaves another one running."""
    left = tmp_path / "left"
    hunt(shell(f"sleep 60 <&- >&- 2>&- & echo $! > {left}; exit 1"))
    stat = Path(f"/proc/{left.read_text().strip()}/stat")
    for _ in range(500):  # killed it is, but a busy machine may take a moment to see to it
        with suppress(FileNotFoundError, ProcessLookupError):
            if stat.read_text().split()[2] not in "ZX":
                sleep(0.01)
                continue
        return
    pytest.fail("it is still running")


def test_giving_up_is_no_forfeit() -> None:
    """Null means that nothing more is wanted."""
    trace, program = hunt(shell("""echo '{"pick":null}'; read -r line; exit 0"""))
    assert ("a", "gave up") == (names(trace), program.ending)


def test_what_it_is_told(tmp_path: Path) -> None:
    """The lines, key by key, as documented."""
    said = tmp_path / "said"
    script = f"""while IFS= read -r l; do printf '%s\\n' "$l" >> {said}; case $l in
        *'"start"'*) echo '{{"protocol":1,"wants":["context"]}}';; *'"pick"'*) echo '{{"pick":null}}';; esac; done"""
    hunt(shlex.join(["bash", "-c", script]))
    start, page, pick, end = said.read_text().splitlines()
    assert start == '{"event":"start","protocol":1,"topic":"reef","examples":0,"budget":20,"random_seed":0}'
    assert page.startswith('{"event":"page","url":"a","seed":true,"relevance":0.0,"title":"","links":[{"url":"b",')
    assert {"url": "b", "anchor": "", "context": ""} == json.loads(page)["links"][0]
    assert pick == '{"event":"pick","number":2}'
    assert json.loads(end) == {"event": "end", "reason": "gave up"}


def test_a_command_that_is_none() -> None:
    """Nothing is started, and it is said which."""
    with pytest.raises(InputError, match="there is no program '/no/such/program'"):
        hunt("/no/such/program")


def test_an_experiment_goes_on_without_it(tmp_path: Path) -> None:
    """A program that forfeits keeps what it found; it is told; the next call tries again, and others are as ever."""
    flag = tmp_path / "works"
    script = tmp_path / "rival.sh"
    script.write_text(f"test -e {flag} || exit 7\nexec bash {EXAMPLES / 'rival.sh'}\n")
    text = spell("program", {"command": f"bash {script}"})
    plan = Experiment("x", "", ["breadth-first", text], budgets=[5], seed_sets=1, seeds="random", seed_count=1,
                      told="score", mode="as-published")  # fmt: skip
    subject = HuntSubject("scores", GRAPH.score, truth_by="scores of the graph")
    before = run(plan, tmp_path / "out", index=GRAPH, subjects=[subject], workers=1)
    assert any(
        line.startswith(f"Forfeited: bash {script} in 1 of 1 trials") and "exit code 7" in line
        for line in before.remarks
    )
    assert not before.failed
    flag.touch()
    after = run(plan, tmp_path / "out", index=GRAPH, subjects=[subject], workers=1)
    assert not any(line.startswith("Forfeited") for line in after.remarks)
    ours, theirs = (after.select(one)[0].trace.nodes.tolist() for one in plan.strategies)
    assert ours == theirs


def test_an_answer_that_can_just_be_read_is_shown() -> None:
    """Lists within lists, as deep as the reader takes them: no error of ours."""
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert "something too deep" in external.shown(deep)


def test_it_ends_with_the_process_that_started_it() -> None:
    """Killed outright, the lab can't close it: the program, which would wait for ever, is ended all the same."""
    start = "from lycosa_lab.external import Talk; import os; talk = Talk(['sleep', '600'])"
    code = f"{start}; print(talk._process.pid, flush=True); os._exit(9)"
    pid = int(subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=60).stdout)
    for _ in range(1_000):
        if not _runs(pid):
            return
        sleep(0.02)
    raise AssertionError("it is still there")


def _runs(pid: int) -> bool:
    """Whether it is there, and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
