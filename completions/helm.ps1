# What completes helm in PowerShell. It is made from helm's own commands: helm completion powershell
# The words of helm stand here. For names of yours it asks the program, and evaluates nothing of the answer.

Register-ArgumentCompleter -Native -CommandName @('helm', 'helm-cli') -ScriptBlock {
    param($word, $line, $cursor)

    # By the path of a command: the commands under it, and its options. `--output,-o` is one with two names, and one with
    # a + may be given again. A description follows each.
    $commands = New-Object System.Collections.Hashtable ([System.StringComparer]::Ordinal)
    $options = New-Object System.Collections.Hashtable ([System.StringComparer]::Ordinal)
    # By the path of a command and an option of it, or the number of an argument: the kind of value.
    $places = New-Object System.Collections.Hashtable ([System.StringComparer]::Ordinal)
    $commands[''] = @(
        'call|Call one operation of a connection, or a batch of them.',
        'confirm|Decide about a write or an approval that waits for a person.',
        'db|Keep database profiles, and look into databases.',
        'service|Keep service profiles: a base URL, and a token or a sign-in.',
        'oauth|Sign in to services by OAuth2.',
        'mcp|Keep MCP server profiles, and serve approved operations to MCP clients.',
        'plugin|Review, approve and list extensions.',
        'draft|Review what plugins drafted, approve it and publish it.',
        'history|Show which extension called what, when, and how it ended.',
        'project|Register the folders that files connections may use as projects.',
        'workspace|Show or set what belongs to this workspace.',
        'agent|Keep connections warm in a background process.',
        'config|Take profiles to another machine, without their secrets.',
        'doctor|Check that everything helm needs is there and reachable.',
        'completion|Complete helm''s words and your names in bash, zsh, fish and PowerShell.',
        'demo|Show the whole way in a throw-away home.'
    )
    $commands['db'] = @(
        'add|Add a database profile; nothing is contacted, and a password goes to the credential store.',
        'edit|Change a database profile; what is not given stays, and so do the comments in its file.',
        'list|List the database profiles.',
        'show|Show a database profile, never its secret.',
        'remove|Remove a database profile and its password.',
        'test|Try a database profile: open it, and say what answered.',
        'tables|List the tables and views of a database.',
        'query|Run one statement, read-only.',
        'shell|Look into a database by hand.',
        'import|Take databases over from DATABASE_URL, pg_service.conf, .pgpass and .my.cnf.'
    )
    $commands['service'] = @(
        'add|Add a service profile; nothing is contacted, and its secret goes to the credential store.',
        'edit|Change a service profile; what is not given stays, and so do the comments in its file.',
        'list|List the service profiles.',
        'show|Show a service profile, never its secret.',
        'remove|Remove a service profile, its secret and its sign-in.',
        'test|Try a service profile: ask for its base URL, with its token, and say what answered.',
        'import|Take services over, with their tokens, from the files of gh and from a .netrc.'
    )
    $commands['oauth'] = @(
        'connect|Sign in to a service, for what the enabled extensions of the workspace declare.',
        'status|Show which services you are signed in to, for what, how long, and which extensions lack a scope.',
        'disconnect|End a sign-in: helm forgets its tokens. The service itself is not told.'
    )
    $commands['mcp'] = @(
        'add|Add an MCP server profile; nothing is started, and a token goes to the credential store.',
        'edit|Change an MCP server profile; what is not given stays, and so do the comments in its file.',
        'list|List the MCP server profiles.',
        'show|Show an MCP server profile, never its token.',
        'remove|Remove an MCP server profile and its token.',
        'test|Try an MCP server profile: start it or reach it, and say what answered.',
        'tools|List what an MCP server says of its tools; its hints are claims and prove nothing.',
        'serve|Serve the approved operations of a workspace to an MCP client, on standard input and output.',
        'import|Take MCP servers over from the configuration of Claude, Cursor or VS Code.'
    )
    $commands['plugin'] = @(
        'review|Show what an extension may do, and ask whether to approve it.',
        'list|List the approved extensions of the workspace.',
        'show|Show what was approved, from the copy that calls run from.',
        'enable|Let calls use an approved extension again.',
        'disable|Refuse every call of an extension until it is enabled again.',
        'forget|Take an approval back, with its settings; its folder is left alone.',
        'check|Ask the databases whether each declared query would work; none is run.',
        'validate|Say everything that is wrong with an extension, and what to look at twice.',
        'new|Write an extension to start from.',
        'schema|Print the JSON Schema of a manifest, the one that validates.',
        'reference|Show every field of a manifest and what it may hold; in a pipe as Markdown.',
        'run|Start a run of a team''s plugin: its instructions and tools for the host of a model.',
        'due|List the schedules that came due since this was last asked, each told once; for cron or a systemd timer.',
        'usage|Show the tokens that a plugin used this month (in UTC), count some, or set the team''s limit.',
        'approvers|Show who may approve the drafts of a plugin, or list the users of a role in place of those it had.',
        'settings|Show what a plugin asks its team for, fill one of it in, or take a value away.',
        'bind|Say where the calls of a plugin''s named tool go. It needs a person at the terminal.'
    )
    $commands['draft'] = @(
        'add|Put a draft into the review queue and print its id.',
        'list|List the review queue, and what left it.',
        'show|Show a draft in full, with what people said to it.',
        'approve|Read a draft and approve exactly what it says; never the person who asked for it.',
        'reject|Read a draft and reject it, or, as the one who asked for it, take it back.',
        'publish|Send an approved draft out, once, after you saw exactly what is sent.'
    )
    $commands['project'] = @(
        'add|Register a folder as a project of this workspace; a files connection with the root "project" can then be told it.',
        'list|List the projects of this workspace: those added here, and those that TDT has registered.',
        'show|Show a project: where it is, whether it is available, and where it is known from.',
        'remove|Forget a project; its folder is left alone.'
    )
    $commands['workspace'] = @(
        'show|Show the workspace: its folder, how it was found, and what is approved, registered and allowed in it.',
        'set|Set what belongs to the workspace.'
    )
    $commands['agent'] = @(
        'start|Start the agent of this home, detached from this terminal; nothing is changed where it runs already.',
        'stop|End the agent of this home and all that it started. Calls under way may finish for 10 seconds.',
        'status|Show whether an agent runs for this home, since when, and what it keeps. Without one the exit status is 10.'
    )
    $commands['config'] = @(
        'export|Write all profiles as one text, without any secret.',
        'import|Take profiles over that another machine exported.'
    )
    $options[''] = @(
        '--version,-V|Show the version and leave.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['call'] = @(
        '--plugin|The extension meant.',
        '--arg+|An argument; 20, true, null are typed.',
        '--arg-str+|An argument that is always text.',
        '--args|All arguments as one JSON object.',
        '--output,-o|auto, json, pretty, data, table, csv, tsv, ndjson, text (else auto).',
        '--wait|Wait until a write is confirmed in another terminal.',
        '--wait-rate|Wait instead of failing with rate_limited.',
        '--dry-run|Print what would be sent, and send nothing.',
        '--batch|Make the calls of a file of JSON Lines.',
        '--jobs|Reads side by side (1 to 64; else 1).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['confirm'] = @(
        '--list|List what waits, and decide nothing.',
        '--watch|Ask about each as it comes, until Ctrl-C.',
        '--decline|Decline it unseen: send nothing.',
        '--output,-o|auto, json, pretty, data, table, csv, tsv, ndjson, text (else auto).',
        '--workspace|Only what waits in it; else in every workspace.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['db'] = @(
        '--help,-h|Show this help and leave.'
    )
    $options['db add'] = @(
        '--engine|sqlite, postgres or mysql.',
        '--path|The SQLite file.',
        '--host|The server.',
        '--port|Its port (1 to 65535).',
        '--socket|Its Unix socket, in place of --host (Postgres: the folder of it).',
        '--database|The database on it.',
        '--user|Who signs in.',
        '--tls|disable, require or verify-full; else require off this machine.',
        '--tls-ca|PEM certificates of who may vouch for the server.',
        '--from-env|Take what a connection URL in this variable says.',
        '--password-stdin|Read the password from standard input.',
        '--force|Replace a profile of this name.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['db edit'] = @(
        '--path|The SQLite file.',
        '--host|The server.',
        '--port|Its port (1 to 65535).',
        '--socket|Its Unix socket, in place of --host (Postgres: the folder of it).',
        '--database|The database on it.',
        '--user|Who signs in.',
        '--tls|disable, require or verify-full; else require off this machine.',
        '--tls-ca|PEM certificates of who may vouch for the server.',
        '--from-env|Take what a connection URL in this variable says.',
        '--password-stdin|Read the password from standard input.',
        '--ask-password|Ask for a new password.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['db list'] = @(
        '--output,-o|auto or json (else auto).',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['db show'] = @(
        '--output,-o|auto or json (else auto).',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['db remove'] = @(
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['db test'] = @(
        '--output,-o|auto or json (else auto).',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['db tables'] = @(
        '--output,-o|auto, json, table, csv, tsv or ndjson (else auto).',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['db query'] = @(
        '--arg+|The next placeholder''s value; 20, true, null are typed.',
        '--output,-o|auto, json, pretty, data, table, csv, tsv, ndjson, text (else auto).',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['db shell'] = @(
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['db import'] = @(
        '--from-env+|Take the connection URL in this variable; may be repeated.',
        '--env-file+|Take the connection URLs in this .env file; may be repeated.',
        '--force|Replace profiles of the same names.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['service'] = @(
        '--help,-h|Show this help and leave.'
    )
    $options['service add'] = @(
        '--base-url|Where its paths begin; https, or http on 127.0.0.1 or localhost.',
        '--header|The header of the token; else Authorization.',
        '--format|bearer or raw; else bearer in Authorization, raw in any other header.',
        '--token-stdin|Read the token from standard input.',
        '--no-token|The service needs no token.',
        '--oauth2|It signs in by OAuth2.',
        '--client-id|The OAuth client that is yours.',
        '--client-secret-stdin|Read its secret from standard input; empty for a public client.',
        '--redirect-port|The port of the redirect URI; else the setting oauth.port (1 to 65535).',
        '--authorize-url|Only for extensions that cannot declare it.',
        '--token-url|Only for extensions that cannot declare it.',
        '--force|Replace a profile of this name.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['service edit'] = @(
        '--base-url|Where its paths begin; https, or http on 127.0.0.1 or localhost.',
        '--header|The header of the token; else Authorization.',
        '--format|bearer or raw; else bearer in Authorization, raw in any other header.',
        '--token-stdin|Read the token from standard input.',
        '--ask-token|Ask for a new token.',
        '--no-token|The service needs no token any more.',
        '--client-id|The OAuth client that is yours.',
        '--client-secret-stdin|Read its secret from standard input; empty for a public client.',
        '--ask-client-secret|Ask for a new client secret.',
        '--redirect-port|The port of the redirect URI; else the setting oauth.port (1 to 65535).',
        '--no-redirect-port|Take the port of the setting oauth.port again.',
        '--authorize-url|Only for extensions that cannot declare it.',
        '--token-url|Only for extensions that cannot declare it.',
        '--no-sign-in-urls|Forget both; extensions declare theirs.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['service list'] = @(
        '--output,-o|auto or json (else auto).',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['service show'] = @(
        '--output,-o|auto or json (else auto).',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['service remove'] = @(
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['service test'] = @(
        '--output,-o|auto or json (else auto).',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['service import'] = @(
        '--force|Replace profiles of the same names.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['oauth'] = @(
        '--help,-h|Show this help and leave.'
    )
    $options['oauth connect'] = @(
        '--no-browser|Only print the address to go to.',
        '--timeout|How long to wait (else 300).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['oauth status'] = @(
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '--output,-o|auto or json (else auto).',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['oauth disconnect'] = @(
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['mcp'] = @(
        '--help,-h|Show this help and leave.'
    )
    $options['mcp add'] = @(
        '--url|Where its streamable HTTP is.',
        '--token-env|The one variable that gives a command its token.',
        '--token-stdin|Read the token from standard input.',
        '--start-seconds|What starting it may take; else 30 (1 to 600).',
        '--force|Replace a profile of this name.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['mcp edit'] = @(
        '--url|Where its streamable HTTP is.',
        '--token-env|The one variable that gives a command its token.',
        '--token-stdin|Read the token from standard input.',
        '--ask-token|Ask for a new token.',
        '--start-seconds|What starting it may take; else 30 (1 to 600).',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['mcp list'] = @(
        '--output,-o|auto or json (else auto).',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['mcp show'] = @(
        '--output,-o|auto or json (else auto).',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['mcp remove'] = @(
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['mcp test'] = @(
        '--output,-o|auto or json (else auto).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['mcp tools'] = @(
        '--output,-o|auto or json (else auto).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['mcp serve'] = @(
        '--wait|Let a write wait until a person confirmed it.',
        '--run|Serve the tools of one run alone.',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['mcp import'] = @(
        '--force|Replace profiles of the same names.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['plugin'] = @(
        '--help,-h|Show this help and leave.'
    )
    $options['plugin review'] = @(
        '--check|Ask no person and no server: 0 if approved, else 17.',
        '--approve|Approve, if this is the digest shown.',
        '--output,-o|auto or json (else auto).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['plugin list'] = @(
        '--output,-o|auto or json (else auto).',
        '--all|Of every workspace.',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['plugin show'] = @(
        '--output,-o|auto or json (else auto).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['plugin enable'] = @(
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['plugin disable'] = @(
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['plugin forget'] = @(
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['plugin check'] = @(
        '--output,-o|auto or json (else auto).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['plugin validate'] = @(
        '--output,-o|auto or json (else auto).',
        '--format|text, or github for a job''s annotations (else text).',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['plugin new'] = @(
        '--id|Its id; else made from the folder''s name.',
        '--dialect|Of which manifest: manifest.json or plugin.yaml (else manifest.json).',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['plugin schema'] = @(
        '--dialect|Of which manifest: manifest.json or plugin.yaml (else manifest.json).',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['plugin reference'] = @(
        '--dialect|Of which manifest: manifest.json or plugin.yaml (else manifest.json).',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['plugin run'] = @(
        '--arg+|The answer to a field of the form; text.',
        '--schedule|Start it for this schedule of the plugin.',
        '--event|Start it for an event; its JSON on standard input.',
        '--output,-o|auto or json (else auto).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['plugin due'] = @(
        '--output,-o|auto or json (else auto).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['plugin usage'] = @(
        '--add|Count so many tokens that a host used (1 or more).',
        '--run|The run that used them.',
        '--limit|The team''s own limit a month; 0 for none (0 or more).',
        '--output,-o|auto or json (else auto).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['plugin approvers'] = @(
        '--anyone|Take the list away: anyone but the asker may.',
        '--output,-o|auto or json (else auto).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['plugin settings'] = @(
        '--value|The same, for any text.',
        '--stdin|Read the value from standard input.',
        '--service|A connection''s service profile.',
        '--output,-o|auto or json (else auto).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['plugin bind'] = @(
        '--service|The service profile that its calls go to.',
        '--method|GET, POST, PUT, PATCH or DELETE.',
        '--path|The path under the base URL, perhaps with a query.',
        '--body|The JSON body; none is sent without.',
        '--remove|Take the binding away.',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['draft'] = @(
        '--help,-h|Show this help and leave.'
    )
    $options['draft add'] = @(
        '--kind|A kind that the plugin declares.',
        '--title|Its title, one line.',
        '--plugin|The plugin it comes from.',
        '--run|The run it comes of.',
        '--output,-o|auto or json (else auto).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['draft list'] = @(
        '--output,-o|auto or json (else auto).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['draft show'] = @(
        '--output,-o|auto or json (else auto).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['draft approve'] = @(
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['draft reject'] = @(
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['draft publish'] = @(
        '--via|Through which of the plugin''s tools.',
        '--arg+|What its tool needs beside the draft.',
        '--output,-o|auto or json (else auto).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['history'] = @(
        '--limit,-n|The newest N (1 to 10000; else 20).',
        '--all|Of every workspace.',
        '--plugin|Of one extension.',
        '--connection|Of one connection.',
        '--operation|Of one operation.',
        '--outcome|ok, failed, running, or the code of an error.',
        '--since|From then on: 30m, 2h, 7d, or 2026-01-31T08:00.',
        '--output,-o|auto or json (else auto).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['project'] = @(
        '--help,-h|Show this help and leave.'
    )
    $options['project add'] = @(
        '--id|Its id; else made from the folder''s name.',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['project list'] = @(
        '--output,-o|auto or json (else auto).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['project show'] = @(
        '--output,-o|auto or json (else auto).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['project remove'] = @(
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['workspace'] = @(
        '--help,-h|Show this help and leave.'
    )
    $options['workspace show'] = @(
        '--output,-o|auto or json (else auto).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['workspace set'] = @(
        '--tdt-profile|What TDT may do here: read-only or everyday.',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['agent'] = @(
        '--help,-h|Show this help and leave.'
    )
    $options['agent start'] = @(
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['agent stop'] = @(
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['agent status'] = @(
        '--output,-o|auto or json (else auto).',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['config'] = @(
        '--help,-h|Show this help and leave.'
    )
    $options['config export'] = @(
        '--without+|A profile to leave out, such as db/shop; repeatable.',
        '--force|Replace the file.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['config import'] = @(
        '--all|Take all of it without asking which.',
        '--secrets-stdin|Read the secrets from standard input, as one JSON object.',
        '--force|Replace profiles of the same names.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['doctor'] = @(
        '--offline|Contact nothing and start no MCP server.',
        '--timeout|What trying one profile may take (0.1 to 600).',
        '--output,-o|auto or json (else auto).',
        '--workspace|The workspace; else HELM_CLI_WORKSPACE, else found from here.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['completion'] = @(
        '--install|Put it where the shell looks for it.',
        '--uninstall|Remove what --install put there.',
        '--force|Replace what stands there and is not helm''s.',
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $options['demo'] = @(
        '-q,--quiet|Say nothing but errors and what needs you.',
        '-v,--verbose|Say on standard error what helm does, and how long it took.',
        '--help,-h|Show this help and leave.'
    )
    $places['call --plugin'] = @('ask', 'plugin')
    $places['plugin show 0'] = @('ask', 'plugin')
    $places['plugin enable 0'] = @('ask', 'plugin')
    $places['plugin disable 0'] = @('ask', 'plugin')
    $places['plugin forget 0'] = @('ask', 'plugin')
    $places['plugin check 0'] = @('ask', 'plugin')
    $places['history --plugin'] = @('ask', 'plugin')
    $places['call --arg'] = @('ask', 'argument')
    $places['call --arg-str'] = @('ask', 'argument')
    $places['call --args'] = @('at-file')
    $places['plugin bind --body'] = @('at-file')
    $places['draft add 0'] = @('at-file')
    $places['call --output'] = @('words', 'auto', 'json', 'pretty', 'data', 'table', 'csv', 'tsv', 'ndjson', 'text')
    $places['call -o'] = @('words', 'auto', 'json', 'pretty', 'data', 'table', 'csv', 'tsv', 'ndjson', 'text')
    $places['confirm --output'] = @('words', 'auto', 'json', 'pretty', 'data', 'table', 'csv', 'tsv', 'ndjson', 'text')
    $places['confirm -o'] = @('words', 'auto', 'json', 'pretty', 'data', 'table', 'csv', 'tsv', 'ndjson', 'text')
    $places['db query --output'] = @('words', 'auto', 'json', 'pretty', 'data', 'table', 'csv', 'tsv', 'ndjson', 'text')
    $places['db query -o'] = @('words', 'auto', 'json', 'pretty', 'data', 'table', 'csv', 'tsv', 'ndjson', 'text')
    $places['call --batch'] = @('file')
    $places['db add --path'] = @('file')
    $places['db add --socket'] = @('file')
    $places['db add --tls-ca'] = @('file')
    $places['db edit --path'] = @('file')
    $places['db edit --socket'] = @('file')
    $places['db edit --tls-ca'] = @('file')
    $places['db import --env-file'] = @('file')
    $places['mcp add 2'] = @('file')
    $places['mcp add 3'] = @('file')
    $places['mcp add 4'] = @('file')
    $places['mcp add 5'] = @('file')
    $places['mcp add 6'] = @('file')
    $places['mcp add 7'] = @('file')
    $places['mcp add 8'] = @('file')
    $places['mcp add 9'] = @('file')
    $places['mcp edit 2'] = @('file')
    $places['mcp edit 3'] = @('file')
    $places['mcp edit 4'] = @('file')
    $places['mcp edit 5'] = @('file')
    $places['mcp edit 6'] = @('file')
    $places['mcp edit 7'] = @('file')
    $places['mcp edit 8'] = @('file')
    $places['mcp edit 9'] = @('file')
    $places['mcp import 0'] = @('file')
    $places['plugin review 0'] = @('file')
    $places['plugin validate 0'] = @('file')
    $places['config export 0'] = @('file')
    $places['config import 0'] = @('file')
    $places['call --jobs'] = @('none')
    $places['db add --host'] = @('none')
    $places['db add --port'] = @('none')
    $places['db add --database'] = @('none')
    $places['db add --user'] = @('none')
    $places['db add 0'] = @('none')
    $places['db edit --host'] = @('none')
    $places['db edit --port'] = @('none')
    $places['db edit --database'] = @('none')
    $places['db edit --user'] = @('none')
    $places['db query --arg'] = @('none')
    $places['db query 1'] = @('none')
    $places['service add --base-url'] = @('none')
    $places['service add --header'] = @('none')
    $places['service add --client-id'] = @('none')
    $places['service add --redirect-port'] = @('none')
    $places['service add --authorize-url'] = @('none')
    $places['service add --token-url'] = @('none')
    $places['service add 0'] = @('none')
    $places['service edit --base-url'] = @('none')
    $places['service edit --header'] = @('none')
    $places['service edit --client-id'] = @('none')
    $places['service edit --redirect-port'] = @('none')
    $places['service edit --authorize-url'] = @('none')
    $places['service edit --token-url'] = @('none')
    $places['oauth connect --timeout'] = @('none')
    $places['mcp add --url'] = @('none')
    $places['mcp add --start-seconds'] = @('none')
    $places['mcp add 0'] = @('none')
    $places['mcp edit --url'] = @('none')
    $places['mcp edit --start-seconds'] = @('none')
    $places['plugin review --approve'] = @('none')
    $places['plugin new --id'] = @('none')
    $places['plugin usage --add'] = @('none')
    $places['plugin usage --limit'] = @('none')
    $places['plugin approvers 2'] = @('none')
    $places['plugin approvers 3'] = @('none')
    $places['plugin approvers 4'] = @('none')
    $places['plugin approvers 5'] = @('none')
    $places['plugin approvers 6'] = @('none')
    $places['plugin approvers 7'] = @('none')
    $places['plugin approvers 8'] = @('none')
    $places['plugin approvers 9'] = @('none')
    $places['plugin settings --value'] = @('none')
    $places['plugin settings 3'] = @('none')
    $places['plugin bind --path'] = @('none')
    $places['draft add --title'] = @('none')
    $places['history --limit'] = @('none')
    $places['history -n'] = @('none')
    $places['history --since'] = @('none')
    $places['project add --id'] = @('none')
    $places['doctor --timeout'] = @('none')
    $places['call --workspace'] = @('folder')
    $places['confirm --workspace'] = @('folder')
    $places['oauth connect --workspace'] = @('folder')
    $places['oauth status --workspace'] = @('folder')
    $places['mcp test --workspace'] = @('folder')
    $places['mcp tools --workspace'] = @('folder')
    $places['mcp serve --workspace'] = @('folder')
    $places['plugin review --workspace'] = @('folder')
    $places['plugin list --workspace'] = @('folder')
    $places['plugin show --workspace'] = @('folder')
    $places['plugin enable --workspace'] = @('folder')
    $places['plugin disable --workspace'] = @('folder')
    $places['plugin forget --workspace'] = @('folder')
    $places['plugin check --workspace'] = @('folder')
    $places['plugin new 0'] = @('folder')
    $places['plugin run --workspace'] = @('folder')
    $places['plugin due --workspace'] = @('folder')
    $places['plugin usage --workspace'] = @('folder')
    $places['plugin approvers --workspace'] = @('folder')
    $places['plugin settings --workspace'] = @('folder')
    $places['plugin bind --workspace'] = @('folder')
    $places['draft add --workspace'] = @('folder')
    $places['draft list --workspace'] = @('folder')
    $places['draft show --workspace'] = @('folder')
    $places['draft approve --workspace'] = @('folder')
    $places['draft reject --workspace'] = @('folder')
    $places['draft publish --workspace'] = @('folder')
    $places['history --workspace'] = @('folder')
    $places['project add --workspace'] = @('folder')
    $places['project add 0'] = @('folder')
    $places['project list --workspace'] = @('folder')
    $places['project show --workspace'] = @('folder')
    $places['project remove --workspace'] = @('folder')
    $places['workspace show --workspace'] = @('folder')
    $places['workspace set --workspace'] = @('folder')
    $places['doctor --workspace'] = @('folder')
    $places['call 0'] = @('ask', 'connection')
    $places['history --connection'] = @('ask', 'connection')
    $places['call 1'] = @('ask', 'operation')
    $places['history --operation'] = @('ask', 'operation')
    $places['confirm 0'] = @('ask', 'confirmation')
    $places['db add --engine'] = @('words', 'sqlite', 'postgres', 'mysql')
    $places['db add --tls'] = @('words', 'disable', 'require', 'verify-full')
    $places['db edit --tls'] = @('words', 'disable', 'require', 'verify-full')
    $places['db add --from-env'] = @('variable')
    $places['db edit --from-env'] = @('variable')
    $places['db import --from-env'] = @('variable')
    $places['mcp add --token-env'] = @('variable')
    $places['mcp edit --token-env'] = @('variable')
    $places['db edit 0'] = @('ask', 'db')
    $places['db show 0'] = @('ask', 'db')
    $places['db remove 0'] = @('ask', 'db')
    $places['db test 0'] = @('ask', 'db')
    $places['db tables 0'] = @('ask', 'db')
    $places['db query 0'] = @('ask', 'db')
    $places['db shell 0'] = @('ask', 'db')
    $places['db list --output'] = @('words', 'auto', 'json')
    $places['db list -o'] = @('words', 'auto', 'json')
    $places['db show --output'] = @('words', 'auto', 'json')
    $places['db show -o'] = @('words', 'auto', 'json')
    $places['db test --output'] = @('words', 'auto', 'json')
    $places['db test -o'] = @('words', 'auto', 'json')
    $places['service list --output'] = @('words', 'auto', 'json')
    $places['service list -o'] = @('words', 'auto', 'json')
    $places['service show --output'] = @('words', 'auto', 'json')
    $places['service show -o'] = @('words', 'auto', 'json')
    $places['service test --output'] = @('words', 'auto', 'json')
    $places['service test -o'] = @('words', 'auto', 'json')
    $places['oauth status --output'] = @('words', 'auto', 'json')
    $places['oauth status -o'] = @('words', 'auto', 'json')
    $places['mcp list --output'] = @('words', 'auto', 'json')
    $places['mcp list -o'] = @('words', 'auto', 'json')
    $places['mcp show --output'] = @('words', 'auto', 'json')
    $places['mcp show -o'] = @('words', 'auto', 'json')
    $places['mcp test --output'] = @('words', 'auto', 'json')
    $places['mcp test -o'] = @('words', 'auto', 'json')
    $places['mcp tools --output'] = @('words', 'auto', 'json')
    $places['mcp tools -o'] = @('words', 'auto', 'json')
    $places['plugin review --output'] = @('words', 'auto', 'json')
    $places['plugin review -o'] = @('words', 'auto', 'json')
    $places['plugin list --output'] = @('words', 'auto', 'json')
    $places['plugin list -o'] = @('words', 'auto', 'json')
    $places['plugin show --output'] = @('words', 'auto', 'json')
    $places['plugin show -o'] = @('words', 'auto', 'json')
    $places['plugin check --output'] = @('words', 'auto', 'json')
    $places['plugin check -o'] = @('words', 'auto', 'json')
    $places['plugin validate --output'] = @('words', 'auto', 'json')
    $places['plugin validate -o'] = @('words', 'auto', 'json')
    $places['plugin run --output'] = @('words', 'auto', 'json')
    $places['plugin run -o'] = @('words', 'auto', 'json')
    $places['plugin due --output'] = @('words', 'auto', 'json')
    $places['plugin due -o'] = @('words', 'auto', 'json')
    $places['plugin usage --output'] = @('words', 'auto', 'json')
    $places['plugin usage -o'] = @('words', 'auto', 'json')
    $places['plugin approvers --output'] = @('words', 'auto', 'json')
    $places['plugin approvers -o'] = @('words', 'auto', 'json')
    $places['plugin settings --output'] = @('words', 'auto', 'json')
    $places['plugin settings -o'] = @('words', 'auto', 'json')
    $places['draft add --output'] = @('words', 'auto', 'json')
    $places['draft add -o'] = @('words', 'auto', 'json')
    $places['draft list --output'] = @('words', 'auto', 'json')
    $places['draft list -o'] = @('words', 'auto', 'json')
    $places['draft show --output'] = @('words', 'auto', 'json')
    $places['draft show -o'] = @('words', 'auto', 'json')
    $places['draft publish --output'] = @('words', 'auto', 'json')
    $places['draft publish -o'] = @('words', 'auto', 'json')
    $places['history --output'] = @('words', 'auto', 'json')
    $places['history -o'] = @('words', 'auto', 'json')
    $places['project list --output'] = @('words', 'auto', 'json')
    $places['project list -o'] = @('words', 'auto', 'json')
    $places['project show --output'] = @('words', 'auto', 'json')
    $places['project show -o'] = @('words', 'auto', 'json')
    $places['workspace show --output'] = @('words', 'auto', 'json')
    $places['workspace show -o'] = @('words', 'auto', 'json')
    $places['agent status --output'] = @('words', 'auto', 'json')
    $places['agent status -o'] = @('words', 'auto', 'json')
    $places['doctor --output'] = @('words', 'auto', 'json')
    $places['doctor -o'] = @('words', 'auto', 'json')
    $places['db tables --output'] = @('words', 'auto', 'json', 'table', 'csv', 'tsv', 'ndjson')
    $places['db tables -o'] = @('words', 'auto', 'json', 'table', 'csv', 'tsv', 'ndjson')
    $places['db import 0'] = @('words', 'env', 'pg-service', 'pgpass', 'my.cnf')
    $places['service add --format'] = @('words', 'bearer', 'raw')
    $places['service edit --format'] = @('words', 'bearer', 'raw')
    $places['service edit 0'] = @('ask', 'service')
    $places['service show 0'] = @('ask', 'service')
    $places['service remove 0'] = @('ask', 'service')
    $places['service test 0'] = @('ask', 'service')
    $places['oauth connect 0'] = @('ask', 'service')
    $places['oauth status 0'] = @('ask', 'service')
    $places['oauth disconnect 0'] = @('ask', 'service')
    $places['plugin settings --service'] = @('ask', 'service')
    $places['plugin bind --service'] = @('ask', 'service')
    $places['service import 0'] = @('words', 'gh', 'netrc')
    $places['mcp add 1'] = @('program')
    $places['mcp edit 1'] = @('program')
    $places['mcp edit 0'] = @('ask', 'mcp')
    $places['mcp show 0'] = @('ask', 'mcp')
    $places['mcp remove 0'] = @('ask', 'mcp')
    $places['mcp test 0'] = @('ask', 'mcp')
    $places['mcp tools 0'] = @('ask', 'mcp')
    $places['mcp serve --run'] = @('ask', 'run')
    $places['plugin usage --run'] = @('ask', 'run')
    $places['draft add --run'] = @('ask', 'run')
    $places['plugin validate --format'] = @('words', 'text', 'github')
    $places['plugin new --dialect'] = @('words', 'manifest.json', 'plugin.yaml')
    $places['plugin schema --dialect'] = @('words', 'manifest.json', 'plugin.yaml')
    $places['plugin reference --dialect'] = @('words', 'manifest.json', 'plugin.yaml')
    $places['plugin run --arg'] = @('ask', 'field')
    $places['plugin run --schedule'] = @('ask', 'schedule')
    $places['plugin run --event'] = @('words', 'github.release')
    $places['plugin run 0'] = @('ask', 'team')
    $places['plugin usage 0'] = @('ask', 'team')
    $places['plugin approvers 0'] = @('ask', 'team')
    $places['plugin settings 0'] = @('ask', 'team')
    $places['plugin bind 0'] = @('ask', 'team')
    $places['draft add --plugin'] = @('ask', 'team')
    $places['plugin approvers 1'] = @('ask', 'role')
    $places['plugin settings 1'] = @('words', 'set', 'unset')
    $places['plugin settings 2'] = @('ask', 'setting')
    $places['plugin bind --method'] = @('words', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE')
    $places['plugin bind 1'] = @('ask', 'tool')
    $places['draft add --kind'] = @('words', 'blog', 'social', 'email', 'image', 'action')
    $places['draft show 0'] = @('ask', 'draft')
    $places['draft approve 0'] = @('ask', 'draft')
    $places['draft reject 0'] = @('ask', 'draft')
    $places['draft publish 0'] = @('ask', 'draft')
    $places['draft publish --via'] = @('ask', 'via')
    $places['draft publish --arg'] = @('ask', 'publish')
    $places['history --outcome'] = @('words', 'ok', 'failed', 'running', 'internal', 'state', 'usage', 'refused', 'not_configured', 'not_authorized', 'declined', 'confirmation_required', 'rate_limited', 'timeout', 'unavailable', 'too_large', 'too_many_rows', 'not_json', 'not_text', 'redirect', 'http_error', 'tool_error', 'query_failed', 'conflict', 'invalid_manifest', 'not_approved')
    $places['project show 0'] = @('ask', 'project')
    $places['project remove 0'] = @('ask', 'project')
    $places['workspace set --tdt-profile'] = @('words', 'read-only', 'everyday')
    $places['config export --without'] = @('ask', 'profile')
    $places['completion 0'] = @('words', 'bash', 'zsh', 'fish', 'powershell')

    $typed = @($line.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object {
        if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value }
        else { $_.Extent.Text }
    })
    $program = 'helm'
    if (Get-Command -Name $typed[0] -CommandType Application -ErrorAction SilentlyContinue) { $program = $typed[0] }
    $typed = @($typed | Select-Object -Skip 1)
    $path = ''
    $given = @()
    $awaited = ''
    $ended = $false
    $slot = 0
    foreach ($each in $typed) {
        if ($awaited) { $awaited = '' }
        elseif (-not $ended -and $each -ceq '--') { $ended = $true }
        elseif (-not $ended -and $each -cmatch '^(--[^=]+)=') { $given += $Matches[1] }
        elseif (-not $ended -and $each -cmatch '^(-[^-]).') { $given += $Matches[1] }
        elseif (-not $ended -and $each -cmatch '^-.') {
            $given += $each
            if ($places.ContainsKey("$path $each")) { $awaited = $each }
        }
        elseif (-not $commands.ContainsKey($path)) { $slot += 1 }
        elseif (($commands[$path] | ForEach-Object { $_.Split('|')[0] }) -ccontains $each) { $path = "$path $each".Trim() }
        else { return }
    }

    $before = ''
    $kind = @()
    $found = @()
    $sign = '\|'
    if ($awaited) { $kind = $places["$path $awaited"] }
    elseif (-not $ended -and $word -cmatch '^(--[^=]+)=') {
        $before = $Matches[0]
        $kind = @($places["$path $($Matches[1])"])
    }
    elseif (-not $ended -and $word -cmatch '^-') { $kind = @('options') }
    elseif ($commands.ContainsKey($path)) { $found = $commands[$path] }
    elseif ($places.ContainsKey("$path $slot")) { $kind = $places["$path $slot"] }
    elseif (-not $ended) { $kind = @('options') }

    switch ($kind | Select-Object -First 1) {
        'words' { $found = $kind | Select-Object -Skip 1 }
        'ask' {
            $found = & $program --complete $kind[1] @typed 2>$null
            $sign = "`t"
        }
        'variable' { $found = Get-ChildItem -Path Env: | ForEach-Object { $_.Name } }
        'options' {
            foreach ($option in $options[$path]) {
                $names, $about = $option -split '\|', 2
                $each = $names.TrimEnd('+').Split(',')
                $again = $names.EndsWith('+') -or -not ($each | Where-Object { $given -ccontains $_ })
                if ($again) { $found += $each | ForEach-Object { "$_|$about" } }
            }
        }
    }

    # Where nothing is found, PowerShell completes files by itself.
    foreach ($one in $found) {
        $text, $about = $one -split $sign, 2
        $text = $before + $text
        if (-not $text.StartsWith($word.Trim("'"), [System.StringComparison]::Ordinal)) { continue }
        $quoted = $text
        if ($text -cnotmatch '^[A-Za-z0-9_./:=+-]+$') { $quoted = "'" + $text.Replace("'", "''") + "'" }
        if (-not $about) { $about = $text }
        [System.Management.Automation.CompletionResult]::new($quoted, $text, 'ParameterValue', $about)
    }
}
