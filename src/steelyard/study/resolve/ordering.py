"""Whether the order of visits and the engine that a study asks for fit what it compares."""

from __future__ import annotations

from steelyard.study.file.complaints import Complaints
from steelyard.study.file.grammar import StudyFile


def check_order(file: StudyFile, compared: int, complaints: Complaints) -> None:
    """Complains of an order that ``compared`` systems cannot have, and of pairs that are missing.

    The engine ``normal`` knows the differences within pairs and nothing else.
    """
    order = file.trials.order
    engine = None if file.judge is None else file.judge.engine
    where = ("trials", "order")
    if compared > 2 and order in ("bigstick", "pairs"):
        hint = "take it out: more than two are met in random blocks"
        complaints.add(where, f"`{order}` orders two systems, and {compared} are compared", hint)
    if compared == 2 and order == "blocks":
        hint = "write `bigstick` or `pairs`, or take it out"
        complaints.add(where, "`blocks` orders three systems and more, and two are compared", hint)
    if engine == "normal" and compared > 2:
        hint = "take it out: the exact engine judges any number of systems"
        message = f"the engine `normal` judges two systems, and {compared} are compared"
        complaints.add(("judge", "engine"), message, hint)
    elif engine == "normal" and order != "pairs":
        hint = "add `order: pairs` to `trials`, or leave the engine out"
        message = "the engine `normal` judges pairs, and the visits are not ordered in pairs"
        complaints.add(("judge", "engine"), message, hint)
