"""Which sessions are there, and why are they as they are?"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from sexton.web.desk import Desk


def router(desk: Desk) -> APIRouter:
    """The questions about sessions."""
    routes = APIRouter(prefix="/v1", tags=["sessions"])

    @routes.get("/sessions/{id}/why")
    def why(id: str) -> dict[str, Any]:
        """Why a session is as it is, and what would change it."""
        explanation = desk.house.why(id)
        return {
            "answers": [
                {"question": each.question, "answer": each.answer, "detail": each.detail}
                for each in explanation.answers
            ]
        }

    return routes
