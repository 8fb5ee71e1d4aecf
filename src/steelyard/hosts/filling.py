"""Fills the placeholders of a text; what cannot be filled is a failure that the operator fixes."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.hosts.failures import SystemFailure
from steelyard.study.declared.placeholders import Quote, TemplateError, Value, as_it_is, fill


def filled(text: str, values: Mapping[str, Value], quote: Quote = as_it_is) -> str:
    """The text with every placeholder filled.

    Raises:
        SystemFailure: ``not_supported``: a value is not there, or does not come out even in a unit.
    """
    try:
        return fill(text, values, quote)
    except TemplateError as error:
        raise SystemFailure("not_supported", error.message, error.hint) from error
