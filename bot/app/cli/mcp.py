"""`doppel mcp`: the tools for agents."""

from __future__ import annotations

from importlib.metadata import version

import click

from bot.app.cli.shared.parameters import PORT
from bot.domain.errors import SettingsError
from bot.platform.local import check_address
from bot.platform.logs import configure_logging
from bot.platform.settings import load


@click.command()
@click.option("--http", is_flag=True, help="Serve streamable HTTP at /mcp instead of stdin and stdout.")
@click.option(
    "--host", "address", default="127.0.0.1", show_default=True, help="With --http: the address to listen on."
)
@click.option("--port", type=PORT, default=3001, show_default=True, help="With --http: the port to listen on.")
@click.option("--allow-writes", is_flag=True, help="Offer the tool that closes issues as duplicates, too.")
@click.option("--playbooks", is_flag=True, help="Add dedupe_playbook, which merges agents' notes.")
def mcp(http: bool, address: str, port: int, allow_writes: bool, playbooks: bool) -> None:
    """Serve Doppel's tools to agents, over the Model Context Protocol.

    Over stdin and stdout the client starts this command itself; --http needs DOPPEL_MCP_TOKEN, which clients send as
    bearer token. Doppel asks GitHub as the App if the App is set up, else with GITHUB_TOKEN. Without --allow-writes,
    Doppel writes nothing on GitHub. Calls without a repository use DOPPEL_REPOSITORY. docs/mcp.md shows how to set
    up clients.
    """
    settings = load()
    if http and not settings.mcp_token:
        raise SettingsError(
            "DOPPEL_MCP_TOKEN: not set. Without it, anybody who reaches the port could read what "
            'Doppel can read. Choose a long random token (python -c "import secrets; '
            'print(secrets.token_urlsafe())") and give it to the clients.'
        )
    # These imports take a second, so check the settings first.
    from bot.app.wiring.indexes import agent_tools
    from bot.interfaces.mcp.server import PATH, application, build_server

    # This logs to stderr: stdout belongs to the protocol.
    configure_logging(settings.log_level, settings.log_format)
    tools = agent_tools(settings)
    server = build_server(tools, allow_writes=allow_writes, playbooks=playbooks, version=version("doppel"))
    if not http:
        server.run("stdio")
        return
    import uvicorn

    # Check the port first: if the port is taken, Uvicorn exits with 3, which is Doppel's code for "GitHub unreachable".
    check_address(address, port)
    host_name = f"[{address}]" if ":" in address else address
    click.echo(f"Agents reach Doppel at http://{host_name}:{port}{PATH}", err=True)
    uvicorn.run(application(server, settings.mcp_token, address), host=address, port=port, log_config=None)
