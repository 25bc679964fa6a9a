"""Do people and logs see a command without its secrets?"""

from __future__ import annotations

import pytest

from sexton.model.masking import LONGEST, masked

SECRET = "hunter2hunter2"


@pytest.mark.parametrize(
    "arguments",
    [
        ["serve", f"--token={SECRET}"],
        ["serve", "--token", SECRET],
        ["serve", "--api-key", SECRET, "--port", "80"],
        ["serve", f"--github-token:{SECRET}"],
        ["env", f"OPENAI_API_KEY={SECRET}", "run"],
        ["env", f"DB_PASSWORD={SECRET} with a space", "run"],
        ["curl", "-H", f"Authorization: Bearer {SECRET}", "http://x"],
        ["curl", "-H", f"X-Api-Key: {SECRET}"],
        ["curl", "--header", f"Cookie: id={SECRET}"],
        ["psql", f"postgresql://me:{SECRET}@host/db"],
        ["sh", "-c", f"TOKEN={SECRET} exec thing"],
        ["sh", "-c", f"curl 'http://x/?access_token={SECRET}&y=1'"],
        ["tool", f"sk-{SECRET}"],
        ["tool", f"ghp_{SECRET}"],
    ],
)
def test_what_looks_like_a_secret_is_not_shown(arguments: list[str]) -> None:
    shown = masked(arguments)
    assert SECRET not in shown
    assert "***" in shown
    assert shown.startswith(arguments[0])


def test_everything_else_is_shown_as_it_is() -> None:
    plain = ["python3", "-m", "http.server", "8765", "--directory", "/srv/keys", "a=b", "x:y"]
    assert masked(plain) == " ".join(plain)
    assert masked(["serve", "--token", SECRET, "--port", "80"]) == "serve --token *** --port 80"


def test_a_long_command_is_cut() -> None:
    assert len(masked(["x" * 10_000])) == LONGEST
