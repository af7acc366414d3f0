"""An author's association with a repository (https://docs.github.com/graphql/reference/enums#commentauthorassociation)."""

from __future__ import annotations

from bot.simulator.state.accounts import Account
from bot.simulator.state.repositories import Repository


def author_association(repository: Repository, author: Account) -> str:
    """OWNER, MEMBER (anybody with a role, if an organization is the owner), COLLABORATOR or NONE."""
    if author is repository.owner:
        return "OWNER"
    if repository.roles.get(author.id, "none") == "none":
        return "NONE"
    return "MEMBER" if repository.owner.type == "Organization" else "COLLABORATOR"
