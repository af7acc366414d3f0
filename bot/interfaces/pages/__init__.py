"""The frame, style and security headers that all of Doppel's web pages share."""

from __future__ import annotations

from flask import Blueprint, Flask, Response, abort, request
from werkzeug.wrappers import Response as AnyResponse

Page = str | AnyResponse | tuple[str, int]
"""A route's answer, with the status if it is not 200."""

# Browsers load only our own styles and scripts, and show no page of ours in a frame. Some pages append a
# `form-action` to the policy. For example, the set-up page's form leads to GitHub.
POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:"
_NO_FRAMES = "; frame-ancestors 'none'; base-uri 'none'"


def make_pages() -> Blueprint:
    return Blueprint("pages", __name__, template_folder="templates", static_folder="static", static_url_path="/static")


def is_https() -> bool:
    """Whether the browser uses HTTPS. Proxies that end TLS set X-Forwarded-Proto; a forgery harms only the sender."""
    return request.is_secure or request.headers.get("X-Forwarded-Proto", "").split(",")[0].strip() == "https"


def root_url() -> str:
    """The bot's root address in the browser, without a slash at the end."""
    return f"{'https' if is_https() else 'http'}://{request.host}"


def refuse_other_sites() -> None:
    """Answer 403 if another site's page posts here."""
    if request.method == "POST" and _is_cross_site():
        abort(403)


def _is_cross_site() -> bool:
    """Whether a page of another site made the request.

    Browsers send "Sec-Fetch-Site" (W3C, Fetch Metadata) only over HTTPS, or to the machine they run on. Otherwise they
    send only the page's origin. A request with neither header does not come from a page.
    """
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if site is not None:
        return site not in ("same-origin", "none")
    return origin is not None and origin != root_url()


def protect(pages: Blueprint | Flask, policy: str = POLICY) -> None:
    """Give every page the security headers, with this content policy, and refuse posts from other sites."""
    pages.before_request(refuse_other_sites)

    @pages.after_request
    def add_headers(response: Response) -> Response:
        response.headers.setdefault("Content-Security-Policy", policy + _NO_FRAMES)
        response.headers["X-Content-Type-Options"] = "nosniff"
        # With "no-referrer", browsers would also hide the origin of our own forms, which `_is_cross_site` needs.
        response.headers["Referrer-Policy"] = "same-origin"
        response.headers["Cache-Control"] = "no-store"
        return response
