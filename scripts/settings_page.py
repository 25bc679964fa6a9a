"""Write docs/reference/settings.md: every setting with its meaning, default and when to change it.

`--check` changes nothing and fails if the page is not what the declarations say.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from sexton.core.setting import NOTHING
from sexton.settings.environment import VARIABLES
from sexton.settings.sections import FILE, MAPPINGS
from sexton.settings.shapes import Field, Items, Pairs, Section

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "settings.md"

INTRODUCTION = """# Settings

<!-- Written by scripts/settings_page.py from the declarations of the settings. -->

Without a settings file every setting has its default. `sexton.yaml` changes what it names:

```yaml
homes:
  - path: ~/.hermes
reset:
  mode: idle
  idle_minutes: 720
  rules:
    - sources: [telegram]
      chat_types: [group]
      idle_minutes: 120
finalizers:
  - name: memories
    kind: memory
    base_url: http://127.0.0.1:8080/v1
    model: some-model
budgets:
  - scope: session
    tokens: 100000
    action: kill
    sources: [cron]
notify:
  urls_env: NOTIFY_URLS
retention:
  classes:
    - sources: [cron]
      keep_last: 10
      rows: archive
      rows_max_age: 30d
```

An environment variable overrides a single setting, as in `SEXTON_RESET__MODE=idle`: the section and
the setting in capitals, with two underscores between them. It stands beside the setting below.
Lists of homes, rules, finalizers, budgets and classes can only be set in the file, and so can
mappings.

A duration is written as `90s`, `15m`, `24h`, `7d` or `2w`. In sizes, KB MB GB TB are thousands and
KiB MiB GiB TiB are 1024s.

`sexton config check` finds every mistake and names its line. `sexton config show` prints what the
file and the variables come to. Without a file, a ledger keeps the policies that it was given last.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One setting on the page, by its dotted name."""

    name: str
    field: Field

    @property
    def facts(self) -> str:
        """What can be written, the default, and the variable."""
        parts = [f"*{self.field.shape.words}*", f"default: {self._default()}"]
        variable = {".".join(path): name for name, path in VARIABLES.items()}.get(self.name)
        return " · ".join([*parts, f"`{variable}`"] if variable else parts)

    def _default(self) -> str:
        declared, default = self.field.declared, self.field.default
        if self.field.is_required or declared.needed:
            kinds = " and ".join(declared.belongs)
            return f"none, it is required{f' for kind {kinds}' if kinds else ''}"
        if declared.otherwise or declared.match:
            return declared.otherwise or "any"
        if default is not NOTHING:
            return _written(default)
        usual = [_written(self.field.shape.show(declared.default))]
        usual += [f"for kind {kind} {_written(each)}" for kind, each in self.field.usual.items()]
        return ", ".join(usual)

    @property
    def paragraph(self) -> str:
        """Meaning, default and when to change it."""
        kinds = " or ".join(self.field.declared.belongs)
        return (f"For kind {kinds}. " if kinds else "") + self.field.declared.text


def entries() -> Iterator[Entry]:
    """Every setting, in the order of the file; what entries of a list inherit is left out."""
    for name, field in FILE.fields.items():
        if name in MAPPINGS:
            yield from _below(name, MAPPINGS[name])
        else:
            yield Entry(name=name, field=field)
            yield from _inside(name, field)


def _below(path: str, section: Section) -> Iterator[Entry]:
    for name, field in section.fields.items():
        yield Entry(name=f"{path}.{name}", field=field)
        yield from _inside(f"{path}.{name}", field)


def _inside(path: str, field: Field) -> Iterator[Entry]:
    match field.shape:
        case Items(item=Section() as entry):
            general = MAPPINGS[path.partition(".")[0]].fields if "." in path else {}
            own = {name: each for name, each in entry.fields.items() if name not in general}
            yield from _below(f"{path}[]", Section(entry.about, own))
        case Pairs(value=Section() as entry):
            yield from _below(f"{path}.*", entry)


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    section = ""
    for entry in entries():
        head = entry.name.partition(".")[0].partition("[")[0]
        if head != section:
            section = head
            parts.append(f"## {section}\n\n{_about(section)}\n")
        parts.append(f"### `{entry.name}`\n\n{entry.facts}\n\n{entry.paragraph}\n")
        if entry.name in INHERITING:
            parts.append(f"{INHERITING[entry.name]}\n")
    return "\n".join(parts)


INHERITING = {
    "reset.rules": "A rule can hold every setting of `reset` but `rules`, and inherits those that "
    "it leaves out.",
    "retention.classes": "A class can hold every setting of `retention` but `classes` and "
    "`allow_remove_all`, and inherits those that it leaves out.",
}


def _about(section: str) -> str:
    if section in MAPPINGS:
        return MAPPINGS[section].about
    match FILE.fields[section].shape:
        case Items(item=Section(about=about)):
            return f"A list. Each entry: {about[0].lower()}{about[1:]}"
        case _:
            raise AssertionError(section)


def _written(value: object) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=2**31).removesuffix("...\n")
    return f"`{text.strip()}`"


def main(arguments: list[str]) -> int:
    """Write the page, or check it."""
    wanted = page()
    if "--check" not in arguments:
        PAGE.write_text(wanted, encoding="utf-8")
        return 0
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == wanted:
        return 0
    sys.stderr.write(f"{PAGE.relative_to(ROOT)} is stale: run {Path(__file__).name}\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
