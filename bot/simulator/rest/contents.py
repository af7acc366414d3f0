"""Files and directories of the default branch (https://docs.github.com/rest/repos/contents)."""

from __future__ import annotations

import base64
from urllib.parse import quote

from bot.simulator.auth import InstallationCaller
from bot.simulator.errors import not_found
from bot.simulator.http.context import Context
from bot.simulator.http.routing import Reply, route
from bot.simulator.payloads import Json
from bot.simulator.payloads.repositories import repository_url
from bot.simulator.state.repositories import Repository, blob_sha

_READ = (("contents", "read"), ("single_file", "read"))


@route("GET", "/repos/<owner>/<repo>/contents/<anything:path>", permissions=_READ)
def get_contents(ctx: Context) -> Reply:
    """A file with its text in Base64, a directory as a list; as the `Accept` header asks, raw or as one object."""
    repo = ctx.repository()
    path = ctx.params["path"].strip("/")
    if isinstance(ctx.caller, InstallationCaller) and not _may_read(ctx, ctx.caller, repo, path):
        raise not_found()
    if ctx.query.get("ref") not in (None, repo.default_branch, f"refs/heads/{repo.default_branch}", repo.head):
        raise not_found()
    accept = ctx.headers.get("Accept", "")
    if path in repo.files:
        content = repo.files[path]
        if "raw" in accept:
            return Reply(raw=content, content_type="application/vnd.github.raw; charset=utf-8")
        return Reply(_file(ctx, repo, path, content), model="ContentFile")
    prefix = f"{path}/" if path else ""
    names = sorted({name.removeprefix(prefix).split("/")[0] for name in repo.files if name.startswith(prefix)})
    if not names:
        raise not_found()
    entries = [_entry(ctx, repo, prefix + name) for name in names]
    if "object" in accept:
        return Reply(_entry(ctx, repo, path) | {"entries": entries}, model="ContentTree")
    return Reply(entries, model="[ContentDirectoryItems]")


def _may_read(ctx: Context, caller: InstallationCaller, repo: Repository, path: str) -> bool:
    """A token with only the permission `single_file` reads the files that its App's registration lists."""
    if not caller.reaches(ctx.sim, repo) or caller.may("contents", "read"):
        return True
    return path in caller.installation.app.single_files


def _entry(ctx: Context, repo: Repository, path: str) -> Json:
    content = repo.files.get(path)
    kind, tree = ("dir", "tree") if content is None else ("file", "blob")
    sha = blob_sha(path.encode() if content is None else content)
    url = f"{repository_url(ctx.sim, repo)}/contents/{quote(path)}?ref={repo.default_branch}"
    git = f"{repository_url(ctx.sim, repo)}/git/{tree}s/{sha}"
    page = f"{ctx.sim.urls.html}/{repo.full_name}/{tree}/{repo.default_branch}/{quote(path)}"
    raw = f"https://raw.githubusercontent.com/{repo.full_name}/{repo.default_branch}/{quote(path)}"
    return {
        "name": path.rsplit("/", 1)[-1],
        "path": path,
        "sha": sha,
        "size": 0 if content is None else len(content),
        "url": url,
        "html_url": page,
        "git_url": git,
        "download_url": None if content is None else raw,
        "type": kind,
        "_links": {"self": url, "git": git, "html": page},
    }


def _file(ctx: Context, repo: Repository, path: str, content: bytes) -> Json:
    return _entry(ctx, repo, path) | {"content": base64.encodebytes(content).decode(), "encoding": "base64"}
