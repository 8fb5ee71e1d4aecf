"""The article in LaTeX: its text, its macros, its figures, and what pdflatex says of it."""

from __future__ import annotations

import re
import shutil
import sys

import pytest
from tests.golden.report_examples import CASES
from tests.golden.report_findings import changed, findings
from tests.unit.judge.several_workloads import judged
from tests.unit.judge.test_sections import BY_PROFILE, found

from steelyard.errors import HostError
from steelyard.judge.findings import RunFindings
from steelyard.report.charts.drawing import Drawing
from steelyard.report.formats.latex import NUMBERS, SOURCE
from steelyard.report.formats.latex.article import article
from steelyard.report.formats.latex.figures import figure_of
from steelyard.report.formats.latex.numbers import Numbers, letters, named
from steelyard.report.formats.latex.pdf import PROGRAM, compiled
from steelyard.report.formats.latex.tables import grid
from steelyard.report.formats.latex.text import escaped
from steelyard.report.formats.registry import FORMATS
from steelyard.report.view import Table

HOSTILE = r"100% <script> \input{/etc/passwd} a_b & #1 $x^2$ ~{ -- `` '' ,, ä中 [x]"

needs_tex = pytest.mark.skipif(
    shutil.which(PROGRAM) is None,
    reason="needs pdflatex (Debian: texlive-latex-recommended)",
)


@pytest.fixture(scope="module")
def profiled() -> RunFindings:
    run = found(BY_PROFILE, lambda _: 1.1, names=("off", "balanced", "powersave"))
    notes = {
        "balanced": "Boots & <all>.\nIt idles.\n\nMore 50 %.",
        "powersave.tex": r"It costs \emph{little}: \syRatePowersaveOverallVisits{} visits.",
        "introduction": "Why we measured.",
        "discussion.tex": r"\subsection{Mine} Words.",
    }
    return run.model_copy(update={"author_notes": notes})


@pytest.fixture(scope="module")
def made(profiled: RunFindings) -> dict[str, str | bytes]:
    return article(profiled)


def source_of(files: dict[str, str | bytes]) -> str:
    source = files[SOURCE]
    assert isinstance(source, str)
    return source


def macros_of(files: dict[str, str | bytes]) -> dict[str, str]:
    text = files[NUMBERS]
    assert isinstance(text, str)
    found = [re.match(r"\\newcommand\{\\(\w+)\}\{(.*)\} % ", line) for line in text.splitlines()]
    assert all(found)
    return {each[1]: each[2] for each in found if each}


def test_there_is_a_section_with_means_and_conditions_for_each_level(
    made: dict[str, str | bytes],
) -> None:
    source = source_of(made)
    for profile in ("balanced", "powersave"):
        section = source.partition(rf"\section{{{profile}}}")[2].partition(r"\section")[0]
        assert section.count(r"\begin{longtable}") == 2
        assert "All together" in section, "the mean over all groups"
        for filesystem in ("ext4", "xfs"):
            assert re.search(rf"^{filesystem} & ", section, re.MULTILINE)


def test_the_authors_notes_are_kept_as_text_or_as_latex(made: dict[str, str | bytes]) -> None:
    source = source_of(made)
    assert r"Boots \& \textless{}all\textgreater{}. It idles." in source
    assert r"It costs \emph{little}" in source
    opening, mine = source.index(r"\section{Introduction}"), source.index(r"\subsection{Mine}")
    assert opening < source.index(r"\section{Result}") < mine


def test_every_environment_and_brace_is_closed(made: dict[str, str | bytes]) -> None:
    text = source_of(made)
    begun, ended = (re.findall(rf"\\{word}{{(\w+)}}", text) for word in ("begin", "end"))
    assert sorted(begun) == sorted(ended)
    assert text.count(r"\begingroup") == text.count(r"\endgroup") > 0
    assert re.sub(r"\\[{}]", "", text).count("{") == re.sub(r"\\[{}]", "", text).count("}")


@pytest.mark.parametrize("case", ["decided", "mixed", "three", "screened"])
def test_sentences_hold_no_number_but_macros_that_are_defined_once(case: str) -> None:
    files = article(CASES[case]())
    macros, source = macros_of(files), source_of(files)
    used = re.findall(r"\\(sy[A-Za-z]+)\{\}", source)
    assert used
    assert set(used) <= set(macros)
    assert len(macros) == len(str(files[NUMBERS]).splitlines())
    items = [line for line in source.splitlines() if line.startswith((r"\item ", r"\textbf{"))]
    names = "|".join(re.escape(escaped(system)) for system in CASES[case]().systems)
    left = [re.findall(r"(?<![\w.\-+])\d+(?:\.\d+)?(?![\w.\-])", re.sub(names, "", line))
            for line in items]  # fmt: skip
    assert items
    assert not any(left), left


def test_the_macros_of_a_sentence_are_its_numbers_in_their_order() -> None:
    numbers = Numbers(["fast 2"])
    said = numbers.in_text(
        "fast 2: -0.4 % of 12,345 in 3 to 5 s at 1/25.2, kernel 6.1.0, run 2026-11-21-7", "Answer"
    )
    values = re.findall(r"\}\{(.*)\} %", numbers.file())
    assert values == ["$-$0.4", "12,345", "3", "5", "1", "25.2"]
    assert "fast 2: " in said
    assert "kernel 6.1.0, run 2026-11-21-7" in said
    assert r"\syAnswerAnC{} to \syAnswerAnD{} s" in said


def test_an_author_finds_change_and_interval_by_the_name_of_what_they_are() -> None:
    macros = macros_of(article(findings()))
    assert macros["syThroughputDurableOverallChange"] == r"$-$71.0~\%"
    assert macros["syThroughputDurableOverallInterval"] == r"68.9 to 73.0~\% less"
    assert macros["syThroughputDurableOneSixUsersWord"] == "slower"
    assert macros["syThroughputFastOneUserMedian"].endswith("messages/s")


def test_no_two_values_have_one_macro() -> None:
    numbers = Numbers()
    names = {numbers.define(named("a", "ü"), value, value) for value in ("1", "2", "3")}
    assert len(names) == 3
    assert len({letters(index) for index in range(1000)}) == 1000


def test_every_figure_of_the_article_is_a_pdf_that_lies_beside_it() -> None:
    files = article(findings())
    drawn = re.findall(r"\\includegraphics\[[^]]*\]\{([^}]*)\}", source_of(files))
    assert len(drawn) == len(set(drawn)) > 1
    assert set(drawn) == files.keys() - {SOURCE, NUMBERS}
    assert all(str(files[path])[:9] == "b'%PDF-1." for path in drawn)


def test_figures_end_a_page_before_they_are_too_many_for_latex(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("steelyard.report.formats.latex.article.FIGURES_AT_ONCE", 1)
    pages = source_of(article(CASES["decided"]())).split(r"\clearpage")
    figures = [page.count(r"\begin{figure}") for page in pages]
    assert sum(figures) > 3
    assert max(figures) == 1


def test_charts_of_several_systems_say_which_mark_is_which() -> None:
    source = source_of(article(CASES["decided"]()))
    assert "fast blue circle, durable orange triangle-up" in source


def test_each_of_several_workloads_has_its_tables_and_figures() -> None:
    files = article(judged())
    source = source_of(files)
    for name in ("cpu", "disk"):
        assert rf"\subsection{{{name}}}" in source
        assert rf"\section{{{name}: Responses}}" in source
        assert any(path.startswith(f"figures/{name}-") for path in files)


@pytest.mark.parametrize(
    ("said", "set_as"),
    [
        ("-0.6 to +2.9 %", r"$-$0.6 to +2.9~\%"),
        ("-3 to -1 %", r"$-$3 to $-$1~\%"),
        ("disks.data", "disks.data"),
        (r"a\b~c^d|e", r"a\textbackslash{}b\textasciitilde{}c\textasciicircum{}d\textbar{}e"),
        ("--flag ''x,,y", "-{}-flag '{}'x,{},y"),
        ("äçŐ", r"\"{a}\c{c}\H{O}"),
        ("中\x1b", r"\texttt{U+4E2D}\texttt{U+001B}"),
        ("5 µs ± 2 × 3 ≥ 1", r"5 \textmu{}s $\pm$ 2 $\times$ 3 $\geq$ 1"),
    ],
)
def test_words_are_set_as_they_are(said: str, set_as: str) -> None:
    assert escaped(said) == set_as
    assert escaped(said).isascii()


def test_every_row_of_a_table_has_as_many_cells_as_its_head() -> None:
    table = Table("t", ("A & B", "n"), (("50 %", "1"), ("[x]", "2")), frozenset({1}), ("a #1",))
    text = grid(table)
    rows = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert [len(re.findall(r"(?<!\\)&", row)) for row in rows] == [1] * 4
    assert r"\begin{longtable}{lr}" in text
    assert "{}[x]" in text, "no option of the line break before it"
    assert text.endswith(r"a \#1")


def test_a_table_that_no_line_holds_breaks_its_cells() -> None:
    table = Table("t", ("Condition", "What happened"), (("16 users", "it stopped " * 12),))
    shares = [float(share) for share in re.findall(r"dimexpr ([\d.]+)", grid(table))]
    assert len(shares) == 2
    assert sum(shares) == pytest.approx(1.0, abs=0.002)
    assert shares[1] > shares[0]


def test_without_tex_the_one_message_names_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    missing = FORMATS["pdf"].missing()
    assert missing is not None
    assert (missing.slug, missing.exit_code) == ("no-tex", 3)
    assert "texlive-latex-recommended" in (missing.hint or "")
    with pytest.raises(HostError, match="needs pdflatex"):
        FORMATS["pdf"].files(findings())


@needs_tex
def test_pdflatex_makes_a_pdf_of_an_article_with_sections_and_notes(
    made: dict[str, str | bytes],
) -> None:
    assert compiled(made).startswith(b"%PDF-1.")


@needs_tex
def test_pdflatex_sets_hostile_names_as_text() -> None:
    hostile = changed(
        CASES["three"](), question=HOSTILE, study=HOSTILE, variant=HOSTILE,
        author_notes={"introduction": HOSTILE},
    )  # fmt: skip
    assert compiled(article(hostile)).startswith(b"%PDF-1.")


@needs_tex
def test_what_an_author_wrote_wrongly_is_named_with_its_line() -> None:
    wrong = changed(findings(), author_notes={"discussion.tex": r"\nosuchcommand"})
    with pytest.raises(HostError, match=r"Undefined control sequence.*\\nosuchcommand") as raised:
        compiled(article(wrong))
    assert raised.value.slug == "article-cannot-be-compiled"


def test_without_what_draws_its_figures_an_article_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    drawing = Drawing("one", "One", "", '<svg viewBox="0 0 10 10"></svg>')
    with pytest.raises(HostError) as error:
        figure_of(drawing, ())
    assert (error.value.slug, "[pdf]" in str(error.value.hint)) == ("no-vl-convert", True)
