"""Creates users, organizations and tokens, and finds who acts in a repository, and in which role."""

from __future__ import annotations

import secrets

from bot.simulator.state.accounts import Account, AccountType
from bot.simulator.state.ids import node_id
from bot.simulator.state.repositories import Repository, Role
from bot.simulator.state.world import World, locked

_NODE_PREFIX = {"User": "U", "Organization": "O", "Bot": "BOT"}


@locked
def who(world: World, actor: str | Account, type: AccountType = "User") -> Account:
    """`actor`, or the account with the login `actor`. Creates a missing account, so tests need not create it."""
    if isinstance(actor, Account):
        return actor
    account = world.accounts.get(actor.lower())
    if account is None:
        key = world.ids.next("account")
        account = Account(key, node_id(_NODE_PREFIX[type], key), actor, type, world.now())
        world.accounts[actor.lower()] = account
        world.nodes[account.node_id] = account
    return account


def administrator(world: World, owner: Account) -> Account:
    """The person who acts for an account: the user, or an administrator of the organization."""
    return owner if owner.type == "User" else who(world, f"{owner.login}-admin")


def acting(world: World, actor: str | Account | None, repository: Repository) -> Account:
    """The account that acts in a repository: `actor`, else the owner's administrator."""
    return who(world, actor) if actor else administrator(world, repository.owner)


def role_of(world: World, repository: Repository, account: Account) -> Role:
    """An account's role. An App's bot has the role `write` if its installation may write issues."""
    app = world.app_of(account)
    if app is None:
        return world.role(repository, account)
    installation = world.installation_for(app, repository)
    if installation is None:
        return "read" if not repository.private else "none"
    return "write" if installation.permissions.get("issues") == "write" else "read"


@locked
def add_user(world: World, login: str) -> Account:
    """The user with that login, created if missing."""
    return who(world, login)


@locked
def add_organization(world: World, login: str) -> Account:
    """The organization with that login, created if missing."""
    return who(world, login, "Organization")


@locked
def user_token(world: World, login: str | Account, prefix: str = "ghp_") -> str:
    """A new personal access token of the user; the prefix `github_pat_` makes it fine-grained."""
    token = prefix + secrets.token_hex(18)
    world.user_tokens[token] = who(world, login)
    return token
