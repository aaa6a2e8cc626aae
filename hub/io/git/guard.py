"""What every git of hub's is kept from.

Owns: the hardened environment, and whose files count as the user's own.
Must not: start git; import Trio, without which a short command asks git (`progress.ran`).

The user's and the system's configuration are shut out, but for two values: `safe.directory` (git trusts it only
from there) and `core.excludesFile` (what the user never wants to see). A repository's own configuration cannot
be shut out, and agents can write it; so everything in it that names a program is overridden, and where a filter
could run, `filter_overrides` takes each one away by name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence

NAME = "hub"
EMAIL = "hub@localhost"

Config = Sequence[tuple[str, str]]

_OVERRIDES: Config = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    *(
        (f"hook.{event}.enabled", "false")
        for event in ("reference-transaction", "post-checkout", "post-index-change")
    ),
    ("core.untrackedCache", "false"),
    ("core.splitIndex", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.pager", "cat"),
    ("core.sshCommand", "false"),
    ("core.gitProxy", ""),
    ("core.askPass", ""),
    ("core.alternateRefsCommand", ""),
    ("core.fsync", "objects,reference"),
    ("core.quotePath", "false"),
    ("color.ui", "false"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("credential.helper", ""),
    ("diff.external", ""),
    ("diff.ignoreSubmodules", "dirty"),
    ("diff.renames", "true"),
    ("diff.noprefix", "false"),
    ("diff.mnemonicPrefix", "false"),
    ("submodule.recurse", "false"),
    ("protocol.allow", "never"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("i18n.commitEncoding", "UTF-8"),
    ("i18n.logOutputEncoding", "UTF-8"),
)
CALLER = "SUDO_UID"
"""By it sudo says to root whose files are his caller's own."""
KEPT = ("PATH", "HOME", "TMPDIR", "XDG_CONFIG_HOME")
"""What a git is given of this process's own environment."""


def environment(where: Mapping[str, str], config: Config = ()) -> dict[str, str]:
    """The environment of every git that hub starts: nothing of the daemon's own but the search path and home."""
    env = {name: os.environ[name] for name in KEPT if name in os.environ}
    env |= {
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_PAGER": "cat",
        "GIT_EDITOR": "true",
        "GIT_SEQUENCE_EDITOR": "true",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_ASKPASS": "true",
        "GIT_SSH_COMMAND": "false",
        "GIT_AUTHOR_NAME": NAME,
        "GIT_AUTHOR_EMAIL": EMAIL,
        "GIT_COMMITTER_NAME": NAME,
        "GIT_COMMITTER_EMAIL": EMAIL,
        **where,
    }
    for number, (key, value) in enumerate((*_OVERRIDES, *config)):
        env[f"GIT_CONFIG_KEY_{number}"] = key
        env[f"GIT_CONFIG_VALUE_{number}"] = value
    env["GIT_CONFIG_COUNT"] = str(len(_OVERRIDES) + len(config))
    return env


def guarded() -> dict[str, str]:
    """The same with the user's own settings: for a look at a project by a command of his, who says which owners are safe."""
    env = environment({})
    del env["GIT_LITERAL_PATHSPECS"]  # not every command can be asked with it
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", CALLER):
        if name in os.environ:
            env[name] = os.environ[name]
        else:
            env.pop(name, None)
    return env


def trusted_owners() -> frozenset[int]:
    """Whose files are not another user's, as git has it: this one's; where he is root, also those of who called sudo."""
    own = os.geteuid()
    caller = os.environ.get(CALLER, "") if own == 0 else ""
    return frozenset({own, int(caller)} if re.fullmatch("[0-9]{1,10}", caller) else {own})


def filter_overrides(settings: Iterable[str]) -> Config:
    """Settings that take every filter and hook named in `settings` away, for a run that touches a working tree."""
    keys = [*settings]
    filters = {key.removeprefix("filter.").rpartition(".")[0] for key in keys if key.startswith("filter.")}
    hooks = {key.removeprefix("hook.").rpartition(".")[0] for key in keys if key.startswith("hook.")}
    return [
        *(
            (f"filter.{name}.{member}", "false" if member == "required" else "")
            for name in sorted(filters)
            for member in ("clean", "smudge", "process", "required")
        ),
        *((f"hook.{name}.enabled", "false") for name in sorted(hooks)),
    ]
