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

from input_errors import raises_input_error
from lycosa.core.spec import format_spec
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
def short_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the timeout for responses."""
    monkeypatch.setattr(external, "ANSWER_TIMEOUT", 0.3)


def hunt(command: str, budget: int = 20, index: CorpusIndex = GRAPH) -> tuple[Trace, ExternalStrategy]:
    """Run a crawl from node a."""
    program = ExternalStrategy(command, budget=budget, words="reef")
    trace = simulate(Judgements.given(index), program, [0], budget)
    program.close()
    return trace, program


def names(trace: Trace) -> str:
    return "".join(GRAPH.names[node] for node in trace.nodes)


def shell(script: str) -> str:
    """Return a shell command that starts the protocol, then runs a script at the first pick."""
    hello = (
        """read -r start; echo '{"protocol":1}'; while read -r line; do case $line in *pick*) break;; esac; done; """
    )
    return shlex.join(["bash", "-c", hello + script])


def test_rival_sh_equals_breadth_first() -> None:
    chance = np.random.default_rng(3)
    nodes = [f"http://n{number}.example/?a=b&c={number}" for number in range(60)]
    index = CorpusIndex.of({name: [nodes[to] for to in chance.integers(0, 60, 5)] for name in nodes})
    trace, program = hunt(f"bash {EXAMPLES / 'rival.sh'}", 40, index)
    ours = simulate(Judgements.given(index), strategy("breadth-first"), [0], 40)
    assert ours.nodes.tolist() == trace.nodes.tolist()
    assert program.ending == ""
    assert program.seconds > 0.0


def test_rival_py_prefers_links_of_relevant_pages() -> None:
    trace, program = hunt(f"{sys.executable} {EXAMPLES / 'rival.py'}")
    assert "abcegdf" == names(trace)  # c scores 1, so e has .5, and g has .25 by e's .5; d and f have 0
    assert program.ending == ""
    assert len((EXAMPLES / "rival.py").read_text().splitlines()) <= 55


@pytest.mark.parametrize("command", [f"bash {EXAMPLES / 'rival.sh'}", f"{sys.executable} {EXAMPLES / 'rival.py'}"])
def test_rivals_do_not_pick_linked_seeds(command: str) -> None:
    program = ExternalStrategy(command, budget=20, words="reef")
    trace = simulate(Judgements.given(GRAPH), program, [0, 1, 2], 20)
    program.close()
    assert ("", 7) == (program.ending if program.ending != "gave up" else "", len(trace.nodes))


def children() -> set[str]:
    """Return the process ids of children, including zombies."""
    return {pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()}


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (shell("kill -9 $$"), "it was killed by signal 9"),
        (shell("echo so tired >&2; exit 3"), "it ended with exit code 3: 'so tired'"),
        (shell("echo hello; sleep 9"), "it wrote 'hello', which is not JSON"),
        (shell("printf '[1]\\n'; sleep 9"), "it wrote '[1]', which is not a JSON object"),
        (shell("printf '\\377\\0\\n'; sleep 9"), "which is not JSON"),
        (shell("""echo '{"choice":"b"}'; sleep 9"""), "it returned '{\"choice\": \"b\"}' for a pick"),
        (shell("""echo '{"pick":"nowhere"}'; sleep 9"""), "it picked 'nowhere', which is not a link of a fetched page"),
        (shell("""echo '{"pick":"g"}'; sleep 9"""), "it picked 'g', which is not a link of a fetched page"),
        (shell("""echo '{"pick":["b"]}'; sleep 9"""), "it picked '[\"b\"]', which is not a link"),
        (shell("""echo '{"pick":"a"}'; sleep 9"""), "it picked 'a' a second time"),
        (shell("head -c 80000 /dev/zero; sleep 9"), "it wrote a line of more than 65,536 bytes"),
        (shell("yes no | head -c 200000 | tr -d '\\n'; sleep 9"), "it wrote a line of more than 65,536 bytes"),
        ("true", "it ended with exit code 0"),
        ("""bash -c 'read -r l; echo "{\\"protocol\\":7}"; sleep 9'""", "it speaks protocol '7', not 1"),
        ("""bash -c 'read -r l; echo "{\\"protocol\\":1,\\"wants\\":[7]}"; sleep 9'""", "it wants '[7]': choose from"),
    ],
)  # fmt: skip
def test_external_strategy_forfeits_after_error(command: str, reason: str) -> None:
    before = children()
    trace, program = hunt(command)
    assert "a" == names(trace)
    assert program.ending.startswith("forfeited: ")
    assert reason in program.ending
    assert "\n" not in program.ending
    assert children() <= before


@pytest.mark.usefixtures("short_timeout")
def test_external_strategy_forfeits_after_timeout() -> None:
    before = children()
    trace, program = hunt(shell("sleep 60"))
    assert ("a", "forfeited: it did not answer within 0.3 seconds") == (names(trace), program.ending)
    assert children() <= before


def test_external_strategy_keeps_pages_before_forfeit() -> None:
    picks = "".join(
        f"""echo '{{"pick":"{url}"}}'; while read -r line; do case $line in *pick*) break;; esac; done; """
        for url in ("c", "e")
    )
    trace, program = hunt(shell(picks + """echo '{"pick":"e"}'; sleep 9"""))
    assert "ace" == names(trace)
    assert "it picked 'e' a second time" in program.ending


@pytest.mark.usefixtures("short_timeout")
def test_external_strategy_forfeits_if_it_does_not_read() -> None:
    large = CorpusIndex.of({"a": [f"http://a.example/{number}/{'x' * 200}" for number in range(2000)]})
    _, program = hunt("""bash -c 'read -r l; echo "{\\"protocol\\":1}"; sleep 9'""", 5, large)
    assert "it does not read its input" in program.ending


def test_close_kills_grandchildren(tmp_path: Path) -> None:
    left = tmp_path / "left"
    hunt(shell(f"sleep 60 <&- >&- 2>&- & echo $! > {left}; exit 1"))
    stat = Path(f"/proc/{left.read_text().strip()}/stat")
    for _ in range(500):  # killed, but a busy machine may take a moment to reap it
        with suppress(FileNotFoundError, ProcessLookupError):
            if stat.read_text().split()[2] not in "ZX":
                sleep(0.01)
                continue
        return
    pytest.fail("it is still running")


def test_external_strategy_null_pick_gives_up() -> None:
    trace, program = hunt(shell("""echo '{"pick":null}'; read -r line; exit 0"""))
    assert ("a", "gave up") == (names(trace), program.ending)


def test_external_strategy_sends_documented_events(tmp_path: Path) -> None:
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


def test_external_strategy_unknown_program_is_error() -> None:
    with raises_input_error("missing-program", "'/no/such/program' is not an executable program"):
        hunt("/no/such/program")


def test_run_retries_forfeited_trials(tmp_path: Path) -> None:
    flag = tmp_path / "works"
    script = tmp_path / "rival.sh"
    script.write_text(f"test -e {flag} || exit 7\nexec bash {EXAMPLES / 'rival.sh'}\n")
    text = format_spec("program", {"command": f"bash {script}"})
    plan = Experiment("x", "", ["breadth-first", text], budgets=[5], seed_sets=1, seeds="random", seed_count=1,
                      description="score", mode="as-published")  # fmt: skip
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


def test_quoted_replaces_values_too_deep_for_json() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert "something too deep" in external.quoted(deep)


def test_program_ends_with_killed_parent() -> None:
    start = "from lycosa_lab.external import ProgramProcess; import os; program = ProgramProcess(['sleep', '600'])"
    code = f"{start}; print(program._process.pid, flush=True); os._exit(9)"
    pid = int(subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=60).stdout)
    for _ in range(1_000):
        if not _runs(pid):
            return
        sleep(0.02)
    raise AssertionError("it is still there")


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
