"""Every form that state.db has had: one step for each version, never changed once it was released."""

from typing import Final

_FIRST: Final = (
    "CREATE TABLE workspaces (path TEXT PRIMARY KEY, registered_at REAL NOT NULL) WITHOUT ROWID",
    "CREATE TABLE person (only_row INTEGER PRIMARY KEY CHECK (only_row = 1))",
    "CREATE TABLE targets (account TEXT PRIMARY KEY, digest TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE approvals (
        workspace TEXT NOT NULL, extension TEXT NOT NULL, folder TEXT NOT NULL, digest TEXT NOT NULL,
        enabled INTEGER NOT NULL, approved_at REAL NOT NULL, approved_by TEXT NOT NULL, stamps TEXT NOT NULL,
        PRIMARY KEY (workspace, extension)
    )""",
    "CREATE INDEX approvals_digest ON approvals (digest)",
    """CREATE TABLE contents (
        digest TEXT NOT NULL, path TEXT NOT NULL, sum TEXT NOT NULL, PRIMARY KEY (digest, path)
    ) WITHOUT ROWID""",
    "CREATE INDEX contents_sum ON contents (sum)",
    "CREATE TABLE copies (sum TEXT PRIMARY KEY, data BLOB NOT NULL)",
    """CREATE TABLE confirmations (
        id TEXT PRIMARY KEY, what TEXT NOT NULL, workspace TEXT NOT NULL, extension TEXT NOT NULL,
        connection TEXT NOT NULL, operation TEXT NOT NULL, binding TEXT NOT NULL,
        created REAL NOT NULL, expires REAL NOT NULL, state TEXT NOT NULL, asked_by TEXT NOT NULL,
        listed INTEGER NOT NULL, awaited INTEGER NOT NULL, used_at REAL, used_by TEXT,
        subject TEXT, outcome TEXT
    )""",
    "CREATE TABLE tokens (sum TEXT PRIMARY KEY, confirmation TEXT NOT NULL) WITHOUT ROWID",
    "CREATE INDEX tokens_confirmation ON tokens (confirmation)",
    """CREATE TABLE calls (
        id INTEGER PRIMARY KEY, at REAL NOT NULL, workspace TEXT NOT NULL, extension TEXT NOT NULL,
        connection TEXT NOT NULL, operation TEXT NOT NULL, arguments_digest TEXT NOT NULL,
        outcome TEXT NOT NULL, ms INTEGER NOT NULL, counted INTEGER NOT NULL
    )""",
    "CREATE INDEX calls_counted ON calls (workspace, extension, at) WHERE counted = 1",
)

_SECOND: Final = (
    """CREATE TABLE signins (
        service TEXT PRIMARY KEY, client_id TEXT NOT NULL, authorize_url TEXT NOT NULL, token_url TEXT NOT NULL,
        scopes TEXT NOT NULL, asked TEXT NOT NULL, issuer TEXT, place TEXT NOT NULL, signed_in_at REAL NOT NULL,
        expires REAL, life REAL, refreshable INTEGER NOT NULL, ended TEXT
    ) WITHOUT ROWID""",
    """CREATE TABLE projects (
        workspace TEXT NOT NULL, id TEXT NOT NULL, path TEXT NOT NULL, added_at REAL NOT NULL,
        PRIMARY KEY (workspace, id)
    ) WITHOUT ROWID""",
    "ALTER TABLE workspaces ADD COLUMN tdt_profile TEXT NOT NULL DEFAULT 'read-only'",
    """CREATE TABLE tools (
        workspace TEXT NOT NULL, extension TEXT NOT NULL, connection TEXT NOT NULL, name TEXT NOT NULL,
        definition TEXT NOT NULL, PRIMARY KEY (workspace, extension, connection, name)
    ) WITHOUT ROWID""",
    "ALTER TABLE calls ADD COLUMN asked_by TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE calls ADD COLUMN arguments TEXT",
)

_THIRD: Final = (
    """CREATE TABLE bindings (
        workspace TEXT NOT NULL, extension TEXT NOT NULL, tool TEXT NOT NULL, digest TEXT NOT NULL,
        service TEXT NOT NULL, method TEXT NOT NULL, path TEXT NOT NULL, body TEXT, bound_at REAL NOT NULL,
        PRIMARY KEY (workspace, extension, tool)
    ) WITHOUT ROWID""",
    """CREATE TABLE settings (
        workspace TEXT NOT NULL, extension TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (workspace, extension, key)
    ) WITHOUT ROWID""",
    """CREATE TABLE approvers (
        workspace TEXT NOT NULL, extension TEXT NOT NULL, role TEXT NOT NULL, user TEXT NOT NULL,
        PRIMARY KEY (workspace, extension, role, user)
    ) WITHOUT ROWID""",
    """CREATE TABLE runs (
        id TEXT PRIMARY KEY, workspace TEXT NOT NULL, extension TEXT NOT NULL, digest TEXT NOT NULL,
        trigger TEXT NOT NULL, form TEXT NOT NULL, started_at REAL NOT NULL,
        asked_by TEXT NOT NULL, tokens INTEGER NOT NULL
    )""",
    """CREATE TABLE usage (
        workspace TEXT NOT NULL, extension TEXT NOT NULL, month TEXT NOT NULL, tokens INTEGER NOT NULL,
        PRIMARY KEY (workspace, extension, month)
    ) WITHOUT ROWID""",
    """CREATE TABLE budgets (
        workspace TEXT NOT NULL, extension TEXT NOT NULL, monthly_tokens INTEGER NOT NULL,
        PRIMARY KEY (workspace, extension)
    ) WITHOUT ROWID""",
    """CREATE TABLE schedules (
        workspace TEXT NOT NULL, extension TEXT NOT NULL, cron TEXT NOT NULL, last REAL NOT NULL,
        PRIMARY KEY (workspace, extension, cron)
    ) WITHOUT ROWID""",
)

_FOURTH: Final = (
    "CREATE TABLE home (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), id TEXT NOT NULL)",
    "INSERT INTO home VALUES (1, lower(hex(randomblob(16))))",
    "ALTER TABLE signins ADD COLUMN ids TEXT NOT NULL DEFAULT ''",
)

_FIFTH: Final = (
    """CREATE TABLE sent (
        draft TEXT PRIMARY KEY, state TEXT NOT NULL, via TEXT NOT NULL, digest TEXT NOT NULL, at TEXT NOT NULL
    ) WITHOUT ROWID""",
)

# Step n leads from version n to version n + 1 (PRAGMA user_version).
STEPS: Final[tuple[tuple[str, ...], ...]] = (_FIRST, _SECOND, _THIRD, _FOURTH, _FIFTH)
