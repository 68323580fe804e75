"""What goes wrong. Every message is one line that names the field and the fix."""

from __future__ import annotations


class ScenarioError(ValueError):
    """A scenario, or an argument beside it, makes no sense."""

    field: str
    """The field to mend, such as ``path.rate``; empty if the text as a whole is no scenario."""

    line: int | None
    """The line of the scenario's text, counted from one, if it came as text or from a file."""

    def __init__(self, message: str, field: str = "", line: int | None = None) -> None:
        super().__init__(message)
        self.field = field
        self.line = line


class EngineError(RuntimeError):
    """A run failed for another reason than its scenario."""
