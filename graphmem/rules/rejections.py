"""Normal forms of values that a person may reject, and the keys by which they are recognised."""

from __future__ import annotations

import hmac
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from graphmem import folding
from graphmem.errors import RejectedError
from graphmem.model import Rejection
from graphmem.rules import identity

_WORD = re.compile(r"[^\W\d_]+")
_CLOSING = " .!"
_PUNCTUATION = re.compile(r"[\W_]+")
_CYRILLIC = dict(zip("авгеикмнопрстухьѕіјһӏүԁԛԝёї", "abreukmhonpctyxbsijhlydqwëï", strict=True))
_GREEK = dict(zip("αβγεζικορτχω", "abyezikoptxw", strict=True))
_ARMENIAN = dict(zip("հոսօցք", "hnuogp", strict=True))
_LIKE_LATIN = _CYRILLIC | _GREEK | _ARMENIAN
_FIRST = dict(zip("ημνυ", "hmny", strict=True))
"""Greek letters of which the capital looks like another Latin letter than the small one."""
_LATER = dict(zip("ημνυ", "nuvu", strict=True))
_SMALL_CAPITAL = "LATIN LETTER SMALL CAPITAL "
_ALWAYS = {
    **dict(zip("ıɑɡɩ", "iagi", strict=True)),
    **{
        chr(point): name.removeprefix(_SMALL_CAPITAL).lower()
        for point in (*range(0x250, 0x2B0), *range(0x1D00, 0x1D80), *range(0xA720, 0xA800))
        if len(name := unicodedata.name(chr(point), "")) == len(_SMALL_CAPITAL) + 1
        and name.startswith(_SMALL_CAPITAL)
    },
}
_LAST_LATIN = "\u024f"


def normal_form(text: str) -> str:
    """Return the form in which two spellings of one value are equal.

    It is the folded form (`folding.fold`) without regard to all compatibility forms, a final period
    or exclamation mark, and Cyrillic, Greek and Armenian letters that look like Latin ones. A word
    in one of these scripts is spelt in Latin letters only if all its letters look like Latin ones.
    """
    form = folding.fold(text)
    if form.isascii() and form[-1:] not in _CLOSING:
        return form
    while (following := _step(form)) != form:
        form = following
    return form


def _step(text: str) -> str:
    # Also what folding keeps apart, such as circled letters, so that they do not evade a rejection.
    text = unicodedata.normalize("NFKC", folding.fold(text))
    if not text.isascii():
        text = _WORD.sub(_latin, "".join(_ALWAYS.get(one, one) for one in text))
    return text.rstrip(_CLOSING) or text


def _latin(word: re.Match[str]) -> str:
    text = word[0]
    looks = [
        (_LATER if place else _FIRST).get(letter) or _LIKE_LATIN.get(letter)
        for place, letter in enumerate(text)
    ]
    mixed = any(letter <= _LAST_LATIN for letter in text)
    if not mixed and None in looks:
        return text
    return "".join(look or letter for look, letter in zip(looks, text, strict=True))


def sentence_form(text: str) -> str:
    """Return the form in which two sentences are one: the normal form without spaces.

    Words may be divided in many ways, also by characters that are not drawn. Only a space between
    two digits divides two numbers.
    """
    words = normal_form(text).replace("_", " ").split()
    joined = words[:1]
    for before, word in pairwise(words):
        divides_numbers = before[-1].isdigit() and word[0].isdigit()
        joined += (" ", word) if divides_numbers else (word,)
    return "".join(joined)


def text_digest(text: str) -> str:
    """Return the digest of a sentence, in whatever form it is stated."""
    return identity.digest("sentence", sentence_form(text))


def triple_digest(subject: str, predicate: str, object_: str) -> str:
    """Return the digest of a value of a slot: of the sentence that its three parts form.

    Its predicate counts by its letters and digits: `lives_in`, `livesIn`, `lives.in` are one.
    """
    form = normal_form(predicate)
    words = _PUNCTUATION.sub("", form) or form
    return text_digest(" ".join((normal_form(subject), words, normal_form(object_))))


def belief_digests(belief: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the digests of a stored belief, or of a claim as a map.

    The first is that of its value. A triple that is worded otherwise than by its parts, by a
    template or by a given sentence, has a second one.
    """
    said = text_digest(belief["statement"])
    if belief["subject_key"] is None:
        return (said,)
    keys = (belief[name] for name in ("subject_key", "predicate_key", "object_key"))
    return tuple(dict.fromkeys((triple_digest(*keys), said)))


def item_digests(item: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the digests of a stored memory or belief, with its label."""
    if item["label"] == "Memory":
        return (text_digest(item["content"]),)
    return belief_digests(item)


def value_key(tenant: str, digest: str) -> str:
    """Return the key of a value in a tenant: an HMAC of its digest."""
    secret = identity.tenant_key(tenant).encode()
    return hmac.digest(secret, digest.encode(), "sha256").hex()


def tombstone_id(scope: str, digest: str) -> str:
    """Return the id of the tombstone of a value in a scope; unique in a tenant."""
    return "rj_" + identity.digest(scope, digest)[:32]


def tombstone(tenant: str, scope: str, digest: str) -> dict[str, str]:
    """Return the row of a tombstone for reject/rule."""
    return {
        "id": tombstone_id(scope, digest),
        "digest": digest,
        "value_key": value_key(tenant, digest),
    }


def import_path(tenant: str) -> str:
    """Return what an import puts before the paths of the rulings of a file from this tenant.

    A ruling that was recorded here has the path "". Another one has a step for each tenant through
    which it was imported, the last one first. It takes back rejections with its own path, and with
    paths that begin with it, which it could see; so no file takes back what was rejected here.
    """
    return identity.digest("imported from", tenant)[:16] + "/"


def text_key(tenant: str, text: str) -> str:
    """Return the key of a sentence in a tenant."""
    return value_key(tenant, text_digest(text))


def belief_keys(tenant: str, belief: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the properties of a belief by which it is recognised: `value_key`, `statement_key`."""
    return _keys(tenant, belief_digests(belief))


def item_keys(tenant: str, item: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the properties by which a memory or a belief, with its label, is recognised."""
    return _keys(tenant, item_digests(item))


def _keys(tenant: str, digests: Sequence[str]) -> dict[str, str | None]:
    first, *more = (value_key(tenant, digest) for digest in digests)
    return {"value_key": first, "statement_key": next(iter(more), None)}


def parse(found: Mapping[str, Any]) -> Rejection:
    """Return a rejection from its row: see fragments/rejection.cypher."""
    reason = json.loads(found["payload"] or "{}").get("reason")
    given = {name: found[name] for name in ("event_id", "rejected_at", "actor")}
    return Rejection(**given, reason=reason)


def error(what: str, found: Mapping[str, Any]) -> RejectedError:
    """Return the error of a write that would make a rejected value current."""
    reason = parse(found).reason
    return RejectedError(f"{what} was rejected by a person{f': {reason}' if reason else '.'}")
