"""Reads the host's settings (environment, `.env`, the set-up page's file) and the App's private key.

One error names all wrong variables and how to mend them.
"""

from __future__ import annotations

import base64
import difflib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import dotenv
import platformdirs
from annotated_types import Ge, Le
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from bot.domain.errors import SettingsError
from bot.platform.settings.fields import Env, Settings, database_url, path_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes


_BEGIN = "-----BEGIN "
_MOST_BYTES = 64 * 1024
# A longer PRIVATE_KEY_PATH that cannot be read is taken for a key. A key in base64 is far longer than this.
_LONGEST_PATH = 500


def read_private_key(values: Mapping[str, str]) -> str:
    r"""The key in PEM; empty if none is set. `PRIVATE_KEY` wins over the file of `PRIVATE_KEY_PATH`.

    Both accept a PEM, a PEM with written-out `\n` (as many hosting panels have it), or base64 of either. Raises
    SettingsError, which may show the path, but never a key, even if somebody set PRIVATE_KEY_PATH to a key.
    """
    if text := values.get("PRIVATE_KEY", "").strip():
        return _checked("PRIVATE_KEY", _decoded(text))
    if path := values.get("PRIVATE_KEY_PATH", "").strip():
        return _checked("PRIVATE_KEY_PATH", _decoded(_file_text(path)))
    return ""


def _decoded(text: str) -> str:
    """The PEM in `text`, which may be base64. Without a PEM, returns some text that `_checked` refuses."""
    text = _with_lines(text)
    if _BEGIN in text:
        return text
    try:
        return _with_lines(base64.b64decode("".join(text.split()), validate=True).decode("ascii"))
    except ValueError:
        return text


def _with_lines(text: str) -> str:
    r"""The text without surrounding quotes. Each written-out `\n` or `\r\n` becomes a line end."""
    return text.strip().strip("\"'").replace("\\r\\n", "\n").replace("\\n", "\n")


def _file_text(name: str) -> str:
    path = path_of("PRIVATE_KEY_PATH", name)
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES)
    except OSError as problem:
        if len(name) > _LONGEST_PATH or "\n" in name or _BEGIN in name:
            raise SettingsError(
                "PRIVATE_KEY_PATH: this looks like a key, and not like the path of its file; set PRIVATE_KEY instead."
            ) from None
        raise SettingsError(
            f"PRIVATE_KEY_PATH: cannot read {path}: {problem.strerror}. It must be the .pem file that GitHub offered "
            "for download when the key was generated."
        ) from None
    return data.decode("ascii", errors="replace")


def _checked(variable: str, pem: str) -> str:
    """The PEM if it holds a private RSA key without a password. Raises SettingsError for anything else."""
    # cryptography takes 50 ms to import, and most commands need no key.
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

    pem = pem.strip() + "\n"
    if _BEGIN not in pem:
        raise SettingsError(
            f"{variable}: not a PEM key (it must start with -----BEGIN RSA PRIVATE KEY-----), nor base64 of one."
        )
    if "PRIVATE KEY-----" not in pem:
        raise SettingsError(f"{variable}: this is a public key or a certificate; the App needs its private key.")
    try:
        key = read_key(pem)
    except TypeError:
        raise SettingsError(
            f"{variable}: the key is protected by a password; use the file as GitHub made it."
        ) from None
    except (ValueError, UnsupportedAlgorithm):
        raise SettingsError(
            f"{variable}: the key is damaged or cut off; copy the whole file, or generate a new key in the settings of "
            "the App."
        ) from None
    if not isinstance(key, RSAPrivateKey):
        raise SettingsError(f"{variable}: this is no RSA key; GitHub Apps sign with the RSA key that GitHub generates.")
    return pem


# A name counts as a misspelling of another if difflib's ratio of the two is at least this.
_MISSPELT_RATIO = 0.8
_KEY_VARIABLES = ("PRIVATE_KEY", "PRIVATE_KEY_PATH")
# If one of these is set, the App comes from the environment or `.env`.
_APP_VARIABLES = ("APP_ID", *_KEY_VARIABLES, "WEBHOOK_SECRET")


class Variable(NamedTuple):
    """One environment variable as docs/config.md lists it."""

    name: str
    meaning: str
    default: str = ""


def _documented() -> Iterator[Variable]:
    for field in Settings.model_fields.values():
        usual = str(field.default or "")
        if isinstance(field.default, bool):
            usual = "on" if field.default else "off"
        for env in _envs(field):
            # Only a second variable, such as PRIVATE_KEY_PATH, has its own meaning. The default belongs to the first.
            default = env.default or ("" if env.meaning else usual)
            yield Variable(env.name, env.meaning or " ".join((field.description or "").split()), default)
    yield Variable(
        "AGENTIC_CONTEXT_DEDUP_THRESHOLD",
        "`doppel dedupe` merges playbook entries at least this alike, 0 to 1; `--threshold` wins.",
        "the model's own",
    )


def _envs(field: FieldInfo) -> list[Env]:
    return [fact for fact in field.metadata if isinstance(fact, Env)]


VARIABLES = tuple(_documented())
"""Every variable that `load` reads, and AGENTIC_CONTEXT_DEDUP_THRESHOLD, which only merging playbooks reads (D4)."""


class WrongSettings(SettingsError):
    """Variables with wrong values; `problems` has a sentence for each."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


def load(environ: Mapping[str, str] | None = None, dotenv_path: Path | None = None) -> Settings:
    """Read the settings from `environ` (default: the process's) and `.env` (default: in the working directory).

    Real environment variables win over `.env`, and both win over what the set-up page has stored. Raises
    WrongSettings, which names all wrong variables. A bad DOPPEL_HOME or unreadable `.env` or `app.env` is named alone.
    """
    values = variables(os.environ if environ is None else environ, dotenv_path)
    try:
        default = platformdirs.user_data_dir("doppel", appauthor=False)
        home = path_of("DOPPEL_HOME", values.get("DOPPEL_HOME", "").strip() or default)
    except SettingsError as problem:
        raise WrongSettings([str(problem)]) from None
    values = _with_stored_app(values, home)
    variable_of = {name: _envs(field)[0].name for name, field in Settings.model_fields.items()}
    given: dict[str, Any] = {
        name: text for name, variable in variable_of.items() if (text := values.get(variable, "").strip())
    } | {"home": home}
    # Webhook secrets are not stripped: white space can be part of them. White space alone is no secret, and the
    # previous secret counts only if the current one is set.
    secrets = [values.get(name, "") for name in ("WEBHOOK_SECRET", "WEBHOOK_SECRET_PREVIOUS")]
    given["webhook_secrets"] = tuple(secret for secret in secrets if secret.strip()) if secrets[0].strip() else ()
    problems = []
    readers: dict[str, Callable[[], str]] = {
        "database_url": lambda: database_url(given.get("database_url", f"sqlite:///{home / 'doppel.db'}")),
        "private_key": lambda: read_private_key(values),
    }
    for name, read in readers.items():
        try:
            given[name] = read()
        except SettingsError as problem:
            # Go on, to name every wrong variable.
            given[name] = ""
            problems.append(str(problem))
    try:
        settings = Settings(**given)
    except ValidationError as wrong:
        problems += [f"{variable_of[str(error['loc'][0])]}: {_requirement(error)}" for error in wrong.errors()]
    else:
        if settings.embedding_url and settings.embedding_model == Settings.model_fields["embedding_model"].default:
            problems.append("DOPPEL_EMBEDDING_MODEL: must name a model of the endpoint in DOPPEL_EMBEDDING_URL.")
    if problems:
        raise WrongSettings(problems)
    return settings


def _requirement(error: Any) -> str:
    """Says what a variable must be, without its value, which may hold a password."""
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    field = Settings.model_fields[error["loc"][0]]
    by_type = {type(constraint): constraint for constraint in field.metadata}
    if Ge in by_type:
        kind = "number" if field.annotation is float else "whole number"
        return f"this is not a {kind} from {by_type[Ge].ge} to {by_type[Le].le}."
    if choices := get_args(field.annotation):
        return f"this is not one of {', '.join(choices)}."
    return "this is neither on nor off."


def credentials_file(home: Path) -> Path:
    """The file in a data directory that holds the credentials of an App set up in the browser."""
    return home / "app.env"


def variables(environ: Mapping[str, str], dotenv_path: Path | None) -> dict[str, str]:
    """The variables of `.env` (default: in the working directory), and those of `environ`, which win.

    PRIVATE_KEY and PRIVATE_KEY_PATH are one setting: those of `.env` count only if the environment has neither.
    Raises SettingsError if the file cannot be read.
    """
    file = _read(dotenv_path or Path(".env"))
    if any(environ.get(name, "").strip() for name in _KEY_VARIABLES):
        file = {name: value for name, value in file.items() if name not in _KEY_VARIABLES}
    return file | dict(environ)


def misspelt(environ: Mapping[str, str] | None = None, dotenv_path: Path | None = None) -> dict[str, str]:
    """Unknown variables that look like ours, each with the nearest known name ("" if none is near).

    Every unknown `DOPPEL_…` counts. Any other name counts if it is in `.env` and nearly matches one of ours.
    """
    known = [variable.name for variable in VARIABLES]
    environment = set(os.environ if environ is None else environ)
    file = set(variables({}, dotenv_path))
    found = {}
    for name in sorted((file | environment) - set(known)):
        near = difflib.get_close_matches(name, known, 1, _MISSPELT_RATIO)
        if name.startswith("DOPPEL_") or (name in file and near):
            found[name] = near[0] if near else ""
    return found


def parts_of_an_app() -> list[str]:
    """The names of App variables that the environment or `.env` sets. Any of them replaces the set-up page's App."""
    values = variables(os.environ, None)
    return [name for name in _APP_VARIABLES if values.get(name)]


def _with_stored_app(values: Mapping[str, str], home: Path) -> dict[str, str]:
    """Add the stored App if `values` has no App variable. Raises WrongSettings on read errors."""
    path = credentials_file(home)
    try:
        if any(values.get(name) for name in _APP_VARIABLES) or not path.is_file():
            return dict(values)
    except PermissionError as refused:
        raise WrongSettings([f"DOPPEL_HOME: {path}: {refused.strerror}; run as the user that owns it."]) from None
    stored = {name: value for name, value in _read(path, interpolate=False).items() if value}
    # An empty variable does not hide a stored one.
    return stored | {name: value for name, value in values.items() if value or name not in stored}


def _read(path: Path, *, interpolate: bool = True) -> dict[str, str]:
    """The variables in a file like `.env`; none if the file does not exist."""
    try:
        found = dotenv.dotenv_values(path, interpolate=interpolate)
    except OSError as problem:
        raise WrongSettings([f"{path}: cannot be read: {problem.strerror}."]) from None
    except UnicodeDecodeError:
        raise WrongSettings([f"{path}: this is not UTF-8; save the file in that encoding."]) from None
    return {name: value for name, value in found.items() if value is not None}


@lru_cache(maxsize=4)
def read_key(pem: str) -> PrivateKeyTypes:
    """The key in a PEM. Cached, because checking the key's primes is slow.

    Raises TypeError if the key has a password, ValueError or UnsupportedAlgorithm if the key is damaged.
    """
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    return load_pem_private_key(pem.encode("ascii", errors="replace"), password=None)
