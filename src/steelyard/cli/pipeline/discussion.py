"""The comments of one pull request, at GitHub or GitLab, found by their first line.

Where the pull request is and who writes is in the variables that a runner sets; the token is
read from one and goes into a header alone.
"""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from steelyard.errors import HostError

_PAGE, _MOST_PAGES = 100, 50
_LONGEST_S = 30.0
_HINT = "run it in a job of a pull request: docs/guide/gate-a-release.md"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirected request would take the token to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True)
class Discussion:
    """``url`` lists comments and takes new ones; one is edited at ``edit_url`` and its number."""

    url: str
    edit_url: str
    edit_method: str
    headers: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, env: Mapping[str, str]) -> Discussion:
        """That of the pull request which these variables of a runner name.

        Raises:
            HostError: they name none, or there is no token.
        """
        return _gitlab(env) if "CI_PROJECT_ID" in env else _github(env)

    def put(self, marker: str, text: str) -> str:
        """Edits the comment that begins with ``marker``, else writes one: ``edited``, ``written``.

        Raises:
            HostError: the server cannot be reached, or refuses.
        """
        for comment in self._comments():
            if str(comment.get("body", "")).startswith(marker):
                self._ask(self.edit_method, f"{self.edit_url}/{int(comment['id'])}", text)
                return "edited"
        self._ask("POST", self.url, text)
        return "written"

    def _comments(self) -> Iterator[dict[str, Any]]:
        for page in range(1, _MOST_PAGES + 1):
            found = self._ask("GET", f"{self.url}?per_page={_PAGE}&page={page}")
            yield from found
            if len(found) < _PAGE:
                return

    def _ask(self, method: str, url: str, text: str | None = None) -> Any:
        body = None if text is None else json.dumps({"body": text}).encode()
        headers = {"Content-Type": "application/json", "User-Agent": "steelyard", **self.headers}
        request = urllib.request.Request(url, body, headers, method=method)  # noqa: S310 - the runner's own
        try:
            opener = urllib.request.build_opener(_NoRedirect)
            with opener.open(request, timeout=_LONGEST_S) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            reason = f"{error.code} {error.reason}"
        except (OSError, ValueError) as error:
            reason = str(error)
        raise HostError(
            f"{method} {url}: {reason}",
            hint="the token needs the right to comment (GitHub: `pull-requests: write`; GitLab: "
            "scope `api`); pull requests from forks have none",
            slug="comment-refused",
        )


def _github(env: Mapping[str, str]) -> Discussion:
    number = _pull_request(env)
    repository, token = env.get("GITHUB_REPOSITORY", ""), _token(env, "GITHUB_TOKEN")
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        raise HostError("GITHUB_REPOSITORY names none", hint=_HINT, slug="no-pull-request")
    issues = f"{env.get('GITHUB_API_URL', 'https://api.github.com')}/repos/{repository}/issues"
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    return Discussion(f"{issues}/{number}/comments", f"{issues}/comments", "PATCH", headers)


def _pull_request(env: Mapping[str, str]) -> int:
    """Of the event that started the job, which is also told of one that a comment started."""
    try:
        event = json.loads(Path(env["GITHUB_EVENT_PATH"]).read_bytes())
        return int((event.get("pull_request") or event["issue"])["number"])
    except (KeyError, OSError, ValueError, TypeError, AttributeError):
        raise HostError(
            "this is no job of a pull request", hint=_HINT, slug="no-pull-request"
        ) from None


def _gitlab(env: Mapping[str, str]) -> Discussion:
    number = env.get("CI_MERGE_REQUEST_IID", "")
    if not number.isdecimal():
        raise HostError("this is no job of a merge request", hint=_HINT, slug="no-pull-request")
    project, token = quote(env["CI_PROJECT_ID"], safe=""), _token(env, "GITLAB_TOKEN")
    api = env.get("CI_API_V4_URL", "https://gitlab.com/api/v4")
    notes = f"{api}/projects/{project}/merge_requests/{number}/notes"
    return Discussion(notes, notes, "PUT", {"PRIVATE-TOKEN": token})


def _token(env: Mapping[str, str], name: str) -> str:
    if not (token := env.get(name, "").strip()):
        raise HostError(f"{name} holds no token", hint=_HINT, slug="no-pull-request")
    return token
