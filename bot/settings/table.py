"""Every environment variable of the host's, with its meaning and default: docs/config.md is made from this table."""

from __future__ import annotations

from typing import NamedTuple

from bot.settings.model import GITHUB_COM_API


class Variable(NamedTuple):
    """One environment variable as docs/config.md lists it."""

    name: str
    meaning: str
    default: str = ""


# Every variable that `load` reads, and the one that only `doppel dedupe` does.
VARIABLES = (
    Variable("APP_ID", "The GitHub App's id, a number."),
    Variable("PRIVATE_KEY", "The App's private key: the PEM text itself, or the same in base64."),
    Variable("PRIVATE_KEY_PATH", "The file that holds the key; read if `PRIVATE_KEY` is not set."),
    Variable("WEBHOOK_SECRET", "The secret that GitHub signs deliveries with. Unsigned deliveries are never accepted."),
    Variable("WEBHOOK_SECRET_PREVIOUS", "The previous secret, accepted as well while you rotate."),
    Variable("GITHUB_CLIENT_ID", "The App's client id, for signing in to the dashboard."),
    Variable("GITHUB_CLIENT_SECRET", "The App's client secret, for signing in to the dashboard."),
    Variable("GITHUB_API_URL", "The API's address; `https://HOST/api/v3` on Enterprise Server.", GITHUB_COM_API),
    Variable(
        "GITHUB_TOKEN",
        "A personal token with which `find`, `evaluate`, `scan` and `mcp` read GitHub if no App is set up.",
    ),
    Variable(
        "DATABASE_URL",
        "`postgresql://USER:PASSWORD@HOST/NAME`, with any `@` in the password as `%40`, or `sqlite:///PATH`.",
        "SQLite in `DOPPEL_HOME`",
    ),
    Variable(
        "WEBHOOK_PROXY_URL",
        "A channel such as smee.io's, from which to fetch deliveries if the host has no public address.",
    ),
    Variable("PORT", "The port that the receiver listens on.", "3000"),
    Variable(
        "DOPPEL_HOST",
        "The address that the receiver listens on; `127.0.0.1` can be reached from this machine only.",
        "0.0.0.0, all of the machine's addresses",
    ),
    Variable("WEB_CONCURRENCY", "How many web processes gunicorn starts.", "2"),
    Variable("LOG_LEVEL", "`DEBUG`, `INFO`, `WARNING` or `ERROR`.", "INFO"),
    Variable("DOPPEL_LOG_FORMAT", "`text` for people, `json` for programs: one object per line.", "text"),
    Variable("DOPPEL_METRICS_TOKEN", "The bearer token that `/metrics` asks for.", "anybody may read `/metrics`"),
    Variable(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "Where traces go (a variable of OpenTelemetry, whose packages it needs), such as `http://localhost:4318`.",
    ),
    Variable("DOPPEL_HOME", "The data directory.", "the platform's user data directory"),
    Variable(
        "DOPPEL_GITHUB_API_VERSION",
        "The version of GitHub's REST API to ask for.",
        "2026-03-10; on Enterprise Server 2022-11-28",
    ),
    Variable("DOPPEL_WORKER_THREADS", "How many issues one worker process handles at the same time.", "4"),
    Variable("DOPPEL_PAUSED", "`on` pauses the bot everywhere: deliveries are accepted, nothing is answered.", "off"),
    Variable(
        "DOPPEL_DEBOUNCE",
        "How many seconds the bot waits after an edit, in case another follows, before it looks at the issue.",
        "3",
    ),
    Variable(
        "DOPPEL_SQLITE_SYNC",
        "What accepted deliveries survive: with `normal`, a crash of the process; with `full`, of the machine too.",
        "full",
    ),
    Variable(
        "DOPPEL_WORKFLOW_FIELD",
        "The project field that is shown as an issue's workflow state.",
        "`Workflow State`, else `Status`",
    ),
    Variable(
        "DOPPEL_SIBLINGS",
        "Public repositories of other owners that every repository may name under `siblings`: `OWNER/REPO`, separated "
        "by commas.",
    ),
    Variable(
        "DOPPEL_TEXT_MODEL",
        "`off` saves 80 MB of memory and finds less: no text model reads the best candidates together with the issue.",
        "on",
    ),
    Variable(
        "DOPPEL_EMBEDDING_MODEL",
        "The model that turns texts into vectors. `wordllama` comes with Doppel; `none` does without vectors; any "
        "other name is a model of the endpoint in `DOPPEL_EMBEDDING_URL`, or else of sentence-transformers.",
        "wordllama",
    ),
    Variable(
        "DOPPEL_EMBEDDING_URL",
        "An endpoint that speaks OpenAI's `POST /embeddings`, such as `https://api.openai.com/v1`.",
    ),
    Variable("DOPPEL_EMBEDDING_KEY", "The bearer token for that endpoint."),
    Variable(
        "DOPPEL_REMOTE_TEXT",
        "Whose texts may go to that endpoint: those of `public` repositories, or of `all`. A private repository's go "
        "there only if its own settings also say `remote_text: on`.",
        "public",
    ),
    Variable(
        "DOPPEL_REPOSITORY",
        "The `OWNER/REPO` to use for a bare `#N` on the command line, and for an agent's call that names none.",
    ),
    Variable("DOPPEL_MCP_TOKEN", "The bearer token that agents send to `doppel mcp --http`."),
    Variable(
        "DOPPEL_SETUP_TOKEN",
        "The first-run token that opens `/setup` while no App is set up. `doppel serve` makes one by itself.",
    ),
    Variable(
        "AGENTIC_CONTEXT_DEDUP_THRESHOLD",
        "From which similarity on `doppel dedupe` merges two entries of a playbook, 0 to 1; `--threshold` wins.",
        "the model's own",
    ),
)
