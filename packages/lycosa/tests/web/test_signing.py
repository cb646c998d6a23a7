"""Request signatures, against RFC 9421's example and another implementation."""

import base64
import json
import subprocess
import sys
from pathlib import Path

import pytest
import requests
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, algorithms
from http_message_signatures.exceptions import InvalidSignature

from input_errors import raises_input_error
from lycosa.web.signing import VALID_SECONDS, Identity, Signer, signature_base, thumbprint

KEY = base64.b64decode("n4Ni+HpISpVObnQMW0wOhCKROaIKqKtW/2ZYb2p9KcU=")  # published in RFC 9421, B.1.4


def test_signature_base_matches_rfc_9421_example() -> None:
    covered = [
        ('"date"', "Tue, 20 Apr 2021 02:07:55 GMT"),
        ('"@method"', "POST"),
        ('"@path"', "/foo"),
        ('"@authority"', "example.com"),
        ('"content-type"', "application/json"),
        ('"content-length"', "18"),
    ]
    _, base = signature_base(covered, ';created=1618884473;keyid="test-key-ed25519"')
    made = Identity(KEY, "https://a.example").key.sign(base)
    assert base64.b64encode(made).decode() == (
        "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="
    )


class Directory(HTTPSignatureKeyResolver):
    def __init__(self, directory: dict[str, list[dict[str, str]]]) -> None:
        self.keys = {key["kid"]: key for key in directory["keys"]}

    def resolve_public_key(self, key_id: str) -> Ed25519PublicKey:
        key = self.keys[key_id]
        assert thumbprint(key) == key_id
        return Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(key["x"] + "="))


def test_headers_are_verified_by_another_implementation(tmp_path: Path) -> None:
    import time

    file = tmp_path / "me.json"
    lycosa = [sys.executable, "-m", "lycosa", "identity"]
    subprocess.run([*lycosa, str(file), "--new", "https://Crawler.example.org/"], check=True, capture_output=True)
    shown = subprocess.run([*lycosa, str(file)], check=True, capture_output=True, text=True).stdout
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads(file.read_text())["d"] not in shown, "the private key is printed"
    identity = Identity.load(file)
    headers = dict(Signer(identity).headers("http://reefs.example:8080/a?b=c", time.time()))
    assert headers["Signature-Agent"] == 'sig1="https://crawler.example.org"'
    verifier = HTTPMessageVerifier(signature_algorithm=algorithms.ED25519, key_resolver=Directory(json.loads(shown)))
    request = requests.Request("GET", "http://reefs.example:8080/a?b=c", headers=headers).prepare()
    (result,) = verifier.verify(request, max_age=None, expect_tag="web-bot-auth")
    assert list(result.covered_components)[:2] == ['"@authority"', '"signature-agent";key="sig1"']
    assert result.parameters["keyid"] == identity.id
    assert result.parameters["expires"] - result.parameters["created"] == VALID_SECONDS
    for url, changed in (
        ("http://other.example:8080/a", {}),
        ("http://reefs.example:8080/a", {"Signature-Agent": 'sig1="https://evil.example"'}),
        (
            "http://reefs.example:8080/a",
            {"Signature-Input": headers["Signature-Input"].replace("expires=", "expires=9")},
        ),
    ):
        other = requests.Request("GET", url, headers={**headers, **changed}).prepare()
        with pytest.raises(InvalidSignature):
            verifier.verify(other, max_age=None, expect_tag="web-bot-auth")


def test_identity_rejects_bad_sites_and_files(tmp_path: Path) -> None:
    for site in ("http://a.example", "https://a.example/path", "a b", "https://a.example/?q"):
        with raises_input_error("bad-url"):
            Identity.new(site)
    file = tmp_path / "me.json"
    Identity.new("https://a.example").save(file)
    with raises_input_error("file-exists"):
        Identity.new("https://a.example").save(file)
    file.chmod(0o644)
    with raises_input_error("unsafe-file"):
        Identity.load(file)
    for content in ("", "[]", '{"agent": "https://a.example", "d": "AA", "crv": "Ed25519"}'):
        file.write_text(content)
        file.chmod(0o600)
        with raises_input_error("bad-file"):
            Identity.load(file)
