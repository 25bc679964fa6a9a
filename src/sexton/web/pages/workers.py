"""Which processes hold sessions, on which hosts, and do they live?"""

from __future__ import annotations

from starlette.responses import Response

from sexton.core.wording import counted
from sexton.operations.questions.worker_questions import Host, turns_of, workers
from sexton.web.desk import Desk
from sexton.web.pages.showing import show


def workers_page(desk: Desk) -> Response:
    """Every worker under its host, this machine first."""
    found = workers(desk.asker)
    told = [
        {
            "name": host["host"],
            "says": _says(host),
            "workers": [
                {**each, "turns": turns_of(each), "because": "; ".join(each["because"])}
                for each in found["items"]
                if each["host"] == host["host"]
            ],
        }
        for host in found["hosts"]
    ]
    return show(desk, "workers.html", page="workers", hosts=told)


def _says(host: Host) -> str:
    words = [
        counted(host["workers"], "worker"),
        counted(host["sessions"], "session"),
        f"{host['dead']} dead" if host["dead"] else "",
        "this machine" if host["is_here"] else "",
    ]
    return ", ".join(filter(None, words))
