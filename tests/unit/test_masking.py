"""Do people and logs see a command without its secrets?"""

from __future__ import annotations

import pytest

from sexton.processes.masking import LONGEST, masked

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
        ["mysql", "-uroot", f"-p{SECRET}"],
        ["mysqldump", "--all-databases", f"-p{SECRET}"],
        ["sshpass", "-p", SECRET, "ssh", "host"],
        ["redis-cli", "-a", SECRET],
        ["curl", "-u", f"bob:{SECRET}", "http://x"],
        ["curl", f"--user=bob:{SECRET}", "http://x"],
        ["bash", "-c", f'export API_KEY="{SECRET} x"; run'],
        ["bash", "-c", f"run --token {SECRET}"],
        ["bash", "-c", f"run --token '{SECRET} {SECRET}' x"],
        ["node", "x.js", f'{{"api_key":"{SECRET}","a":1}}'],
        ["node", "x.js", f'{{"api_key": "{SECRET}"}}'],
        ["sh", "-c", f'curl -d "{{\\"secret\\": \\"{SECRET}\\"}}" x'],
        ["run", "--pat", SECRET],
        ["run", "--pwd", SECRET],
        ["run", "--token", "--token", SECRET],
        ["run", f"--key {SECRET}"],
        ["psql", f"postgresql://me:a/{SECRET}@host/db"],
        ["git", "clone", f"https://{SECRET}abcdefgh@host/x"],
        ["x", f"https://host/?sig={SECRET}&y=1"],
        ["docker", "run", "-e", f"DB_PASS={SECRET}"],
        ["run", f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{SECRET}"],
        ["curl", "-H", '"Authorization:', "Bearer", f'{SECRET}"', "http://x"],
        ["run", "API_KEY='" + SECRET, SECRET + "'"],
        [f'true -H "Authorization: Bearer {SECRET}"'],
        [f"run --password={SECRET} --port 80"],
    ],
)
def test_what_looks_like_a_secret_is_not_shown(arguments: list[str]) -> None:
    shown = masked(arguments)
    assert SECRET not in shown
    assert "***" in shown
    assert shown.startswith(arguments[0].split()[0])


def test_everything_else_is_shown_as_it_is() -> None:
    plain = ["python3", "-m", "http.server", "8765", "--directory", "/srv/keys", "a=b", "x:y"]
    assert masked(plain) == " ".join(plain)
    others = ["grep", "--path", "x", "--pattern=y", "-p", "80", "--signal", "9", "http://h:80/x"]
    assert masked(others) == " ".join(others)
    assert masked(["serve", "--token", SECRET, "--port", "80"]) == "serve --token *** --port 80"


def test_a_long_command_is_cut() -> None:
    assert len(masked(["x" * 10_000])) == LONGEST


@pytest.mark.parametrize(
    "word",
    ["token", "a-", "key=", "'", '"', "-p ", "://", "\0", "\\", "x-", "x-key", "x-key--p", "eyJ-",
     "mysql ", "redis-cli ", "-u a", "bearer ", "://a:"],
)  # fmt: skip
def test_no_line_takes_long_to_be_masked(word: str) -> None:
    """What is looked for from every place takes hours here, which the limit of a test ends."""
    assert len(masked([word * 100_000])) <= LONGEST
    assert len(masked([word] * 100_000)) <= LONGEST
