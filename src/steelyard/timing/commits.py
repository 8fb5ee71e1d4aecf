"""Commits of a git range as levels: each that is measured has a worktree of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

from steelyard.errors import HostError


class Commits:
    """The first parents of ``RANGE``, the oldest first, with the commit that the range begins at.

    The checkout of the user is not touched; the worktrees are removed on leaving.
    """

    def __init__(self, wanted: str) -> None:
        if ".." not in wanted or "..." in wanted:
            raise _refused(f"`{wanted}` is no range of commits")
        begin = wanted.partition("..")[0] or "HEAD"
        first = _git("rev-parse", "--short=12", "--verify", f"{begin}^{{commit}}")
        further = _git(
            "rev-list", "--reverse", "--first-parent", "--ancestry-path", "--abbrev-commit",
            "--abbrev=12", wanted, "--",
        )  # fmt: skip
        self.levels = [first, *further.split()]
        self._folder = TemporaryDirectory(prefix="steelyard-bisect-")
        self._made: dict[str, Path] = {}

    def folder(self, commit: str) -> Path:
        """The worktree of a commit, made when it is asked for first."""
        if commit not in self._made:
            path = Path(self._folder.name) / commit
            _git("worktree", "add", "--quiet", "--detach", str(path), commit)
            self._made[commit] = path
        return self._made[commit]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._folder.cleanup()
        _git("worktree", "prune")


def _git(*words: str) -> str:
    try:
        done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    except OSError as error:
        raise _refused(f"cannot start git: {error.strerror}") from error
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise _refused(f"git {words[0]}: {said}")
    return done.stdout.strip()


def _refused(message: str) -> HostError:
    return HostError(
        message,
        hint="--git takes a range as `v1.0..HEAD`, in a repository that has both commits",
        slug="no-such-commits",
    )
