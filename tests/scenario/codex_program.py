"""A program in place of Codex: answers each turn of Hermes at once and says how much it took."""

import json
import sys

ANSWER = "All is done."
TOKENS = {"inputTokens": 1000, "cachedInputTokens": 0, "outputTokens": 50,
          "reasoningOutputTokens": 0, "totalTokens": 1050}  # fmt: skip


def say(**message: object) -> None:
    """Write one message."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def notify(method: str, **params: object) -> None:
    """Tell of something in the turn."""
    say(method=method, params={"threadId": "thread", "turnId": "turn", **params})


def main() -> None:
    """Serve until the input ends."""
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked:
            continue
        say(id=asked["id"], result={"thread": {"id": "thread"}, "turn": {"id": "turn"}})
        if asked["method"] == "turn/start":
            item = {"id": "1", "type": "agentMessage", "text": ANSWER}
            notify("item/completed", item=item)
            notify("thread/tokenUsage/updated", tokenUsage={"last": TOKENS, "total": TOKENS})
            notify("turn/completed", turn={"id": "turn", "status": "completed"})


if __name__ == "__main__":
    main()
