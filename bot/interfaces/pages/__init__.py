"""What all of Doppel's web pages share: frame, style, and security headers."""

from __future__ import annotations

from flask import Blueprint, Response, abort, request
from werkzeug.wrappers import Response as AnyResponse

Page = str | AnyResponse | tuple[str, int]
"""What a page answers, with a status where that is not 200."""

# Nothing is loaded from elsewhere, nothing is framed, and only scripts of our own run. Where a form leads is checked
# by who answers it, since the set-up page's form leads to GitHub.
POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:"
_NO_FRAMES = "; frame-ancestors 'none'; base-uri 'none'"


def make_pages() -> Blueprint:
    """The blueprint with `pages/base.html` and the static files under `/static`."""
    return Blueprint("pages", __name__, template_folder="templates", static_folder="static", static_url_path="/static")


def is_https() -> bool:
    """Whether the browser came over HTTPS; a proxy that ends TLS says so in X-Forwarded-Proto.

    A forged header misleads nobody but the browser that sent it.
    """
    return request.is_secure or request.headers.get("X-Forwarded-Proto", "").split(",")[0].strip() == "https"


def root_url() -> str:
    """The bot's root as the browser has it, without a slash at the end."""
    return f"{'https' if is_https() else 'http'}://{request.host}"


def refuse_other_sites() -> None:
    """Answer 403 to what another site's page has the browser post here; call it before each request."""
    if request.method == "POST" and _is_from_elsewhere():
        abort(403)


def _is_from_elsewhere() -> bool:
    """Browsers say where a request comes from ("Sec-Fetch-Site" in the W3C's Fetch Metadata), but over plain HTTP only
    to the machine that they run on; others are told the origin of the page alone. What names neither is of no page.
    """
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if site is not None:
        return site not in ("same-origin", "none")
    return origin is not None and origin != root_url()


def protect(blueprint: Blueprint) -> None:
    """Give every page of a blueprint the headers of private pages, and refuse posts of other sites' pages."""
    blueprint.before_request(refuse_other_sites)

    @blueprint.after_request
    def add_headers(response: Response) -> Response:
        response.headers.setdefault("Content-Security-Policy", POLICY + _NO_FRAMES)
        response.headers["X-Content-Type-Options"] = "nosniff"
        # With "no-referrer", browsers would keep the origin from our own forms as well.
        response.headers["Referrer-Policy"] = "same-origin"
        response.headers["Cache-Control"] = "no-store"
        return response
