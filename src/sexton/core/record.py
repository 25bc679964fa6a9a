"""A frozen value with named fields, cheap to declare.

An agent pays for every class of ours when it starts, so a class of records is declared without
generating code: its constructor is compiled when the first one is made. Otherwise it is a
frozen dataclass with slots, and the functions of `dataclasses` take it for one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, overload

from sexton.core.setting import NOTHING, Setting, setting

T = TypeVar("T")


class Made:
    """A default that is made anew for each record."""

    __slots__ = ("by",)

    def __init__(self, by: Callable[[], Any]) -> None:
        self.by = by


def made(by: Callable[[], T]) -> T:
    """The default of a field, made anew for each record."""
    value: Any = Made(by)
    default: T = value
    return default


@overload
def record(cls: type[T], /) -> type[T]: ...
@overload
def record(*, kw_only: bool = True) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(setting,))
def record(cls: type[T] | None = None, /, *, kw_only: bool = True) -> Any:
    """Make a class one of records; its fields are given by name, unless told otherwise."""
    if cls is None:
        return lambda declared: _declare(declared, kw_only)
    return _declare(cls, kw_only)


def names(kind: Any) -> tuple[str, ...]:
    """The fields of a class of records."""
    found: tuple[str, ...] = kind.__slots__
    return found


def settings_of(kind: Any) -> Mapping[str, Setting]:
    """The fields of a class of records that people can set, with their declarations."""
    found: Mapping[str, Setting] = kind.__settings__
    return found


def as_dict(value: object) -> dict[str, Any]:
    """The fields of a record by name."""
    return {name: getattr(value, name) for name in names(type(value))}


def replace(value: T, **changes: Any) -> T:
    """A record like another one, but for some fields."""
    return type(value)(**(as_dict(value) | changes))


def _declare(cls: Any, kw_only: bool) -> Any:
    slots = tuple(cls.__annotations__)
    body = {name: value for name, value in vars(cls).items() if name not in _LEFT}
    defaults = {name: body.pop(name) for name in slots if name in body}
    declared = {name: each for name, each in defaults.items() if isinstance(each, Setting)}
    for name, each in declared.items():
        defaults[name] = each.default
        if each.default is NOTHING:
            del defaults[name]
    values = attrgetter(*slots)

    def initialise(self: Any, *given: Any, **named: Any) -> None:
        constructor = _compiled(kind, defaults, kw_only)
        kind.__init__ = constructor
        constructor(self, *given, **named)

    def equal(self: Any, other: Any) -> Any:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    kind: Any = type(cls)(
        cls.__name__,
        cls.__bases__,
        {
            "__eq__": equal,
            "__hash__": lambda self: hash(values(self)),
            "__repr__": _shown,
            "__setattr__": _refuse,
            "__delattr__": _refuse,
            "__getstate__": as_dict,
            "__setstate__": _restore,
        }
        | body
        | {
            "__slots__": slots,
            "__qualname__": cls.__qualname__,
            "__match_args__": () if kw_only else slots,
            "__init__": initialise,
            "__dataclass_fields__": _Fields(defaults, kw_only),
            "__settings__": declared,
        },
    )
    return kind


_LEFT = frozenset({"__dict__", "__weakref__"})


def _compiled(kind: Any, defaults: Mapping[str, Any], kw_only: bool) -> Any:
    """A constructor that sets each slot by its own descriptor, the fastest way there is."""
    space: dict[str, Any] = {"Made": Made}
    head, body = ["self", "*"] if kw_only else ["self"], []
    for name in kind.__slots__:
        space[f"set_{name}"] = getattr(kind, name).__set__
        value = name
        if name in defaults:
            space[f"default_{name}"] = default = defaults[name]
            head.append(f"{name}=default_{name}")
            if isinstance(default, Made):
                value = f"{name}.by() if {name} is default_{name} else {name}"
        else:
            head.append(name)
        body.append(f"    set_{name}(self, {value})\n")
    exec(f"def __init__({', '.join(head)}):\n{''.join(body)}", space)  # noqa: S102  # names of ours
    space["__init__"].__qualname__ = f"{kind.__qualname__}.__init__"
    return space["__init__"]


class _Fields:
    """What `dataclasses` asks a class for, made when it asks."""

    __slots__ = ("_defaults", "_known", "_kw_only")

    def __init__(self, defaults: Mapping[str, Any], kw_only: bool) -> None:
        self._defaults = defaults
        self._kw_only = kw_only
        self._known: Any = None

    def __get__(self, _: object, kind: type[Any]) -> Any:
        if self._known is None:
            from dataclasses import field, make_dataclass  # noqa: PLC0415  # costs a start 10 ms

            def declared(name: str) -> tuple[Any, ...]:
                if name not in self._defaults:
                    return name, kind.__annotations__[name]
                default = self._defaults[name]
                given: dict[str, Any] = {"default": default}
                if isinstance(default, Made):
                    given = {"default_factory": default.by}
                return name, kind.__annotations__[name], field(**given)

            fields = [declared(name) for name in kind.__slots__]
            shadow: Any = make_dataclass(kind.__name__, fields, kw_only=self._kw_only)
            self._known = shadow.__dataclass_fields__
        return self._known


def _shown(self: Any) -> str:
    fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
    return f"{type(self).__qualname__}({fields})"


def _refuse(self: Any, name: str, *_: object) -> None:
    raise AttributeError(f"a {type(self).__qualname__} is frozen: its {name} can not be changed")


def _restore(self: Any, state: dict[str, Any]) -> None:
    for name, value in state.items():
        object.__setattr__(self, name, value)
