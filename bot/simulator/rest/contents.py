"""Files and directories of the default branch (https://docs.github.com/rest/repos/contents)."""

from __future__ import annotations

import base64
import binascii
from urllib.parse import quote

from bot.simulator.callers import InstallationCaller
from bot.simulator.clock import iso
from bot.simulator.errors import ApiError, not_found
from bot.simulator.http.context import Context
from bot.simulator.http.reply import Reply
from bot.simulator.http.routing import Routes
from bot.simulator.payloads import Json
from bot.simulator.payloads.repositories import repository_url
from bot.simulator.state.ids import node_id
from bot.simulator.state.repositories import Repository, blob_sha

ROUTES = Routes()

# Either permission is enough.
_READ = (("contents", "read"), ("single_file", "read"))
_CONTENTS = "/repos/<owner>/<repo>/contents/<anything:path>"


@ROUTES.add("GET", _CONTENTS, permissions=_READ)
def get_contents(ctx: Context) -> Reply:
    """A file with its text in Base64, or a directory as a list. The `Accept` header may ask for other forms."""
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


@ROUTES.add(
    "PUT",
    _CONTENTS,
    permissions=(("contents", "write"),),
    role="write",
    model="FileCommit",
    request="ReposOwnerRepoContentsPathPutBody",
)
def put_contents(ctx: Context) -> Reply:
    """Commit a file to the default branch; a change of a file needs the `sha` of its present content.

    409 for a wrong `sha`, 404 for another branch, 422 for a missing field, bad Base64 or bad path.
    """
    repo, data, path = ctx.repository(), ctx.data, ctx.params["path"].strip("/")
    ctx.unsupported(data, "author", "committer")
    for name in ("message", "content"):
        if not isinstance(data.get(name), str):
            raise ApiError(422, f'Invalid request.\n\n"{name}" wasn\'t supplied.')
    if data.get("branch", repo.default_branch) not in (repo.default_branch, f"refs/heads/{repo.default_branch}"):
        raise ApiError(404, f"Branch {data['branch']} not found")
    try:
        # Ignore line breaks, since the shell's `base64` writes some.
        content = base64.b64decode("".join(data["content"].split()), validate=True)
    except (binascii.Error, ValueError):
        raise ApiError(422, "content is not valid Base64") from None
    if not path or any(part in ("", ".", "..", ".git") for part in path.split("/")):
        raise ApiError(422, "path contains a malformed path component")
    if any(name.startswith(f"{path}/") for name in repo.files):
        raise ApiError(422, f'"{path}" is a directory')
    existing, sha = repo.files.get(path), data.get("sha")
    if existing is not None and not sha:
        raise ApiError(422, 'Invalid request.\n\n"sha" wasn\'t supplied.')
    if sha and (existing is None or blob_sha(existing) != sha):
        raise ApiError(409, f"{path} does not match {sha}")
    before = repo.head
    ctx.sim.write_file(repo, path, content, ctx.actor, data["message"])
    body = {"content": _entry(ctx, repo, path), "commit": _commit(ctx, repo, before, data["message"])}
    return Reply(body, 201 if existing is None else 200)


def _commit(ctx: Context, repo: Repository, before: str, message: str) -> Json:
    """The commit at the head of the default branch; `before` is its parent."""
    page, api = f"{ctx.sim.urls.html}/{repo.full_name}/commit", f"{repository_url(ctx.sim, repo)}/git"
    # The simulator stores no Git trees; any hash will do.
    login, tree = ctx.actor.login, repo.head[::-1]
    author = {"name": login, "email": f"{login}@users.noreply.github.com", "date": iso(repo.pushed_at)}
    # Before the first commit, the head was only zeros.
    is_first = not before.strip("0")
    parent = {"sha": before, "url": f"{api}/commits/{before}", "html_url": f"{page}/{before}"}
    return {
        "sha": repo.head,
        "node_id": node_id("C", repo.id, int(repo.head[:16], 16)),
        "url": f"{api}/commits/{repo.head}",
        "html_url": f"{page}/{repo.head}",
        "author": author,
        "committer": author,
        "message": message,
        "tree": {"sha": tree, "url": f"{api}/trees/{tree}"},
        "parents": [] if is_first else [parent],
        "verification": {
            "verified": False,
            "reason": "unsigned",
            "signature": None,
            "payload": None,
            "verified_at": None,
        },
    }


def _may_read(ctx: Context, caller: InstallationCaller, repo: Repository, path: str) -> bool:
    """Whether the caller may read the file. With only `single_file`, a token may read the files that its App lists."""
    # A token that does not reach the repository gets here only if the repository is public (`ctx.repository()`).
    if not caller.reaches(ctx.sim, repo) or caller.may("contents", "read"):
        return True
    return path in caller.installation.app.single_files


def _entry(ctx: Context, repo: Repository, path: str) -> Json:
    content = repo.files.get(path)
    kind, git_kind = ("dir", "tree") if content is None else ("file", "blob")
    # A directory gets a hash of its path, since the simulator stores no Git trees.
    sha = blob_sha(path.encode() if content is None else content)
    url = f"{repository_url(ctx.sim, repo)}/contents/{quote(path)}?ref={repo.default_branch}"
    git = f"{repository_url(ctx.sim, repo)}/git/{git_kind}s/{sha}"
    page = f"{ctx.sim.urls.html}/{repo.full_name}/{git_kind}/{repo.default_branch}/{quote(path)}"
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
