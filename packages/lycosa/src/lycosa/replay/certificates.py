"""TLS certificates for recorded hosts, created on demand and signed by a local authority.

The authority is created once and kept in the user's data directory, so it has to be trusted only once. Its key never
leaves that directory and only the user can read it, because whoever has it can forge any site for those who trust it.
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from lycosa.core.errors import StoreError
from lycosa.core.files import atomic_write
from lycosa.replay.places import data_directory

YEARS = 5
MAX_HOSTS = 1_000


class Authority:
    """Local certificate authority, persistent as long as its files exist."""

    def __init__(self, directory: Path | None = None) -> None:
        directory = directory or data_directory()
        self.path = directory / "replay-ca.pem"
        try:
            self._key, self._certificate = _load_or_create(directory / "replay-ca.key")
            self.public = self._certificate.public_bytes(serialization.Encoding.PEM)
            if not self.path.exists() or self.path.read_bytes() != self.public:
                with atomic_write(self.path, 0o600) as file:
                    file.write(self.public)
        except OSError as error:
            raise StoreError(f"cannot write a certificate to {directory}: {error.strerror or error}") from error
        self._host_key = ec.generate_private_key(ec.SECP256R1())  # one key for all hosts of a run
        self.context = lru_cache(MAX_HOSTS)(self._new_context)

    @property
    def pin(self) -> str:
        """Hash of its key for Chromium's option `--ignore-certificate-errors-spki-list`."""
        key = self._certificate.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return base64.b64encode(hashlib.sha256(key).digest()).decode()

    def _new_context(self, host: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        # The ssl module loads certificates from files only.
        with tempfile.NamedTemporaryFile(suffix=".pem") as file:
            file.write(_pem(self._host_key))
            for certificate in (self._signed(host), self._certificate):
                file.write(certificate.public_bytes(serialization.Encoding.PEM))
            file.flush()
            context.load_cert_chain(file.name)
        return context

    def _signed(self, host: str) -> x509.Certificate:
        """Return a certificate for a host, valid for the length of a session."""
        try:
            name: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(host.strip("[]")))
        except ValueError:
            name = x509.DNSName(host)
        return (
            _begun(host[:64], self._host_key, days=200)
            .issuer_name(self._certificate.subject)
            .add_extension(x509.SubjectAlternativeName([name]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )


def _load_or_create(path: Path) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    """Return key and certificate from one file, so that concurrent creation cannot mix them."""
    pair = _load(path)
    if pair is None:
        _make(path)
        pair = _load(path)
        assert pair is not None
    return pair


def _load(path: Path) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate] | None:
    """Load an authority that is not about to expire; None if there is none."""
    try:
        content = path.read_bytes()
        key = serialization.load_pem_private_key(content, None)
        certificate = x509.load_pem_x509_certificate(content)
    except (FileNotFoundError, ValueError, TypeError, UnsupportedAlgorithm):  # missing or damaged
        return None
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        return None
    return (key, certificate) if certificate.not_valid_after_utc > datetime.now(UTC) + timedelta(days=2) else None


def _make(path: Path) -> None:
    """Create an authority that can only sign for hosts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = f"Lycosa replay, made {datetime.now(UTC):%Y-%m-%d}"
    usage = dict.fromkeys(
        "digital_signature content_commitment key_encipherment data_encipherment key_agreement "
        "encipher_only decipher_only".split(),
        False,
    )
    certificate = (
        _begun(name, key, days=365 * YEARS)
        .issuer_name(_named(name))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.KeyUsage(**usage, key_cert_sign=True, crl_sign=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with atomic_write(path, 0o600) as file:
        file.write(_pem(key) + certificate.public_bytes(serialization.Encoding.PEM))


def _begun(name: str, key: ec.EllipticCurvePrivateKey, days: int) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_named(name))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now + timedelta(days=days))
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
