"""Health, metrics and server status."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from prometheus_client import generate_latest

from lycosa_server.middleware import Metrics
from lycosa_server.people.database import DiskFull
from lycosa_server.people.migrating import newest
from site_maker import API, SiteUnderTest


def heartbeat(site: SiteUnderTest) -> None:
    row = {"name": "crawler", "pid": 1, "started": site.clock(), "heartbeat": site.clock(), "stats": '{"running": 2}'}
    site.database.insert("process", row)


def test_health_requires_recent_heartbeat(site: SiteUnderTest) -> None:
    nobody = site.client()
    assert "degraded" == nobody.get(f"{API}/health").json()["status"]
    heartbeat(site)
    data = nobody.get(f"{API}/health").json()
    assert ("ok", True, True) == (data["status"], data["database"], data["crawl_process"])
    for moved in (60, -3660):  # the second is a clock that was set back
        site.clock.now += moved
        assert not nobody.get(f"{API}/health").json()["crawl_process"]


def test_full_disk_is_507_for_writes_only(site: SiteUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = site.sign_up("ada")
    ask = site.database._execute

    def full(statement: str, given: Any) -> Any:
        if statement.startswith("INSERT INTO interest"):
            raise DiskFull("lycosa.sqlite: database or disk is full")
        return ask(statement, given)

    monkeypatch.setattr(site.database, "_execute", full)
    settings = {"words": "coral", "seeds": ["http://reefs.example/"], "budget": 5}
    answer = ada.post(f"{API}/interests", json={"name": "reefs", "settings": settings, "revisit_every": ""})
    assert (507, True) == (answer.status_code, "disk is full" in answer.json()["detail"])
    assert 200 == ada.get(f"{API}/interests").status_code


def test_health_without_database_is_degraded(site: SiteUnderTest) -> None:
    site.database.run("DROP TABLE process")
    data = site.client().get(f"{API}/health")
    assert (200, False, "degraded") == (data.status_code, data.json()["database"], data.json()["status"])


def test_metrics_are_in_prometheus_format(site: SiteUnderTest) -> None:
    admin, member = site.sign_up("root", "admin"), site.sign_up("ada")
    heartbeat(site)
    assert 404 == member.get(f"{API}/interests/secret-name").status_code
    assert 404 == member.get("/nothing/of/the/kind").status_code
    assert 403 == member.get(f"{API}/metrics").status_code
    answer = site.token(admin, ["metrics"]).get(f"{API}/metrics")
    assert (200, "text/plain; version=0.0.4; charset=utf-8") == (answer.status_code, answer.headers["content-type"])
    text = answer.text
    assert f'lycosa_requests_total{{method="GET",route="{API}/interests/{{interest}}",status="404"}} 1' in text
    assert 'route="unknown",status="404"} 1' in text
    assert "secret-name" not in text
    assert 'lycosa_crawls{state="running"} 0' in text
    assert "lycosa_queue_length 0" in text
    assert 'lycosa_process_heartbeat_age_seconds{process="crawler"} 0' in text
    assert 'lycosa_process_stat{name="running",process="crawler"} 2' in text
    sample = re.compile(r'[a-z_]+(\{([a-z_]+="[^"\n]*",?)+\})? [-+0-9.e]+')
    assert [] == [line for line in text.splitlines() if not line.startswith("#") and not sample.fullmatch(line)]


def test_metrics_histogram_is_cumulative() -> None:
    metrics = Metrics()
    for seconds in (0.001, 0.03, 0.03, 99.0):
        metrics.in_flight.inc()
        metrics.end("GET", "/a", 200, seconds)
    text = generate_latest(metrics.registry).decode()
    counts = [float(line.split(" ")[1]) for line in text.splitlines() if "seconds_bucket" in line]
    assert (1, 1, 1, 3) == tuple(counts[:4])
    assert 4 == counts[-1]
    assert 'lycosa_request_seconds_count{method="GET",route="/a"} 4.0' in text
    assert "lycosa_requests_in_flight 0.0" in text


def test_server_status_is_for_admins(site: SiteUnderTest) -> None:
    heartbeat(site)
    data = site.sign_up("root", "admin").get(f"{API}/server").json()
    assert (newest(), 8, {"queued": 0, "running": 0}) == (
        data["schema_version"],
        data["limits"]["crawls"],
        data["queue"],
    )
    assert ["crawler"] == [process["name"] for process in data["processes"]]
    assert data["database"] in ("sqlite", "postgresql")
    assert 403 == site.sign_up("ada").get(f"{API}/server").status_code


def test_request_log_has_no_names_or_queries(site: SiteUnderTest, capfd: pytest.CaptureFixture[str]) -> None:
    ada = site.sign_up("ada")
    who = site.id_of(ada)
    capfd.readouterr()
    answer = ada.get(f"{API}/interests/hush?word=hush")
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert 1 == len(lines)
    assert "hush" not in json.dumps(lines)
    data = {name: lines[0][name] for name in ("event", "request", "method", "route", "status", "person")}
    assert {
        "event": "request",
        "request": answer.headers["x-request-id"],
        "method": "GET",
        "route": f"{API}/interests/{{interest}}",
        "status": 404,
        "person": who,
    } == data
