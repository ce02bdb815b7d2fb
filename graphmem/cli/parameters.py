"""Options and arguments of commands, made from the signatures and docstrings of client methods."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from graphmem import signatures
from graphmem.cli.options import F, TimeType
from graphmem.signatures import DEFAULT, Kind, Parameter

TYPES: Mapping[str, click.ParamType[Any]] = {
    "time": TimeType(),
    "path": click.Path(path_type=Path),
    "flag": click.BOOL,
    "whole": click.INT,
    "number": click.FLOAT,
    "text": click.STRING,
}
"""Types of click, by the name of a kind."""
Changes = Mapping[str, Mapping[str, Any]]
"""Keyword arguments of click's option, by the name of the parameter; `opts` are other names of the
option, and `argument` is whether it is positional."""
WIDEST_CHOICE = 20
"""Longest list of choices that is shown in place of a value, in characters."""
FLAG = "flag"
JOINT = "__"
"""Separates a parameter from the field of its record, in the name of an option."""
TAKEN = {"scope"}
"""Names of options of all commands, which an argument of the same name must not overwrite."""
NAMED: Changes = {
    "as_of__valid": {"opts": ["--as-of", "--valid"]},
    "cursor": {"help": "Cursor printed by the previous page."},
    "scopes": {"opts": ["--read-scope"]},
}
"""Changes for all commands."""


def of_method(
    path: str,
    *,
    only: Iterable[str] = (),
    without: Iterable[str] = (),
    changes: Changes = MappingProxyType({}),
) -> Callable[[F], F]:
    """Return a decorator that adds the parameters of a method, in the order of its signature.

    Args:
        only: the parameters to take; by default those that a command line can give.
        changes: see `Changes`.
    """

    def add(function: F) -> F:
        found = list(_spread(signatures.method(path).parameters))
        names = {one.name for one, _ in found}
        if unknown := {*only, *without, *changes} - names:
            raise LookupError(f"{path} has no parameter {', '.join(unknown)}.")
        chosen = names.intersection(only or names).difference(without)
        made = [
            _made(one, kind, {**NAMED.get(one.name, {}), **changes.get(one.name, {})})
            for one, kind in found
            if one.name in chosen
        ]
        # click lists the parameters of a function from the last one to the first.
        own = getattr(function, "__click_params__", [])
        setattr(function, "__click_params__", [*own, *reversed(made)])  # noqa: B010
        return function

    return add


def summary(path: str) -> str:
    """Return the help of the command of a method."""
    text = signatures.method(path).summary
    return re.sub(r"\b(R|r)eturn\b", lambda match: "Show" if match[1] == "R" else "show", text)


def grouped(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that have a value as arguments of the method."""
    arguments: dict[str, Any] = {}
    for name, value in options.items():
        if value not in (None, ()):
            owner, _, field = name.partition(JOINT)
            if field:
                arguments.setdefault(owner, {})[field] = value
            else:
                arguments[owner] = value
    return arguments


def _spread(parameters: Iterable[Parameter]) -> Iterator[tuple[Parameter, Kind]]:
    """Yield what a command line can give, the fields of records in place of them."""
    for one in parameters:
        if one.kind is not None and one.kind.name == "record":
            for field in signatures.fields(*one.kind.choices):
                yield from _spread([replace(field, name=f"{one.name}{JOINT}{field.name}")])
        elif one.kind is not None:
            yield one, one.kind


def _made(one: Parameter, kind: Kind, changes: Mapping[str, Any]) -> click.Parameter:
    kind_type = TYPES.get(kind.name) or click.Choice(kind.choices)
    how = {"type": kind_type, "required": one.required, **changes}
    opts = how.pop("opts", None)
    if how.pop("argument", one.positional and (one.required or one.default is None)):
        how |= {"nargs": -1} if kind.many else {}
        how = {"metavar": one.name.upper()} | how if one.name in TAKEN else how
        return click.Argument([one.name + JOINT * (one.name in TAKEN)], **how)
    if kind.name == FLAG:
        return _flag(one, opts, how)
    many = kind.many
    text = how.pop("help", None) or _help(one)
    if len(kind.choices) == 1:
        how |= {"type": None, "flag_value": kind.choices[0]}
        opts = [f"--{kind.choices[0]}"]
    elif kind.choices and len("|".join(kind.choices)) > WIDEST_CHOICE:
        text = _listed(text, kind.choices)
        how.setdefault("metavar", _option(one.name, many=many)[2:].upper())
    opts = opts or [_option(one.name.rpartition(JOINT)[2], many=many)]
    text = text.removesuffix(".") + (" (repeatable)." if many else ".") + _default(one)
    return click.Option([one.name, *opts], help=text, multiple=many, **how)


def _flag(one: Parameter, opts: list[str] | None, how: dict[str, Any]) -> click.Option:
    """Return a flag; what only plans by default has --apply."""
    text = how.pop("help", None) or _help(one)
    if one.name == "dry_run" and one.default:
        opts, text = ["--apply"], "Do it; without --apply, only show the plan."
        how |= {"flag_value": False, "default": True, "show_default": False}
    return click.Option([one.name, *(opts or [_option(one.name)])], help=text, is_flag=True, **how)


def _option(name: str, *, many: bool = False) -> str:
    """Return the option of a parameter: one value of several is named in the singular."""
    if many:
        name = re.sub(r"(?<=us)es$|(?<!us)s$", "", re.sub(r"ies$", "y", name))
    return f"--{name.replace('_', '-')}"


def _help(one: Parameter) -> str:
    """Return the first clause of the text of a parameter."""
    return re.sub(r"^Return\b", "Show", one.clause.replace("`", "")) + "."


def _listed(text: str, choices: tuple[str, ...]) -> str:
    """Return a text that names the choices."""
    if all(re.search(rf"\b{re.escape(one)}\b", text) for one in choices):
        return text
    return f"{text.removesuffix('.')}: {', '.join(choices[:-1])} or {choices[-1]}."


def _default(one: Parameter) -> str:
    """Return the default value, else the words of the text for it."""
    shown = ", ".join(map(str, one.default)) if isinstance(one.default, tuple) else one.default
    if shown in (None, "") and (words := DEFAULT.search(one.text)):
        shown = words[1]
    return "" if shown in (None, "") else f"  [default: {shown}]"
