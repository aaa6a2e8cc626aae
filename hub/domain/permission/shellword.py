"""What a shell makes of a text before it runs it: blanks in disguise, escapes, braces, values that the line itself assigns.

Owns: the other readings of a line, and what a word with braces stands for.
Must not: run anything, cut a line into commands, or know a rule.

A reading that is in doubt is one too many: who asks compares them all.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections import Counter

from hub.domain.permission.quoting import HOLE, bare, closed, doubled, plain

_BLANK = re.compile(r"\$(?:IFS\b|\{IFS[^}]*\})")
_HERE = re.compile(
    r"(?:(?<=file://)/?|(?<![^\s\"'=:@<>;&|()`]))\$(?:PWD\b|\{PWD\})|(?<![^\s<>])~\+(?=/|\s|$)"
)
_ELSEWHERE = re.compile(r"(?<![^\s=:])~[\w+-]+|/+(?:dev|proc/+[^/\s]+)/+fd/+\w+(?=/)")
"""The folder before this one, one that is remembered or open, another user's home."""
_USED = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_ASSIGNED_OR_USED = re.compile(
    r"(?:^|(?<=[\s;&|(]))(?P<name>[A-Za-z_]\w*)=(?P<value>\"(?:\\[\s\S]|[^\"\\])*\"|'[^']*'|[^\s;&|()\"']*)|"
    + _USED.pattern
)
_WORD = re.compile(r"(?<![\w./-])[A-Za-z_]\w*(?![\w./=-])")
_CHOICE = re.compile(r"[?*+@!]\([^()]*\)|\{[^{},\s]+\.\.[^{},\s]+\}")
_HERE_TOLD = re.compile(r"\$\(\s*pwd(?:\s+-[LP])?\s*\)|`\s*pwd\s*`")
_WHERE = re.compile(
    r"\$\(\s*(?:which|command\s+-v|type\s+-[pP])\s+([\w.+-]+)\s*\)|`\s*(?:which|command\s+-v)\s+([\w.+-]+)\s*`"
)
"""Where a program is installed, told by a shell."""
_TEMPORARY = re.compile(r"\$\(\s*mktemp(?:\s+-d)?\s*\)|`\s*mktemp(?:\s+-d)?\s*`")
_FRESH = posixpath.join("/", "tmp", "mktemp")
"""A file that was not there before, or such a folder."""
PIPE = posixpath.join("/", "dev", "fd", "63")
"""The name of `<(x)`."""
_INSTEAD = {"$": HOLE, "`": HOLE, "<": PIPE, ">": PIPE}
"""What is put in the place of `$x`, of `` `x` `` and of `<(x)`, by its first sign."""
_OTHERWISE = re.compile(r"\$\{\w+:?[-=+]([^{}]*)\}")
_EACH = re.compile(r"\bfor\s+([A-Za-z_]\w*)\s+in\s+([^;\n]*?)\s*(?=[;\n])")
_GIVEN = re.compile(
    r"\b(?:read|mapfile|readarray|getopts|printf\s+-v|let|unset|(?:declare|typeset|local)\s+-\w*[nilcu]\w*)\b([^;\n|&<]*)|\b(\w+)(?:\+=|=\()"
)
_REREAD = re.compile(r"[`\\{]|(?<=.)['\"](?=.)|'.*\$", re.DOTALL)
"""What a value has that a shell takes otherwise where the value is put."""
_GOES_ON = re.compile(r"[^\s;&|)]")
"""Behind the value that is read of an assignment: there is more of it, as in `x=$(y)`."""
_BARE = re.compile(r"(?<![\w./$-])(?<!\$\{)[A-Za-z_]\w*(?![\w./-])")
"""A name that stands there itself, and not for its value."""
_ALIAS = re.compile(r"\balias\s+([A-Za-z_]\w*)=")
_PLAIN_ALIAS = re.compile(
    _ALIAS.pattern + r"(?:'([\w ./=:,+-]+)'|\"([\w ./=:,+-]+)\"|([\w./=:,+-]+))(?![^\s;&|])"
)
"""One whose value a shell reads in one way."""
_COMMAND = re.compile(r"(?:^|(?<=[\n;&|(]))[ \t]*([A-Za-z_]\w*)(?![\w./=-])")
"""A word where a command begins."""
_TAKES_OVER = re.compile(r"(?:^|[\s;&|(])(?:source|\.)\s")
"""What such a file assigns, nobody sees."""
_VALUE = re.compile(r"\$(?:\w+|[@*!?#-])")
"""`$$` is a number."""
_REMARK = re.compile(r"(?m)(^#.*|[\s;&|(]#.*)\\\n")
"""A comment that ends with the sign by which a line goes on elsewhere: it does not."""
_BACKQUOTED = re.compile(r"`(?:\\.|[^`\\])*`?", re.DOTALL)
_KEPT = (re.compile(r"\\([$`\\])"), re.compile(r"\\([$`\\\"])"))
"""What backquotes keep from the shell that reads the line, the next one reads."""
_MOST_LINES = 64
"""Substitutions in a line; of one with more nobody says what it runs."""
_MOST = 64
"""Words that one with braces is taken for."""
_MOST_ALIASES = 6
"""Readings of a line: an alias may stand for another."""
_LONGEST = 1_000_000
"""Letters that are put into a line: each value may double the next."""
_DEPTH = 4
"""Values within values that are looked into."""


def readings(line: str) -> list[str]:
    """The line as it stands and, where that differs, as a shell reads it."""
    read = _plain(_REMARK.sub(r"\1\n", line))
    values: dict[str, str] = {}
    read = _told(read, values)
    found = [line, read]
    while "alias" in read and len(found) < _MOST_ALIASES:
        found.append(_filled(_WORD, found[-1], values))
    found.append(_OTHERWISE.sub(r"\1", found[-1]))
    found.append(_BACKQUOTED.sub(lambda quoted: _KEPT[1].sub(r"\1", quoted[0]), read))
    found.append(bare(read).line)
    return list(dict.fromkeys((line, *(_CHOICE.sub("*", one) for one in found))))


def holed(line: str) -> list[str]:
    """The line as a shell reads it, with `HOLE` for all that only a running shell knows; with its aliases, too.

    What stands in single quotes is as it is; a text for a program's input (`<<EOF`) is left out.
    """
    return [_CHOICE.sub("*", _with_holes(seen, [])) for seen in _seen(bare(line).line)]


def substituted(line: str) -> list[tuple[str, str]]:
    """(what stands before, line) of each whose output `holed` leaves out: `$(x)`, in `${y:-$(x)}` and in a text too."""
    found: list[tuple[str, str]] = []
    read = bare(line)
    for seen in _seen(read.line):
        _with_holes(seen, found)
    for before, text in read.texts:
        within: list[tuple[str, str]] = []
        _with_holes(text, within, text=True)
        found += [(before, one) for _, one in within]
    return found


def _seen(line: str) -> list[str]:
    """The line with those values that are certain, and `HOLE` for names that are given another.

    Where it has aliases, with and without them: only some shells put them in.
    """
    read = _ELSEWHERE.sub(HOLE, _plain(line))
    assigned = [found for found in _ASSIGNED_OR_USED.finditer(read) if found["name"]]
    names = {found["name"] for found in assigned}
    told = Counter(_BARE.findall(read))
    # Where `IFS` is set, no value is the word that it seems to be; a name that stands twice may be given another.
    every = "IFS" in names or _TAKES_OVER.search(read)
    again = {name for name in (*names, *(name for name, _ in _EACH.findall(read))) if every or told[name] > 1}
    again.update(found["name"] for found in assigned if _GOES_ON.match(read, found.end()))
    again.update(_ALIAS.findall(read))
    again.update(
        name for words in _GIVEN.findall(read) for name in re.findall(r"[A-Za-z_]\w*", " ".join(words))
    )
    quoted = {
        found["name"]: _within_double(found["value"])
        for found in assigned
        if found["name"] not in again and _REREAD.search(found["value"])
    }
    values = dict.fromkeys((*again, *quoted), HOLE)
    told_read = _told(_put_quoted(read, quoted), values, kept=frozenset(values))
    if "alias" not in read:
        return [told_read]
    return [told_read, _filled(_WORD, told_read, _aliases(read) or values)]


def _within_double(value: str) -> str:
    """What an assigned value is within double quotes: its signs are letters there; `HOLE` where that is in doubt."""
    if value.startswith("'"):
        return f'"{value}"'
    if "$" in value or "`" in value:
        return HOLE
    return value[1:-1] if value.startswith('"') else HOLE if "\\" in value else value


def _put_quoted(line: str, quoted: dict[str, str]) -> str:
    """The line with these values where they stand in double quotes."""
    pieces = doubled(line) if quoted else []
    begins = [begin for begin, _ in pieces]
    assigned = [found.span("value") for found in _ASSIGNED_OR_USED.finditer(line) if found["name"]]
    starts = [begin for begin, _ in assigned]

    def put(used: re.Match[str]) -> str:
        place = bisect_right(begins, used.start()) - 1
        within = place >= 0 and used.start() <= pieces[place][1]
        at = bisect_right(starts, used.start()) - 1
        given = at >= 0 and used.start() < assigned[at][1]  # its name would hold what is to be read again
        return quoted.get(used[used.lastindex or 0], used[0]) if within and not given else used[0]

    return _USED.sub(put, line) if pieces else line


def _aliases(line: str) -> dict[str, str]:
    """What each alias stands for; none unless all are plain words, and stand only where a command begins."""
    given = {found[1]: found[2] or found[3] or found[4] for found in _PLAIN_ALIAS.finditer(line)}
    told, run = Counter(_BARE.findall(line)), Counter(_COMMAND.findall(line))
    certain = told["alias"] == len(given) and all(told[name] == run[name] + 1 for name in given)
    return given if certain else {}


def _plain(line: str) -> str:
    read = _BLANK.sub(" ", plain(line))
    read = _WHERE.sub(lambda found: f"/usr/bin/{found[1] or found[2]}", read)
    read = _HERE_TOLD.sub(".", _HERE.sub(".", read))
    if "TMPDIR" not in read:
        read = _TEMPORARY.sub(_FRESH, read)
    return read


def _told(read: str, values: dict[str, str], *, kept: frozenset[str] = frozenset()) -> str:
    """The line with the values that it gives itself; they go into `values`, those of `kept` stay as they are there."""
    for name, words in _EACH.findall(read):
        if "`" not in words and "$" not in words:
            values.setdefault(name, _each(words))
    _filled(_ASSIGNED_OR_USED, read, values, kept)
    return _filled(_ASSIGNED_OR_USED, read, values, kept)


def _each(words: str) -> str:
    """A word that stands for each of these."""
    several = words.split()
    return f"{{{','.join(several)}}}" if len(several) > 1 else words


def _with_holes(
    line: str,
    lines: list[tuple[str, str]],
    begin: int = 0,
    depth: int = _DEPTH,
    *,
    double: bool = False,
    text: bool = False,
) -> str:
    """The line from `begin` on with `HOLE` for each value and substitution, but for what stands in single quotes.

    Args:
        line: The line, without remarks and texts.
        lines: What is substituted is a line of its own, and goes in here behind what stands before it.
        begin: Where to begin.
        depth: How many values within this one are looked into.
        double: Whether it begins within double quotes.
        text: Whether it is given to a program, so that quotes are letters.
    """
    found: list[str] = []
    at = begin
    while at < len(line) and len(lines) < _MOST_LINES:
        letter = line[at]
        letters = double or text
        if letter == "\\":
            found.append(line[at : at + 2])
            at += 2
            continue
        if letter == "'" and not letters:
            end = line.find("'", at + 1) + 1 or len(line)
        elif letter == "`":
            quoted = _BACKQUOTED.match(line, at)
            end = quoted.end() if quoted else len(line)
            lines.append((line[:at], _KEPT[double].sub(r"\1", line[at + 1 : end].removesuffix("`"))))
        else:
            end = _end_of_value(line, at, letters=letters) if letter in _INSTEAD else at + 1
        if letter == '"' and not text:
            double = not double
        hole = letter in _INSTEAD and end > at + 1
        if hole and letter != "`" and line[at + 1] == "(" and not _sum(line, at, end):
            lines.append((line[:at], line[at + 2 : end].removesuffix(")")))
        elif letter == "$" and hole and line[at + 1] in "({":
            if depth:
                within = letters or line[at + 1] == "("
                _with_holes(line[:end], lines, at + 2, depth - 1, double=within)
            else:
                lines.append((line[:at], HOLE))
        found.append(_INSTEAD[letter] if hole else line[at:end])
        at = end
    if at < len(line):
        found.insert(0, f"{HOLE}\n")
    return "".join(found)


def _sum(line: str, at: int, end: int) -> bool:
    """Whether `$((...))` from here is one, and not a substitution that begins with a `(`."""
    return line.startswith("$((", at) and closed(line, at + 2) in (end - 1, len(line))


def _end_of_value(line: str, at: int, *, letters: bool) -> int:
    """Where a value ends that begins at this `$`, or a `<(x)`; right behind the sign where none does, or it is a number."""
    following = line[at + 1 : at + 2]
    if line[at] != "$":
        return closed(line, at + 1) if following == "(" and not letters else at + 1
    if following in "({" and following:
        return closed(line, at, letters=letters)
    used = _VALUE.match(line, at)
    return used.end() if used else at + 1


def _filled(
    pattern: re.Pattern[str], line: str, values: dict[str, str], kept: frozenset[str] = frozenset()
) -> str:
    """The line with what each name stands for there; what it assigns goes into `values`.

    Who reads a line a second time with the values of the first finds those too that
    stand behind their use, as that of a function does.
    """
    room = _LONGEST

    def value(used: re.Match[str]) -> str:
        nonlocal room
        known = values.get(used[used.lastindex or 0], used[0])
        if known == HOLE and used.string[used.start() - 1 : used.start()] == "\\":
            return used[0]  # another shell's, which knows as little
        room -= len(known)
        return known if room > 0 else used[0]

    def put(found: re.Match[str]) -> str:
        if not (name := found.groupdict().get("name")):
            return value(found)
        told = _USED.sub(value, found["value"])
        if name not in kept:
            values[name] = told.strip("\"'")
        return f"{name}={told}"

    return pattern.sub(put, line)


def braced(word: str) -> list[str]:
    """The words that stand for one with braces: `{rm,x}`, `s{e,o}cret`; the word alone where there are none."""
    waiting = [word]
    found: list[str] = []
    while waiting and len(waiting) + len(found) < _MOST:
        one = waiting.pop(0)
        if (cut := _choices(one)) is None:
            found.append(one)
        else:
            before, choices, after = cut
            waiting[:0] = [f"{before}{choice}{after}" for choice in choices]
    return [one for one in (*found, *waiting[:_MOST]) if one]


def _choices(word: str) -> tuple[str, list[str], str] | None:
    """What stands before, in and behind the first pair of braces that offers a choice."""
    end = word.find("}")
    while end >= 0:
        begin = word.rfind("{", 0, end)
        if begin >= 0 and "," in (inner := word[begin + 1 : end]):
            return word[:begin], inner.split(","), word[end + 1 :]
        end = word.find("}", end + 1)
    return None
