"""All routes of `rest/` and `graphql/`. Other requests, except for the pages of `site/`, are refused as unknown."""

from __future__ import annotations

from bot.simulator.graphql import endpoint
from bot.simulator.rest import (
    app,
    collaborators,
    comments,
    contents,
    control,
    hooks,
    installations,
    issues,
    labels,
    meta,
    reactions,
    repositories,
    search,
    similar,
    suggestions,
    timeline,
    users,
    visitors,
)

ROUTES = (
    *app.ROUTES,
    *collaborators.ROUTES,
    *comments.ROUTES,
    *contents.ROUTES,
    *control.ROUTES,
    *hooks.ROUTES,
    *installations.ROUTES,
    *issues.ROUTES,
    *labels.ROUTES,
    *meta.ROUTES,
    *reactions.ROUTES,
    *repositories.ROUTES,
    *search.ROUTES,
    *similar.ROUTES,
    *suggestions.ROUTES,
    *timeline.ROUTES,
    *users.ROUTES,
    *visitors.ROUTES,
    *endpoint.ROUTES,
)
