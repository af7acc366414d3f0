"""Who may come in: JWTs, tokens and their end, suspended installations, API versions."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import jwt
import pytest

from bot.simulator import Server, Simulator
from bot.simulator.keys import new_pair
from bot.simulator.state.accounts import Installation
from tests.simulator.conftest import Api, sign


def test_the_app_is_known_by_its_id_and_its_client_id(server: Server) -> None:
    for issuer in (str(server.app_id), server.sim.app.client_id):
        answer = Api(server.url, sign(server, iss=issuer)).get("/app")
        assert answer.status_code == 200
        assert answer.json()["id"] == server.app_id


def test_an_issuer_that_is_a_number_is_accepted(server: Server) -> None:
    # PyJWT no longer writes such a token, but older clients do.
    now = int(server.sim.clock.timestamp())
    claims = f'{{"iss": {server.app_id}, "iat": {now}, "exp": {now + 60}}}'.encode()
    token = jwt.PyJWS().encode(claims, server.private_key_pem, "RS256")
    assert Api(server.url, token).get("/app").status_code == 200


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"exp": -1}, "must be a numeric value representing the future time"),
        ({"exp": 3600}, "too far in the future"),
        ({"iat": 600}, "'Issued at'"),
        ({"exp": None}, "Missing 'expiration'"),
        ({"iat": None}, "Missing 'issued at'"),
        ({"key": new_pair().private}, "could not be decoded"),
        ({"key": "a shared secret is no private key" * 2, "algorithm": "HS256"}, "could not be decoded"),
    ],
)
def test_a_jwt_that_is_wrong_is_401(server: Server, changes: dict[str, Any], message: str) -> None:
    now = int(server.sim.clock.timestamp())
    moved = {name: now + value if isinstance(value, int) else value for name, value in changes.items()}
    answer = Api(server.url, sign(server, **moved)).get("/app")
    assert answer.status_code == 401
    assert message in answer.json()["message"]


def test_an_unknown_issuer_is_404(server: Server) -> None:
    assert Api(server.url, sign(server, iss="1")).get("/app").status_code == 404


def test_an_installation_token_ends_after_an_hour(sim: Simulator, bot: Api) -> None:
    assert bot.get("/repos/acme/app").status_code == 200
    sim.clock.advance(3599)
    assert bot.get("/repos/acme/app").status_code == 200
    sim.clock.advance(1)
    answer = bot.get("/repos/acme/app")
    assert (answer.status_code, answer.json()["message"]) == (401, "Bad credentials")


def test_uninstalling_ends_tokens_and_suspending_refuses_them(
    sim: Simulator, bot: Api, app: Api, installation: Installation
) -> None:
    sim.suspend("acme")
    assert bot.get("/repos/acme/app").json()["message"] == "This installation has been suspended"
    assert app.post(f"/app/installations/{installation.id}/access_tokens").status_code == 403
    sim.suspend("acme", False)
    assert bot.get("/repos/acme/app").status_code == 200
    sim.uninstall("acme")
    assert bot.get("/repos/acme/app").status_code == 401
    assert app.get(f"/app/installations/{installation.id}").status_code == 404


def test_a_revoked_token_is_over(bot: Api) -> None:
    assert bot.delete("/installation/token").status_code == 204
    assert bot.get("/repos/acme/app").status_code == 401


def test_schemes(server: Server, sim: Simulator) -> None:
    token = sim.user_token("ada")
    pairs = [base64.b64encode(pair.encode()).decode() for pair in (f"ada:{token}", f"{token}:x-oauth-basic")]
    for value in (f"Bearer {token}", f"bearer {token}", f"token {token}", *(f"Basic {pair}" for pair in pairs)):
        assert Api(server.url).get("/user", headers={"Authorization": value}).json()["login"] == "ada"


@pytest.mark.parametrize("value", ["Bearer nonsense", "Bearer ", "Digest x", "Basic !!!", "Bearer a.b.c"])
def test_bad_credentials(server: Server, value: str) -> None:
    assert Api(server.url).get("/repos/acme/app", headers={"Authorization": value}).status_code == 401


def test_each_kind_of_caller_is_kept_to_its_routes(app: Api, bot: Api, person: Callable[..., Api]) -> None:
    assert bot.get("/app").status_code == 401
    assert app.get("/repos/acme/app/issues").status_code == 401
    assert bot.get("/user").status_code == 403
    assert person("ada").get("/installation/repositories").status_code == 403


@pytest.mark.parametrize(("version", "status"), [("2026-03-10", 200), ("2022-11-28", 200), ("2021-01-01", 400)])
def test_api_versions(server: Server, version: str, status: int) -> None:
    assert Api(server.url, version=version).get("/repos/acme/app").status_code == status


def test_a_client_must_name_itself(server: Server) -> None:
    assert Api(server.url).get("/repos/acme/app", headers={"User-Agent": ""}).status_code == 403
