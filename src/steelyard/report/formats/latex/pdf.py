"""The PDF that ``pdflatex`` makes of an article."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from steelyard.errors import HostError
from steelyard.report.formats.latex import SOURCE

PROGRAM = "pdflatex"
_PASSES = 4
_LONGEST_S = 120.0
_AGAIN = re.compile(r"Rerun (?:LaTeX|to get)|Table widths have changed|undefined references")
_ERROR = re.compile(r"^! .*(?:\n(?!l\.\d).*){0,8}\nl\.\d+.*", re.MULTILINE)


def missing_program() -> HostError | None:
    """What to say where there is no TeX; ``None`` where there is."""
    if shutil.which(PROGRAM) is not None:
        return None
    return HostError(
        f"--format pdf needs {PROGRAM}, which is not on this machine",
        hint="install TeX Live with its recommended packages (Debian: apt install "
        "texlive-latex-recommended), or take --format tex and compile it elsewhere",
        slug="no-tex",
    )


def compiled(files: dict[str, str | bytes]) -> bytes:
    """The PDF of an article, by as many passes as its tables need.

    Raises:
        HostError: there is no TeX, or it refuses the article.
    """
    missing = missing_program()
    if missing is not None:
        raise missing
    with TemporaryDirectory(prefix="steelyard-article-") as name:
        folder = Path(name)
        for path, content in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode())
        for _ in range(_PASSES):
            if not _AGAIN.search(_one_pass(folder)):
                break
        return (folder / SOURCE).with_suffix(".pdf").read_bytes()


def _one_pass(folder: Path) -> str:
    """The log of one pass. Programs that an author's LaTeX names are not run."""
    words = [PROGRAM, "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", SOURCE]
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_LONGEST_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _refused(str(error)) from error
    log = done.stdout.decode("utf-8", "replace")
    if done.returncode:
        found = _ERROR.search(log)
        raise _refused(" ".join((found.group() if found else log[-300:]).split()))
    return log


def _refused(said: str) -> HostError:
    return HostError(
        f"{PROGRAM} cannot make a PDF of the article: {said}",
        hint="look into notes of your own that are LaTeX; --format tex writes the source",
        slug="article-cannot-be-compiled",
    )
