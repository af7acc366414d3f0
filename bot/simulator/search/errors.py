"""The refusals of GitHub's search, with the bodies of its 422 answers. Docstrings name the REST manual's sections."""

from __future__ import annotations

SEARCH_DOCS = "https://docs.github.com/v3/search/"
ISSUE_SEARCH_DOCS = "https://docs.github.com/rest/search/search#search-issues-and-pull-requests"


class QueryError(Exception):
    """A search that GitHub answers with 422; `body()` is the answer."""

    def __init__(
        self, message: str, errors: list[dict[str, str]] | None = None, documentation_url: str = SEARCH_DOCS
    ) -> None:
        details = "; ".join(error.get("message", error["code"]) for error in errors or ())
        super().__init__(f"{message}: {details}" if details else message)
        self.message = message
        self.errors = errors or []
        self.documentation_url = documentation_url

    def body(self) -> dict[str, object]:
        """The JSON object of the 422 response."""
        errors = {"errors": self.errors} if self.errors else {}
        return {"message": self.message, **errors, "documentation_url": self.documentation_url, "status": "422"}


def invalid(message: str) -> QueryError:
    return QueryError(
        "Validation Failed", [{"message": message, "resource": "Search", "field": "q", "code": "invalid"}]
    )


def missing() -> QueryError:
    return QueryError("Validation Failed", [{"resource": "Search", "field": "q", "code": "missing"}])


def too_long() -> QueryError:
    """A search has at most 256 characters, not counting operators and qualifiers ("Limitations on query length")."""
    return invalid("The search is longer than 256 characters.")


def too_many_operators() -> QueryError:
    """At most five of AND, OR and NOT together ("Limitations on query length")."""
    return invalid("More than five AND / OR / NOT operators were used.")


def unsearchable_scope() -> QueryError:
    """The caller sees nothing that `repo:`, `user:` or `org:` names ("Access errors or missing search results")."""
    return invalid(
        "The listed users and repositories cannot be searched either because the resources do not exist "
        "or you do not have permission to view them."
    )


def unsearchable_users() -> QueryError:
    """A qualifier names only people who do not exist."""
    return invalid(
        "The listed users cannot be searched either because the users do not exist "
        "or you do not have permission to view the users."
    )


def unrecognised_date(value: str) -> QueryError:
    """A date qualifier's value is no ISO 8601 date or time."""
    return invalid(
        f'"{value}" is not a recognized date/time format. '
        "Please provide an ISO 8601 date/time value, such as YYYY-MM-DD."
    )


def untyped() -> QueryError:
    """The query chooses neither issues nor pull requests. GitHub requires Apps and fine-grained tokens to choose."""
    return QueryError("Query must include 'is:issue' or 'is:pull-request'", documentation_url=ISSUE_SEARCH_DOCS)


def beyond_reach() -> QueryError:
    """A search shows only its first 1,000 results ("About search")."""
    return QueryError("Only the first 1000 search results are available")
