"""What is a keeper ready to do at the end of sessions, by its own settings?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sexton.core.machine_ports import Clock
from sexton.finalizers.effects.chat import ChatPlan
from sexton.finalizers.effects.command_effect import Command, CommandPlan
from sexton.finalizers.effects.entry_point import EntryPoint, EntryPointPlan
from sexton.finalizers.effects.memory_effect import Memory, MemoryPlan
from sexton.finalizers.effects.webhook import Webhook, WebhookPlan
from sexton.finalizers.job import EffectFailed
from sexton.finalizers.policy import Rate, RetryPolicy
from sexton.finalizers.runner import Duty
from sexton.settings.settings_values import FinalizerKind, FinalizerSetting, Settings


def duties(settings: Settings, clock: Clock, environ: Mapping[str, str]) -> dict[str, Duty]:
    """Every finalizer of the settings, by its name."""
    return {
        each.name: Duty(
            effect=_effect(each, clock, environ),
            concurrency=each.concurrency,
            rate=None if each.per_minute is None else Rate(count=each.per_minute),
            daily_calls=each.daily_calls,
            retry=RetryPolicy(attempts=each.attempts),
        )
        for each in settings.finalizers
    }


def unready(
    settings: Settings, clock: Clock, environ: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The finalizers whose work can not even be begun on this machine, and why."""
    for each in settings.finalizers:
        try:
            _effect(each, clock, environ).check()
        except EffectFailed as trouble:
            yield each.name, str(trouble)


def _effect(
    each: FinalizerSetting, clock: Clock, environ: Mapping[str, str]
) -> Memory | Command | Webhook | EntryPoint:
    match each.kind:
        case FinalizerKind.MEMORY:
            return _memory(each, clock, environ)
        case FinalizerKind.COMMAND:
            cwd = None if each.cwd is None else str(each.cwd)
            plan = CommandPlan(command=each.command, timeout=each.timeout, cwd=cwd)
            return Command(plan, clock, environ)
        case FinalizerKind.WEBHOOK:
            assert each.url
            hook = WebhookPlan(url=each.url, secret_env=each.secret_env, timeout=each.timeout)
            return Webhook(hook, clock, environ)
        case FinalizerKind.PYTHON:
            assert each.entry_point
            return EntryPoint(EntryPointPlan(name=each.entry_point))


def _memory(each: FinalizerSetting, clock: Clock, environ: Mapping[str, str]) -> Memory:
    assert each.base_url
    assert each.model
    assert each.file
    assert each.context_tokens
    chat = ChatPlan(
        base_url=each.base_url,
        model=each.model,
        api_key_env=each.api_key_env,
        timeout=each.timeout,
    )
    plan = MemoryPlan(chat=chat, file=each.file, context_tokens=each.context_tokens)
    return Memory(plan, clock, environ)
