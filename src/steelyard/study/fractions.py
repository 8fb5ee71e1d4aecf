"""Two-level designs: the full factorial up to four factors, regular fractions above.

A run is a tuple of 0 (low) and 1 (high), one for each factor. A word is a set of factors, as bits:
bit 0 is factor A. A fraction is what its generators say: factor E goes with the product of A, B, C
and D. The generators are the minimum-aberration ones of Box, Hunter and Hunter, "Statistics for
Experimenters" (2nd ed. 2005, table 6.22), none below resolution IV.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

LETTERS = "ABCDEFGHJKL"
MOST_FACTORS = len(LETTERS)
MOST_FULL = 4

# By number of factors: each further factor with the product that it goes with.
_GENERATORS: dict[int, tuple[str, ...]] = {
    5: ("E=ABCD",),
    6: ("E=ABC", "F=BCD"),
    7: ("E=ABC", "F=BCD", "G=ACD"),
    8: ("E=BCD", "F=ACD", "G=ABC", "H=ABD"),
    9: ("F=BCDE", "G=ACDE", "H=ABDE", "J=ABCE"),
    10: ("F=ABCD", "G=ABCE", "H=ABDE", "J=ACDE", "K=BCDE"),
    11: ("F=ABC", "G=BCD", "H=CDE", "J=ACD", "K=ADE", "L=BDE"),
}

Word = int
Run = tuple[int, ...]


@dataclass(frozen=True)
class Generator:
    """Factor ``target`` is set to ``sign`` times the product of the factors in ``source``."""

    target: int
    source: Word
    sign: int = 1

    @property
    def word(self) -> Word:
        """The product that is constant in the fraction."""
        return self.source | 1 << self.target


@dataclass(frozen=True)
class Fraction:
    """A regular design of ``factors`` factors; a full factorial without generators."""

    factors: int
    generators: tuple[Generator, ...] = ()

    @property
    def base(self) -> int:
        """Factors that are varied freely: the first ones."""
        return self.factors - len(self.generators)


def principal(factors: int) -> Fraction:
    """The design for so many factors: full up to four, resolution IV or V from five on.

    Raises:
        ValueError: more than ``MOST_FACTORS``.
    """
    if factors > MOST_FACTORS:
        raise ValueError(f"{factors} factors: at most {MOST_FACTORS}")
    return Fraction(factors, tuple(_read(text) for text in _GENERATORS.get(factors, ())))


def _read(text: str) -> Generator:
    target, _, source = text.partition("=")
    return Generator(LETTERS.index(target), sum(1 << LETTERS.index(each) for each in source))


def runs(fraction: Fraction) -> tuple[Run, ...]:
    """Every run once, the last free factor varying fastest."""
    found = []
    for levels in itertools.product((0, 1), repeat=fraction.base):
        run = list(levels)
        for each in fraction.generators:
            signs = [2 * run[i] - 1 for i in range(fraction.base) if each.source >> i & 1]
            sign = each.sign
            for factor in signs:
                sign *= factor
            run.append((sign + 1) // 2)
        found.append(tuple(run))
    return tuple(found)


def defining_words(fraction: Fraction) -> dict[Word, int]:
    """Every product that is constant in the fraction, with its sign: the defining relation."""
    words: dict[Word, int] = {}
    for count in range(1, len(fraction.generators) + 1):
        for chosen in itertools.combinations(fraction.generators, count):
            word, sign = 0, 1
            for each in chosen:
                word, sign = word ^ each.word, sign * each.sign
            words[word] = sign
    return words


def resolution(fraction: Fraction) -> int | None:
    """Length of the shortest defining word; ``None`` of a full factorial, which has none.

    IV: a main effect shares its place with interactions of three factors and more only, pairs of
    factors with other pairs. V: pairs with interactions of three and more only.
    """
    return min((word.bit_count() for word in defining_words(fraction)), default=None)


def fold_over(fraction: Fraction) -> Fraction:
    """The fraction that together with the first one separates most pairs of factors.

    Signs of generators are reversed, of as few as do best. Reversing every factor, the fold-over
    of the textbooks, gives a design of resolution IV back to itself. A full factorial needs none.
    """
    choices = itertools.product((1, -1), repeat=len(fraction.generators))
    folded = [_reversed(fraction, signs) for signs in choices]
    return min(folded, key=lambda other: _shared_pairs(fraction, other))


def _reversed(fraction: Fraction, signs: tuple[int, ...]) -> Fraction:
    turned = tuple(
        replace(each, sign=sign) for each, sign in zip(fraction.generators, signs, strict=True)
    )
    return replace(fraction, generators=turned)


def _shared_pairs(first: Fraction, second: Fraction) -> tuple[int, int]:
    """How many words of four letters and less stay constant in both, then of any length."""
    signs = defining_words(second)
    kept = [word for word, sign in defining_words(first).items() if signs[word] == sign]
    return sum(word.bit_count() <= MOST_FULL for word in kept), len(kept)


def letters(word: Word) -> str:
    """``ABCE``."""
    return "".join(letter for i, letter in enumerate(LETTERS) if word >> i & 1)


def relation(fraction: Fraction) -> str:
    """The defining relation as books print it: ``I = ABCE = -BCDF``; empty of a full one."""
    words = defining_words(fraction)
    ordered = sorted(words, key=lambda word: (word.bit_count(), letters(word)))
    words_of = [f"{'-' if words[word] < 0 else ''}{letters(word)}" for word in ordered]
    return f"I = {' = '.join(words_of)}" if words_of else ""
