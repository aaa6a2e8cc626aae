"""What the user has agreed to, project by project, and whether it covers what a project would do now.

Owns: the records of it, in the user's state directory, and the gate through which a project's tables come into the
configuration.
Must not: ask the user, lie in a project, or believe a record that this machine's key has not sealed.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path

import attrs

from hub import userdirs
from hub.api.trust import Change, State, Trusted, TrustItem
from hub.domain.trust.settings import (
    KEYS,
    Digests,
    Item,
    Raw,
    agreed,
    digest,
    digests,
    followed,
    gone,
    items,
    keys,
    restricted,
)
from hub.errors import Code, HubError
from hub.io.files.atomic import coded_errors, read_bounded, stamp_of, write_atomic
from hub.io.project.places import Places, load_or_create_key, make_private_dir

VARIABLE = "HUB_TRUST"
"""Set to 1, every project is trusted: for containers, where nobody can be asked."""
_LIMIT = 64 << 20
_NAMED = 5


@attrs.frozen
class TrustStanding:
    """What a project would do, and what the user has agreed to."""

    root: Path
    items: tuple[Item, ...]
    known: Digests
    """The set the user agreed to last; {} = never."""
    always: bool = False
    """Whether every project is trusted."""
    once: bool = False
    """Whether the user has agreed for this time."""

    @property
    def trusted(self) -> bool:
        """Whether it may go on as it is."""
        return self.always or self.once or agreed(self.items, self.known)

    @property
    def state(self) -> State:
        """In a word: `not_needed`, `trusted`, `untrusted` or, where another set was agreed to, `changed`."""
        if not self.items and self.trusted:
            return "not_needed"
        if self.trusted:
            return "trusted"
        return "changed" if self.known else "untrusted"

    @property
    def digest(self) -> str:
        """Of the whole set."""
        return digest(digests(self.items))

    @property
    def gone(self) -> tuple[str, ...]:
        """Where there was something that the user agreed to, and is nothing now."""
        return tuple(gone(self.items, self.known))

    def mark(self, item: Item) -> Change:
        """Against what was agreed to: `new`, `changed` or ""."""
        if not self.known or self.known.get(item.key) == item.digest:
            return ""
        return "changed" if item.key in self.known else "new"

    def told(self) -> Trusted:
        """As the API and `hub trust --json` have it."""
        return Trusted(
            project=str(self.root),
            state=self.state,
            trusted=self.trusted,
            digest=self.digest,
            items=[
                TrustItem(does=item.does, key=item.key, text=item.text, change=self.mark(item))
                for item in self.items
            ],
            gone=list(self.gone),
        )

    def insist(self) -> None:
        """Refuse what the user has not agreed to.

        Raises:
            HubError: `trust_needed`, with what it would do.
        """
        if self.trusted:
            return
        new = [item for item in self.items if self.known.get(item.key) != item.digest]
        rest = f", and {len(new) - _NAMED} more" if len(new) > _NAMED else ""
        where = ", ".join([item.key.removeprefix("file:") for item in new[:_NAMED]] + list(self.gone)) + rest
        verb = "has changed since you trusted it" if self.known else "is not trusted yet"
        told = [{"does": str(item.does), "key": item.key} for item in new]
        raise HubError(
            Code.TRUST_NEEDED,
            f"{self.root} {verb}: {where}.",
            state=self.state,
            digest=self.digest,
            items=told,
        )


@attrs.define
class Gate:
    """The gate of one project. What the user agreed to is looked up each time: another hub may ask him meanwhile."""

    root: Path
    state: Path
    always: bool = False
    held_back: bool = False
    """Whether the tables that were shown last were not admitted."""
    _once: Digests | None = None
    _kept: Raw | None = None
    _words: int = 0
    """How often the user has spoken to this process."""

    @classmethod
    def of(cls, root: Path, environ: Mapping[str, str]) -> Gate:
        """The gate of a project, for this user and environment."""
        state = Path(userdirs.state_dir(environ))
        return cls(Path(os.path.realpath(root)), state, environ.get(VARIABLE, "") == "1")

    @property
    def said(self) -> str:
        """The digest of the set that the user has agreed to for this time; "" = of none."""
        return "" if self._once is None else digest(self._once)

    @property
    def stamp(self) -> object:
        """Changes whenever the user's word may have."""
        return self._words, stamp_of(self.record)

    @property
    def record(self) -> Path:
        """The file in which the user's word is kept; it need not be there."""
        return self.state / "trust" / f"{digest([str(self.root), os.geteuid()])[:32]}.json"

    def admit(self, tables: Raw) -> Raw:
        """A project's tables, as far as they may be read.

        They are whole where the user agreed to all that they would do. Else they are the last ones that were whole, so
        that nobody can change what a daemon does behind its user's back; a process that has seen none reads only
        what runs, sends and opens nothing.
        """
        self.held_back = not (self.always or self._settled(tables))
        if not self.held_back:
            self._kept = tables
            return tables
        return restricted(tables) if self._kept is None else self._kept

    def standing(self, tables: Raw) -> TrustStanding:
        """What the project would do now, the agents' files included.

        Raises:
            HubError: As `hub.io.project.agent_files.orders` and `hub.io.project.hub_dir.insist_private`.
        """
        from hub.io.project.hub_dir import insist_private  # as above
        from hub.io.secrets.dotenv import every_value  # most commands start no agent

        insist_private(self.root)
        dotenv = Places(self.root).dotenv
        values = (
            {} if dotenv.is_symlink() else every_value(dotenv)
        )  # a link is never read, and put aside at a start
        found = [*items(tables), *keys(values)]
        if not self.always:
            from hub.io.project.agent_files import above, orders  # as above

            found += [*orders(self.root), *above(self.root)]
        once = self._once is not None and agreed(found, self._once)
        return TrustStanding(self.root, tuple(found), self.known(), self.always, once)

    def insist_orders(self, tree: Path) -> None:
        """Refuse what the agents' files in another working tree say, where the user has agreed to it neither here nor there.

        Raises:
            HubError: `trust_needed`; and as `hub.io.project.agent_files.orders`.
        """
        if self.always:
            return
        from hub.io.project.agent_files import orders  # as above

        there = Gate(Path(os.path.realpath(tree)), self.state)
        words = (self._once or {}, self.known(), there.known())
        told = {(_plain(key), value) for word in words for key, value in word.items()}
        new = [item for item in orders(tree) if (_plain(item.key), item.digest) not in told]
        if new:
            names = ", ".join(item.key.removeprefix("file:") for item in new[:_NAMED])
            raise HubError(
                Code.TRUST_NEEDED,
                f"What agents obey in {tree}, where the work is, is not trusted: {names}.",
                hint=f"See it, and say yes: hub -C {shlex.quote(str(tree))} trust",
                items=[{"does": str(item.does), "key": item.key} for item in new],
            )

    def agree(self, standing: TrustStanding, *, once: bool = False) -> None:
        """The user's yes to just this: for good, or for as long as this process lives."""
        self._words += 1
        if once:
            self._once = digests(standing.items)
        else:
            self._write(digests(standing.items))

    def follow(self, before: Raw, after: Raw) -> None:
        """The user has changed his tables through hub, which is his word for that change alone."""
        if self._once is not None:
            self._once = followed(self._once, before, after)
        known = self.known()
        made = followed(known, before, after)
        if made != known and not self.always:
            self._write(made)

    def follow_keys(self, before: Mapping[str, str], after: Mapping[str, str]) -> None:
        """The same for the keys in `.hub/.env`, where those before were agreed to, or there were none."""
        known = self.known()
        if self.always or not digests(keys(before)).items() <= known.items():
            return
        kept = {key: value for key, value in known.items() if key != KEYS}
        self._write({**kept, **digests(keys(after))})

    def revoke(self) -> bool:
        """Take the user's word back; tells whether there was one."""
        there = self.record.exists()
        self.record.unlink(missing_ok=True)
        return there

    def known(self) -> Digests:
        """What the user agreed to; {} where he did not, or the record is not of this machine's making."""
        if not (self.state / "trust").is_dir():
            return {}
        try:
            told = json.loads(read_bounded(self.record, _LIMIT))
            body, seal = told["body"], told["seal"]
            if seal != self._seal(body) or body["path"] != str(self.root) or body["uid"] != os.geteuid():
                return {}
            return dict(body["items"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return {}

    def _settled(self, tables: Raw) -> bool:
        """Whether the settings alone are agreed to; the agents' files are nothing that hub reads."""
        found = items(tables)
        if self._once is not None and agreed(found, self._once):
            return True
        return agreed(found, self.known())

    def _write(self, made: Digests) -> None:
        with coded_errors(self.record):
            self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        make_private_dir(self.record.parent)
        body = {"v": 1, "path": str(self.root), "uid": os.geteuid(), "items": dict(made)}
        write_atomic(self.record, json.dumps({"body": body, "seal": self._seal(body)}).encode())

    def _seal(self, body: object) -> str:
        import hmac  # it loads OpenSSL, and a project without such settings needs none

        key = load_or_create_key("trust", self.state)
        return hmac.new(key, json.dumps(body, sort_keys=True).encode(), "sha256").hexdigest()


def _plain(key: str) -> str:
    """Of a file, whether the checkout or the commit has it."""
    return key.removesuffix("@HEAD")
