"""The exceptions. Every message is one line that names the field and the fix."""

from __future__ import annotations


class ScenarioError(ValueError):
    """A scenario, or another argument, is invalid."""

    field: str
    """The field at fault, such as ``path.rate``; empty if the text as a whole is not a scenario."""

    line: int | None
    """The line of the scenario's text, counted from one, if it came as text or from a file."""

    def __init__(self, message: str, field: str = "", line: int | None = None) -> None:
        super().__init__(message)
        self.field = field
        self.line = line


class EngineError(RuntimeError):
    """A run failed, though its scenario is valid."""
