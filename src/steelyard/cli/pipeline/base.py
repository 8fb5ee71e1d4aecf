"""The base beside the candidate: checked out into a folder of its own and built in the same way."""

from __future__ import annotations

import subprocess
from pathlib import Path

from steelyard.cli.console import tell
from steelyard.errors import HostError


def check_out(revision: str, root: Path, folder: Path) -> None:
    """The revision as a work tree in ``folder``; one of an earlier gate there is replaced.

    Raises:
        HostError: the revision is not in the repository nor where it was cloned from, or ``folder``
            holds something else.
    """
    commit = _commit(revision, root)
    if (folder / ".git").is_file():
        _git(root, "worktree", "remove", "--force", str(folder))
    elif folder.exists():
        raise HostError(
            f"{folder} is there already and is no work tree of an earlier gate",
            hint="remove it, or name another folder with --base-folder",
            slug="base-not-found",
        )
    _git(root, "worktree", "prune")
    made = _git(root, "worktree", "add", "--quiet", "--detach", str(folder), commit)
    if made.returncode:
        raise _not_found(revision, made.stderr)


def build(command: str, folder: Path) -> None:
    """Runs the command with ``bash`` in the folder; what it prints goes to standard error.

    Raises:
        HostError: it failed.
    """
    tell(f"building in {folder}")
    words = ["bash", "-euo", "pipefail", "-c", command]
    code = subprocess.run(words, cwd=folder, stdout=2, check=False).returncode
    if code:
        raise HostError(
            f"the build in {folder} ended with exit code {code}",
            hint="its output stands above",
            slug="build-failed",
        )


def root_of(path: Path) -> Path:
    """The repository that holds a study.

    Raises:
        HostError: there is none, or git is not installed.
    """
    told = _git(path if path.is_dir() else path.parent, "rev-parse", "--show-toplevel")
    if told.returncode:
        raise HostError(
            f"{path} lies in no repository: {told.stderr.strip()}",
            hint="--base needs the study in a git repository with the program it measures",
            slug="base-not-found",
        )
    return Path(told.stdout.strip())


def _commit(revision: str, root: Path) -> str:
    """Fetched where a clone is shallow, as those of runners are."""
    if (known := _resolved(root, revision)) is not None:
        return known
    if revision.startswith(("-", "+")) or ":" in revision:  # nothing that git takes for more
        raise _not_found(revision, "it is no name of a revision")
    fetched = _git(root, "fetch", "--quiet", "--no-tags", "--depth=1", "origin", revision)
    if fetched.returncode or (known := _resolved(root, "FETCH_HEAD")) is None:
        raise _not_found(revision, fetched.stderr)
    return known


def _resolved(root: Path, revision: str) -> str | None:
    asked = f"{revision}^{{commit}}"
    told = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", asked)
    return None if told.returncode else told.stdout.split()[-1]


def _not_found(revision: str, said: str) -> HostError:
    return HostError(
        f"the base {revision!r} cannot be checked out: {' '.join(said.split())}",
        hint="name a branch, tag or commit of this repository, or fetch it first",
        slug="base-not-found",
    )


def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ["git", "-C", str(folder), *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise HostError(
            f"git cannot be run: {error.strerror}",
            hint="install git (debian: git)",
            slug="base-not-found",
        ) from error
