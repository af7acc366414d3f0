"""A GitHub whose certificate is signed by an authority of its own, as Enterprise Servers have."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from werkzeug.wrappers import Response

from bot.domain.errors import NotFound, Unavailable
from bot.github.client import GitHub
from tests.served import listening


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for 127.0.0.1 that is its own authority, and its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "ours")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "ours.pem"
    path.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return path


@pytest.fixture
def url(certificate: Path) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with listening(Response('{"message": "Not Found"}', 404), context) as address:
        yield f"{address}/api/v3"


def test_e1_a_certificate_that_is_not_trusted_is_said_so(connect: Callable[..., GitHub], url: str) -> None:
    with pytest.raises(Unavailable, match="GitHub's certificate is not trusted here"):
        connect(api_url=url).app().get_app()


def test_e1_the_usual_variable_names_an_authority_of_ones_own(
    connect: Callable[..., GitHub], url: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with pytest.raises(NotFound):
        connect(api_url=url).app().get_app()
