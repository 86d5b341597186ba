"""Which names of tools a `*` glob of plugin.yaml matches: `*` stands for any characters, all else for itself."""


def is_glob(pattern: str) -> bool:
    return "*" in pattern


def matches(pattern: str, name: str) -> bool:
    """Whether a name, or a glob, allows a tool of this name. Case counts. The time is linear in both lengths."""
    first, *others = pattern.split("*")
    if not others:
        return pattern == name
    *inner, last = others
    if not name.startswith(first) or len(name) < len(first) + len(last) or not name.endswith(last):
        return False
    at, end = len(first), len(name) - len(last)
    for part in inner:
        found = name.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def meet(one: str, other: str) -> bool:
    """Whether any name is matched by both patterns. The time is the product of both lengths."""
    # Where in `other` one can be, after each character of `one`.
    places = _passed({0}, other)
    for character in one:
        if character == "*":
            places = set(range(min(places), len(other) + 1)) if places else set()
        else:
            places = {at if other[at] == "*" else at + 1 for at in places if other[at : at + 1] in ("*", character)}
        places = _passed(places, other)
    return len(other) in places


def _passed(places: set[int], pattern: str) -> set[int]:
    """The places and those behind the stars that stand there, for a star may stand for nothing."""
    found = set(places)
    for at in sorted(places):
        while pattern[at : at + 1] == "*":
            at += 1
            found.add(at)
    return found
