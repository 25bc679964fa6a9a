"""Does the API answer as its OpenAPI description says, whatever it is asked?"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import BaseSchema
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.core.result import Ok

from tests.surface.web_site import Served, serving

pytestmark = pytest.mark.slow

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
ASKED = int(os.environ.get("API_REQUESTS", "12"))
"""Requests for each path; API_REQUESTS=500 makes a campaign of it."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place = tmp_path_factory.mktemp("schema")
    with serving(str(place / "ledger.db"), place) as served:
        for number in range(3):
            served.talk(f"key {number}", "hello", source="cli" if number else "telegram")
        yield served


@pytest.fixture(scope="module")
def api(site: Served) -> BaseSchema:
    return schemathesis.openapi.from_url(
        f"{site.origin}/v1/openapi.json", headers={"Authorization": f"Bearer {site.token}"}
    )


Look = Callable[[Any], None]


def every(api: BaseSchema, most: int) -> Iterator[Callable[[Look], None]]:
    """For each path and method, something that tries a function on requests to it."""
    for found in api.exclude(path="/v1/events").get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()

        def attempt(look: Look, operation: Any = operation) -> None:
            trying = settings(
                max_examples=most,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            trying(given(case=operation.as_strategy())(look))()

        yield attempt


def test_no_answer_is_undocumented(api: BaseSchema, site: Served) -> None:
    token = {"Authorization": f"Bearer {site.token}"}

    def look(case: Any) -> None:
        case.call_and_validate(headers=token, checks=CHECKS)

    tried = [attempt(look) for attempt in every(api, ASKED)]
    assert len(tried) > 15


def test_no_path_but_that_of_health_answers_without_a_token(api: BaseSchema) -> None:
    def look(case: Any) -> None:
        reply = case.call(headers={"Authorization": "Bearer wrong"})
        assert reply.status_code == (200 if case.path == "/healthz" else 401)
        case.validate_response(reply, checks=CHECKS)

    for attempt in every(api, 1):
        attempt(look)


def test_every_path_of_the_api_is_described(site: Served) -> None:
    described = site.get("/v1/openapi.json").json()
    paths, parts = described["paths"], described["components"]["schemas"]
    for path in (
        *("/healthz", "/metrics", "/v1/sessions", "/v1/sessions/{id}", "/v1/sessions/{id}/why"),
        *("/v1/activity", "/v1/plan", "/v1/apply", "/v1/undo", "/v1/events"),
    ):
        assert path in paths
    told = [
        method["responses"]["200"]["content"] for each in paths.values() for method in each.values()
    ]
    names = [one["application/json"]["schema"]["$ref"] for one in told if "application/json" in one]
    assert len(names) > 15
    assert all(parts[name.rpartition("/")[2]]["required"] for name in names)
    assert all("properties" in each for each in parts.values() if each.get("type") == "object")
