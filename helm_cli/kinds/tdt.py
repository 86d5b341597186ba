"""How a TDT tool and the arguments of a call become the one request to TDT, and what its answer asks of a person."""

from typing import Final

from helm_cli.kinds import mcp
from helm_cli.model.envelope import JSON, Envelope
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Extension, Operation
from helm_cli.model.jsontext import Json
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Brain

# Which tool tells what became of a write that may or may not have been applied, as TDT's own descriptions say.
_OUTCOMES: Final = {
    **dict.fromkeys(
        ("tdt_project_relink_apply", "tdt_project_remove_apply", "tdt_project_restore_apply"),
        "tdt_project_operation_status",
    ),
    "tdt_project_cleanup_apply": "tdt_project_operation_status",
    "tdt_project_add": "tdt_project_list",
    "tdt_project_create": "tdt_project_list",
    "tdt_project_propose": "tdt_candidate_list",
    "tdt_brain_names_apply": "tdt_brain_names_status",
    "tdt_brain_repair_apply": "tdt_brain_repair_status",
    "tdt_candidate_review": "tdt_candidate_review_status",
    "tdt_constitution_save": "tdt_constitution_read",
    "tdt_knowledge_save": "tdt_brain_search",
    "tdt_note_save": "tdt_note_list",
    "tdt_recovery_apply": "tdt_recovery_preview",
    **dict.fromkeys(
        ("tdt_stack_install_apply", "tdt_stack_update_apply", "tdt_stack_remove_apply"), "tdt_recovery_preview"
    ),
    **dict.fromkeys(("tdt_skill_propose", "tdt_skill_review"), "tdt_skill_proposals"),
    **dict.fromkeys(("tdt_ui_present", "tdt_ui_ack", "tdt_ui_close", "tdt_ui_cleanup"), "tdt_ui_status"),
    **dict.fromkeys(
        (f"tdt_reminder_{verb}" for verb in ("create", "edit", "snooze", "complete", "cancel", "claim_due", "ack")),
        "tdt_reminder_list",
    ),
}


def plan(
    extension: Extension,
    connection: Connection,
    operation: Operation,
    arguments: dict[str, Json],
    target: Brain,
) -> Plan:
    """The tool of this name with the arguments as they were given (contract, Writes; design, section 8).

    `request` is `{"tool", "arguments"}`. That of a write is `open`: whether the tool takes a `user_instruction`, which
    helm fills in, TDT tells. HelmError "refused" where one is among the arguments, where a write meets the profile
    read-only, and where the arguments are over 1 MiB of JSON or no JSON.
    """
    if "user_instruction" in arguments:
        raise HelmError(
            "refused", f"{operation.name} takes no user_instruction from a caller: helm fills it in; leave it out"
        )
    writes = operation.effect != "read"
    if writes and target.profile != "everyday":
        raise HelmError(
            "refused",
            f"{operation.name} writes, and this workspace's TDT may only be read: a person can change that with"
            " helm workspace set --tdt-profile everyday",
        )
    mcp.check(operation, arguments)
    return Plan(
        kind="tdt-mcp",
        effect=operation.effect,
        extension=extension.id,
        connection=connection.id,
        operation=operation.name,
        group=None,
        profile=None,
        driver="tdt",
        shape=JSON,
        title="Confirm tool call",
        verb="Call",
        noun="tool",
        request={"tool": operation.name, "arguments": arguments},
        open=writes,
    )


def schema(connection: Connection, operation: Operation) -> dict[str, Json]:
    """Any object: what a tool takes, only TDT knows."""
    return {"type": "object"}


def remarks(operation: str, envelope: Envelope) -> list[str]:
    """What a person has to know of TDT's answer beside its data: one sentence each.

    Where TDT asks to look what became of a failed operation, the tool that tells is named (contract, Results).
    """
    error, coverage, told = envelope.get("error"), envelope.get("coverage"), []
    if isinstance(error, dict) and error.get("retry") == "inspect_outcome":
        way = f" with {_OUTCOMES[operation]}" if operation in _OUTCOMES else ""
        told.append(f"look what became of it{way} before you repeat {operation}")
    if isinstance(coverage, dict):
        told += ["TDT did not tell all of it"] if coverage.get("truncated") is True else []
        told += [f"left out: {omission}" for omission in _texts(coverage.get("omissions"))]
    return told + [f"TDT warns: {warning}" for warning in _texts(envelope.get("warnings"))]


def _texts(value: Json) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
