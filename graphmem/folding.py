"""The one form in which names, values and texts are compared."""

from __future__ import annotations

import unicodedata

INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
"""Characters that are not drawn and are not in category Cf."""
_SELECTORS = ((0xFE00, 0xFE0F), (0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF))
"""First and last code points of variation selectors and other characters that are not drawn."""
QUOTES = dict.fromkeys("‘’‚‛‹›′ʼʹʻ`´＇", "'") | dict.fromkeys("“”„‟″«»＂", '"')
"""Quotation marks and apostrophes, with the ASCII character that each is compared as."""
_DASHES = frozenset("\u2043\u2212")
"""The hyphen bullet and the minus sign, which are dashes outside category Pd."""
_KEPT = ("<super>", "<sub>", "<fraction>", "<circle>", "<square>")
"""Compatibility mappings that change a meaning: x² is not x2, 1½ is not 11/2, ™ is not a word."""
_DOTTED_I = "i\u0307"
"""Lower case of the capital İ, which Turkish writes as i."""
_MAX_KNOWN = 20_000


class _Characters(dict[int, str]):
    """Replacements of single characters by code point, computed on demand."""

    def __missing__(self, code: int) -> str:
        found = _plain(chr(code))
        if len(self) < _MAX_KNOWN:
            self[code] = found
        return found


def fold(text: str) -> str:
    """Return the form of a name, a value or a text in which two spellings of it are equal.

    It ignores case, width, white space, characters that are not drawn, and the kind of dashes and
    quotation marks. Case is folded as in Unicode: ß equals ss, and a final sigma any other.
    Compatibility characters count as the characters they mean, such as the ligature in "oﬃce".
    Exceptions are superscripts, subscripts, fractions and signs in a circle or square.
    Accents count, and so do letters that merely look alike.
    """
    if text.isascii():
        if text.isalnum():
            return text.lower()
        form = " ".join(text.lower().split())
        if form.isprintable():
            return form.replace("`", "'")
    form = _step(text)
    while (following := _step(form)) != form:
        form = following
    return form


def _step(text: str) -> str:
    text = unicodedata.normalize("NFD", text).translate(_CHARACTERS)
    text = unicodedata.normalize("NFC", text).casefold()
    text = unicodedata.normalize("NFC", text).replace(_DOTTED_I, "i")
    return " ".join(text.split())


def _plain(character: str) -> str:
    """Return a character as it is compared, before its case is folded."""
    if character in QUOTES:
        return QUOTES[character]
    category = unicodedata.category(character)
    if category == "Pd" or character in _DASHES:
        return "-"
    if character.isspace():
        return " "
    if category in ("Cf", "Cc") or character in INVISIBLE or _is_selector(character):
        return ""
    mapping = unicodedata.decomposition(character)
    # A mapping to a space and a mark means the mark alone, such as the diaeresis ¨.
    if not mapping.startswith("<") or mapping.startswith(_KEPT) or " 0020 " in mapping:
        return character
    return unicodedata.normalize("NFKC", character)


def _is_selector(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in _SELECTORS)


_CHARACTERS = _Characters()
