# What completes helm in fish. It is made from helm's own commands: helm completion fish
# The words of helm stand here. For names of yours it asks the program, and evaluates nothing of the answer.

function __helm_cli
    set -l words (__helm_cli_words | string split0)
    while string match -q '*=*' -- $words[1]
        set -e words[1]
    end
    set -l program (command -s -- (string replace -r '^~/' "$HOME/" -- $words[1]))
    set -q program[1]; or set program (command -s helm; or echo)
    set -e words[1]
    set -l word (commandline -ct)
    set -l path
    set -l below (__helm_cli_commands '')
    set -l given
    set -l awaited
    set -l ended
    set -l slot 0
    for each in $words
        if test -n "$awaited"
            set awaited
        else if test -z "$ended"; and test "$each" = --
            set ended 1
        else if test -z "$ended"; and string match -q -- '--*=*' $each
            set -a given (string replace -r '=.*' '' -- $each)
        else if test -z "$ended"; and string match -qr -- '^-[^-].' $each
            set -a given (string sub -l 2 -- $each)
        else if test -z "$ended"; and string match -q -- '-?*' $each
            set -a given $each
            set -l kind (__helm_cli_place "$path $each")
            set -q kind[1]; and set awaited $each
        else if not set -q below[1]
            set slot (math $slot + 1)
        else if contains -- $each (string replace -r '\t.*' '' -- $below)
            set path (string trim "$path $each")
            set below (__helm_cli_commands $path)
        else
            return
        end
    end
    if test -n "$awaited"
        __helm_cli_offer $program '' $word (__helm_cli_place "$path $awaited") -- $words
    else if test -z "$ended"; and string match -q -- '--*=*' $word
        set -l option (string replace -r '=.*' '' -- $word)
        set -l value (string replace -r '^[^=]*=' '' -- $word)
        __helm_cli_offer $program "$option=" "$value" (__helm_cli_place "$path $option") -- $words
    else if test -z "$ended"; and string match -q -- '-*' $word
        __helm_cli_left "$path" $given
    else if set -q below[1]
        printf '%s\n' $below
    else
        set -l kind (__helm_cli_place "$path $slot")
        if set -q kind[1]
            __helm_cli_offer $program '' "$word" $kind -- $words
        else if test -z "$ended"
            __helm_cli_left "$path" $given
        end
    end
end

# The words before the cursor, each ended by a NUL, without what redirects. fish tells the files of that among the words,
# and the signs of it only where it splits the text, in which a sign that is quoted looks the same.
function __helm_cli_words
    set -l left (commandline -opc)
    commandline -pc | read --local --null --list --tokenize every
    set -l redirected
    for each in $every
        set -l lines (string split \n -- $each)
        set -l last (count $lines)
        if not set -q left[1]
            return
        else if test "$lines" != "$left[1..$last]"
            string match -qr '^([0-9]*|&)[<>]' -- $each; and set redirected 1; or set redirected
        else
            set -q redirected[1]; or printf '%s\0' $each
            set redirected
            set -e left[1..$last]
        end
    end
end

# The options that may still be given: `--output,-o` is one with two names, and one with a + may be given again.
function __helm_cli_left --argument-names path
    for each in (__helm_cli_options $path)
        set -l parts (string split -m 1 \t -- $each)
        set -l names (string split , -- (string trim -r -c + -- $parts[1]))
        set -l free 1
        if not string match -q -- '*+' $parts[1]
            for name in $names
                contains -- $name $argv[2..]; and set free
            end
        end
        test -n "$free"; and printf "%s\t$parts[2]\n" $names
    end
end

# What completes a value: the program, what stands before the value in the same word, the value so far, the kind of it
# with its words, and after -- what is typed.
function __helm_cli_offer --argument-names program before value way
    set -l dashes (contains -i -- -- $argv)
    set -l kind $argv[5..(math $dashes - 1)]
    set -l found
    switch "$way"
        case words
            set found $kind
        case ask
            test -n "$program"; or return
            set found ($program --complete $kind $argv[(math $dashes + 1)..] </dev/null 2>/dev/null)
        case at-file
            if string match -q -- '@*' $value
                set before $before@
                set found (__helm_cli_files (string sub -s 2 -- $value))
            end
        case file
            set found (__helm_cli_files "$value")
        case folder
            set found (__helm_cli_files "$value" | string match '*/')
        case program
            set found (__fish_complete_command)
        case variable
            set found (set --names --export)
    end
    set -q found[1]; and printf '%s\n' $before$found
end

# What fish itself completes for a command that it does not know: files.
function __helm_cli_files --argument-names value
    complete -C "__helm_cli_no_command $value" | string replace -r '\t.*' ''
end

# The commands under a command, by its path.
function __helm_cli_commands --argument-names path
    switch "$path"
        case ''
            printf '%s\t%s\n' \
                call 'Call one operation of a connection, or a batch of them.' \
                confirm 'Decide about a write or an approval that waits for a person.' \
                db 'Keep database profiles, and look into databases.' \
                service 'Keep service profiles: a base URL, and a token or a sign-in.' \
                oauth 'Sign in to services by OAuth2.' \
                mcp 'Keep MCP server profiles, and serve approved operations to MCP clients.' \
                plugin 'Review, approve and list extensions.' \
                draft 'Review what plugins drafted, approve it and publish it.' \
                history 'Show which extension called what, when, and how it ended.' \
                project 'Register the folders that files connections may use as projects.' \
                workspace 'Show or set what belongs to this workspace.' \
                agent 'Keep connections warm in a background process.' \
                config 'Take profiles to another machine, without their secrets.' \
                doctor 'Check that everything helm needs is there and reachable.' \
                completion 'Complete helm\'s words and your names in bash, zsh, fish and PowerShell.' \
                demo 'Show the whole way in a throw-away home.'
        case 'db'
            printf '%s\t%s\n' \
                add 'Add a database profile; nothing is contacted, and a password goes to the credential store.' \
                edit 'Change a database profile; what is not given stays, and so do the comments in its file.' \
                list 'List the database profiles.' \
                show 'Show a database profile, never its secret.' \
                remove 'Remove a database profile and its password.' \
                test 'Try a database profile: open it, and say what answered.' \
                tables 'List the tables and views of a database.' \
                query 'Run one statement, read-only.' \
                shell 'Look into a database by hand.' \
                import 'Take databases over from DATABASE_URL, pg_service.conf, .pgpass and .my.cnf.'
        case 'service'
            printf '%s\t%s\n' \
                add 'Add a service profile; nothing is contacted, and its secret goes to the credential store.' \
                edit 'Change a service profile; what is not given stays, and so do the comments in its file.' \
                list 'List the service profiles.' \
                show 'Show a service profile, never its secret.' \
                remove 'Remove a service profile, its secret and its sign-in.' \
                test 'Try a service profile: ask for its base URL, with its token, and say what answered.' \
                import 'Take services over, with their tokens, from the files of gh and from a .netrc.'
        case 'oauth'
            printf '%s\t%s\n' \
                connect 'Sign in to a service, for what the enabled extensions of the workspace declare.' \
                status 'Show which services you are signed in to, for what, how long, and which extensions lack a scope.' \
                disconnect 'End a sign-in: helm forgets its tokens. The service itself is not told.'
        case 'mcp'
            printf '%s\t%s\n' \
                add 'Add an MCP server profile; nothing is started, and a token goes to the credential store.' \
                edit 'Change an MCP server profile; what is not given stays, and so do the comments in its file.' \
                list 'List the MCP server profiles.' \
                show 'Show an MCP server profile, never its token.' \
                remove 'Remove an MCP server profile and its token.' \
                test 'Try an MCP server profile: start it or reach it, and say what answered.' \
                tools 'List what an MCP server says of its tools; its hints are claims and prove nothing.' \
                serve 'Serve the approved operations of a workspace to an MCP client, on standard input and output.' \
                import 'Take MCP servers over from the configuration of Claude, Cursor or VS Code.'
        case 'plugin'
            printf '%s\t%s\n' \
                review 'Show what an extension may do, and ask whether to approve it.' \
                list 'List the approved extensions of the workspace.' \
                show 'Show what was approved, from the copy that calls run from.' \
                enable 'Let calls use an approved extension again.' \
                disable 'Refuse every call of an extension until it is enabled again.' \
                forget 'Take an approval back, with its settings; its folder is left alone.' \
                check 'Ask the databases whether each declared query would work; none is run.' \
                validate 'Say everything that is wrong with an extension, and what to look at twice.' \
                new 'Write an extension to start from.' \
                schema 'Print the JSON Schema of a manifest, the one that validates.' \
                reference 'Show every field of a manifest and what it may hold; in a pipe as Markdown.' \
                run 'Start a run of a team\'s plugin: its instructions and tools for the host of a model.' \
                due 'List the schedules that came due since this was last asked, each told once; for cron or a systemd timer.' \
                usage 'Show the tokens that a plugin used this month (in UTC), count some, or set the team\'s limit.' \
                approvers 'Show who may approve the drafts of a plugin, or list the users of a role in place of those it had.' \
                settings 'Show what a plugin asks its team for, fill one of it in, or take a value away.' \
                bind 'Say where the calls of a plugin\'s named tool go. It needs a person at the terminal.'
        case 'draft'
            printf '%s\t%s\n' \
                add 'Put a draft into the review queue and print its id.' \
                list 'List the review queue, and what left it.' \
                show 'Show a draft in full, with what people said to it.' \
                approve 'Read a draft and approve exactly what it says; never the person who asked for it.' \
                reject 'Read a draft and reject it, or, as the one who asked for it, take it back.' \
                publish 'Send an approved draft out, once, after you saw exactly what is sent.'
        case 'project'
            printf '%s\t%s\n' \
                add 'Register a folder as a project of this workspace; a files connection with the root "project" can then be told it.' \
                list 'List the projects of this workspace: those added here, and those that TDT has registered.' \
                show 'Show a project: where it is, whether it is available, and where it is known from.' \
                remove 'Forget a project; its folder is left alone.'
        case 'workspace'
            printf '%s\t%s\n' \
                show 'Show the workspace: its folder, how it was found, and what is approved, registered and allowed in it.' \
                set 'Set what belongs to the workspace.'
        case 'agent'
            printf '%s\t%s\n' \
                start 'Start the agent of this home, detached from this terminal; nothing is changed where it runs already.' \
                stop 'End the agent of this home and all that it started. Calls under way may finish for 10 seconds.' \
                status 'Show whether an agent runs for this home, since when, and what it keeps. Without one the exit status is 10.'
        case 'config'
            printf '%s\t%s\n' \
                export 'Write all profiles as one text, without any secret.' \
                import 'Take profiles over that another machine exported.'
    end
end

# The options of a command, by its path.
function __helm_cli_options --argument-names path
    switch "$path"
        case ''
            printf '%s\t%s\n' \
                --version,-V 'Show the version and leave.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'call'
            printf '%s\t%s\n' \
                --plugin 'The extension meant.' \
                --arg+ 'An argument; 20, true, null are typed.' \
                --arg-str+ 'An argument that is always text.' \
                --args 'All arguments as one JSON object.' \
                --output,-o 'auto, json, pretty, data, table, csv, tsv, ndjson, text (else auto).' \
                --wait 'Wait until a write is confirmed in another terminal.' \
                --wait-rate 'Wait instead of failing with rate_limited.' \
                --dry-run 'Print what would be sent, and send nothing.' \
                --batch 'Make the calls of a file of JSON Lines.' \
                --jobs 'Reads side by side (1 to 64; else 1).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'confirm'
            printf '%s\t%s\n' \
                --list 'List what waits, and decide nothing.' \
                --watch 'Ask about each as it comes, until Ctrl-C.' \
                --decline 'Decline it unseen: send nothing.' \
                --output,-o 'auto, json, pretty, data, table, csv, tsv, ndjson, text (else auto).' \
                --workspace 'Only what waits in it; else in every workspace.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'db'
            printf '%s\t%s\n' \
                --help,-h 'Show this help and leave.'
        case 'db add'
            printf '%s\t%s\n' \
                --engine 'sqlite, postgres or mysql.' \
                --path 'The SQLite file.' \
                --host 'The server.' \
                --port 'Its port (1 to 65535).' \
                --socket 'Its Unix socket, in place of --host (Postgres: the folder of it).' \
                --database 'The database on it.' \
                --user 'Who signs in.' \
                --tls 'disable, require or verify-full; else require off this machine.' \
                --tls-ca 'PEM certificates of who may vouch for the server.' \
                --from-env 'Take what a connection URL in this variable says.' \
                --password-stdin 'Read the password from standard input.' \
                --force 'Replace a profile of this name.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'db edit'
            printf '%s\t%s\n' \
                --path 'The SQLite file.' \
                --host 'The server.' \
                --port 'Its port (1 to 65535).' \
                --socket 'Its Unix socket, in place of --host (Postgres: the folder of it).' \
                --database 'The database on it.' \
                --user 'Who signs in.' \
                --tls 'disable, require or verify-full; else require off this machine.' \
                --tls-ca 'PEM certificates of who may vouch for the server.' \
                --from-env 'Take what a connection URL in this variable says.' \
                --password-stdin 'Read the password from standard input.' \
                --ask-password 'Ask for a new password.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'db list'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'db show'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'db remove'
            printf '%s\t%s\n' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'db test'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'db tables'
            printf '%s\t%s\n' \
                --output,-o 'auto, json, table, csv, tsv or ndjson (else auto).' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'db query'
            printf '%s\t%s\n' \
                --arg+ 'The next placeholder\'s value; 20, true, null are typed.' \
                --output,-o 'auto, json, pretty, data, table, csv, tsv, ndjson, text (else auto).' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'db shell'
            printf '%s\t%s\n' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'db import'
            printf '%s\t%s\n' \
                --from-env+ 'Take the connection URL in this variable; may be repeated.' \
                --env-file+ 'Take the connection URLs in this .env file; may be repeated.' \
                --force 'Replace profiles of the same names.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'service'
            printf '%s\t%s\n' \
                --help,-h 'Show this help and leave.'
        case 'service add'
            printf '%s\t%s\n' \
                --base-url 'Where its paths begin; https, or http on 127.0.0.1 or localhost.' \
                --header 'The header of the token; else Authorization.' \
                --format 'bearer or raw; else bearer in Authorization, raw in any other header.' \
                --token-stdin 'Read the token from standard input.' \
                --no-token 'The service needs no token.' \
                --oauth2 'It signs in by OAuth2.' \
                --client-id 'The OAuth client that is yours.' \
                --client-secret-stdin 'Read its secret from standard input; empty for a public client.' \
                --redirect-port 'The port of the redirect URI; else the setting oauth.port (1 to 65535).' \
                --authorize-url 'Only for extensions that cannot declare it.' \
                --token-url 'Only for extensions that cannot declare it.' \
                --force 'Replace a profile of this name.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'service edit'
            printf '%s\t%s\n' \
                --base-url 'Where its paths begin; https, or http on 127.0.0.1 or localhost.' \
                --header 'The header of the token; else Authorization.' \
                --format 'bearer or raw; else bearer in Authorization, raw in any other header.' \
                --token-stdin 'Read the token from standard input.' \
                --ask-token 'Ask for a new token.' \
                --no-token 'The service needs no token any more.' \
                --client-id 'The OAuth client that is yours.' \
                --client-secret-stdin 'Read its secret from standard input; empty for a public client.' \
                --ask-client-secret 'Ask for a new client secret.' \
                --redirect-port 'The port of the redirect URI; else the setting oauth.port (1 to 65535).' \
                --no-redirect-port 'Take the port of the setting oauth.port again.' \
                --authorize-url 'Only for extensions that cannot declare it.' \
                --token-url 'Only for extensions that cannot declare it.' \
                --no-sign-in-urls 'Forget both; extensions declare theirs.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'service list'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'service show'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'service remove'
            printf '%s\t%s\n' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'service test'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'service import'
            printf '%s\t%s\n' \
                --force 'Replace profiles of the same names.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'oauth'
            printf '%s\t%s\n' \
                --help,-h 'Show this help and leave.'
        case 'oauth connect'
            printf '%s\t%s\n' \
                --no-browser 'Only print the address to go to.' \
                --timeout 'How long to wait (else 300).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'oauth status'
            printf '%s\t%s\n' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                --output,-o 'auto or json (else auto).' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'oauth disconnect'
            printf '%s\t%s\n' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'mcp'
            printf '%s\t%s\n' \
                --help,-h 'Show this help and leave.'
        case 'mcp add'
            printf '%s\t%s\n' \
                --url 'Where its streamable HTTP is.' \
                --token-env 'The one variable that gives a command its token.' \
                --token-stdin 'Read the token from standard input.' \
                --start-seconds 'What starting it may take; else 30 (1 to 600).' \
                --force 'Replace a profile of this name.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'mcp edit'
            printf '%s\t%s\n' \
                --url 'Where its streamable HTTP is.' \
                --token-env 'The one variable that gives a command its token.' \
                --token-stdin 'Read the token from standard input.' \
                --ask-token 'Ask for a new token.' \
                --start-seconds 'What starting it may take; else 30 (1 to 600).' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'mcp list'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'mcp show'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'mcp remove'
            printf '%s\t%s\n' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'mcp test'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'mcp tools'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'mcp serve'
            printf '%s\t%s\n' \
                --wait 'Let a write wait until a person confirmed it.' \
                --run 'Serve the tools of one run alone.' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'mcp import'
            printf '%s\t%s\n' \
                --force 'Replace profiles of the same names.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'plugin'
            printf '%s\t%s\n' \
                --help,-h 'Show this help and leave.'
        case 'plugin review'
            printf '%s\t%s\n' \
                --check 'Ask no person and no server: 0 if approved, else 17.' \
                --approve 'Approve, if this is the digest shown.' \
                --output,-o 'auto or json (else auto).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'plugin list'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                --all 'Of every workspace.' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'plugin show'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'plugin enable'
            printf '%s\t%s\n' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'plugin disable'
            printf '%s\t%s\n' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'plugin forget'
            printf '%s\t%s\n' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'plugin check'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'plugin validate'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                --format 'text, or github for a job\'s annotations (else text).' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'plugin new'
            printf '%s\t%s\n' \
                --id 'Its id; else made from the folder\'s name.' \
                --dialect 'Of which manifest: manifest.json or plugin.yaml (else manifest.json).' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'plugin schema'
            printf '%s\t%s\n' \
                --dialect 'Of which manifest: manifest.json or plugin.yaml (else manifest.json).' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'plugin reference'
            printf '%s\t%s\n' \
                --dialect 'Of which manifest: manifest.json or plugin.yaml (else manifest.json).' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'plugin run'
            printf '%s\t%s\n' \
                --arg+ 'The answer to a field of the form; text.' \
                --schedule 'Start it for this schedule of the plugin.' \
                --event 'Start it for an event; its JSON on standard input.' \
                --output,-o 'auto or json (else auto).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'plugin due'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'plugin usage'
            printf '%s\t%s\n' \
                --add 'Count so many tokens that a host used (1 or more).' \
                --run 'The run that used them.' \
                --limit 'The team\'s own limit a month; 0 for none (0 or more).' \
                --output,-o 'auto or json (else auto).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'plugin approvers'
            printf '%s\t%s\n' \
                --anyone 'Take the list away: anyone but the asker may.' \
                --output,-o 'auto or json (else auto).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'plugin settings'
            printf '%s\t%s\n' \
                --value 'The same, for any text.' \
                --stdin 'Read the value from standard input.' \
                --service 'A connection\'s service profile.' \
                --output,-o 'auto or json (else auto).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'plugin bind'
            printf '%s\t%s\n' \
                --service 'The service profile that its calls go to.' \
                --method 'GET, POST, PUT, PATCH or DELETE.' \
                --path 'The path under the base URL, perhaps with a query.' \
                --body 'The JSON body; none is sent without.' \
                --remove 'Take the binding away.' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'draft'
            printf '%s\t%s\n' \
                --help,-h 'Show this help and leave.'
        case 'draft add'
            printf '%s\t%s\n' \
                --kind 'A kind that the plugin declares.' \
                --title 'Its title, one line.' \
                --plugin 'The plugin it comes from.' \
                --run 'The run it comes of.' \
                --output,-o 'auto or json (else auto).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'draft list'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'draft show'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'draft approve'
            printf '%s\t%s\n' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'draft reject'
            printf '%s\t%s\n' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'draft publish'
            printf '%s\t%s\n' \
                --via 'Through which of the plugin\'s tools.' \
                --arg+ 'What its tool needs beside the draft.' \
                --output,-o 'auto or json (else auto).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'history'
            printf '%s\t%s\n' \
                --limit,-n 'The newest N (1 to 10000; else 20).' \
                --all 'Of every workspace.' \
                --plugin 'Of one extension.' \
                --connection 'Of one connection.' \
                --operation 'Of one operation.' \
                --outcome 'ok, failed, running, or the code of an error.' \
                --since 'From then on: 30m, 2h, 7d, or 2026-01-31T08:00.' \
                --output,-o 'auto or json (else auto).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'project'
            printf '%s\t%s\n' \
                --help,-h 'Show this help and leave.'
        case 'project add'
            printf '%s\t%s\n' \
                --id 'Its id; else made from the folder\'s name.' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'project list'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'project show'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'project remove'
            printf '%s\t%s\n' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'workspace'
            printf '%s\t%s\n' \
                --help,-h 'Show this help and leave.'
        case 'workspace show'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'workspace set'
            printf '%s\t%s\n' \
                --tdt-profile 'What TDT may do here: read-only or everyday.' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'agent'
            printf '%s\t%s\n' \
                --help,-h 'Show this help and leave.'
        case 'agent start'
            printf '%s\t%s\n' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'agent stop'
            printf '%s\t%s\n' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'agent status'
            printf '%s\t%s\n' \
                --output,-o 'auto or json (else auto).' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'config'
            printf '%s\t%s\n' \
                --help,-h 'Show this help and leave.'
        case 'config export'
            printf '%s\t%s\n' \
                --without+ 'A profile to leave out, such as db/shop; repeatable.' \
                --force 'Replace the file.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'config import'
            printf '%s\t%s\n' \
                --all 'Take all of it without asking which.' \
                --secrets-stdin 'Read the secrets from standard input, as one JSON object.' \
                --force 'Replace profiles of the same names.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'doctor'
            printf '%s\t%s\n' \
                --offline 'Contact nothing and start no MCP server.' \
                --timeout 'What trying one profile may take (0.1 to 600).' \
                --output,-o 'auto or json (else auto).' \
                --workspace 'The workspace; else HELM_CLI_WORKSPACE, else found from here.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'completion'
            printf '%s\t%s\n' \
                --install 'Put it where the shell looks for it.' \
                --uninstall 'Remove what --install put there.' \
                --force 'Replace what stands there and is not helm\'s.' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
        case 'demo'
            printf '%s\t%s\n' \
                -q,--quiet 'Say nothing but errors and what needs you.' \
                -v,--verbose 'Say on standard error what helm does, and how long it took.' \
                --help,-h 'Show this help and leave.'
    end
end

# The kind of one value, by the path of its command and the option that it belongs to, or its number.
function __helm_cli_place --argument-names place
    switch $place
        case 'call --plugin' 'plugin show 0' 'plugin enable 0' 'plugin disable 0' 'plugin forget 0' 'plugin check 0' 'history --plugin'
            printf '%s\n' ask plugin
        case 'call --arg' 'call --arg-str'
            printf '%s\n' ask argument
        case 'call --args' 'plugin bind --body' 'draft add 0'
            printf '%s\n' at-file
        case 'call --output' 'call -o' 'confirm --output' 'confirm -o' 'db query --output' 'db query -o'
            printf '%s\n' words auto json pretty data table csv tsv ndjson text
        case 'call --batch' 'db add --path' 'db add --socket' 'db add --tls-ca' 'db edit --path' 'db edit --socket' 'db edit --tls-ca' 'db import --env-file' 'mcp add 2' 'mcp add 3' 'mcp add 4' 'mcp add 5' 'mcp add 6' 'mcp add 7' 'mcp add 8' 'mcp add 9' 'mcp edit 2' 'mcp edit 3' 'mcp edit 4' 'mcp edit 5' 'mcp edit 6' 'mcp edit 7' 'mcp edit 8' 'mcp edit 9' 'mcp import 0' 'plugin review 0' 'plugin validate 0' 'config export 0' 'config import 0'
            printf '%s\n' file
        case 'call --jobs' 'db add --host' 'db add --port' 'db add --database' 'db add --user' 'db add 0' 'db edit --host' 'db edit --port' 'db edit --database' 'db edit --user' 'db query --arg' 'db query 1' 'service add --base-url' 'service add --header' 'service add --client-id' 'service add --redirect-port' 'service add --authorize-url' 'service add --token-url' 'service add 0' 'service edit --base-url' 'service edit --header' 'service edit --client-id' 'service edit --redirect-port' 'service edit --authorize-url' 'service edit --token-url' 'oauth connect --timeout' 'mcp add --url' 'mcp add --start-seconds' 'mcp add 0' 'mcp edit --url' 'mcp edit --start-seconds' 'plugin review --approve' 'plugin new --id' 'plugin usage --add' 'plugin usage --limit' 'plugin approvers 2' 'plugin approvers 3' 'plugin approvers 4' 'plugin approvers 5' 'plugin approvers 6' 'plugin approvers 7' 'plugin approvers 8' 'plugin approvers 9' 'plugin settings --value' 'plugin settings 3' 'plugin bind --path' 'draft add --title' 'history --limit' 'history -n' 'history --since' 'project add --id' 'doctor --timeout'
            printf '%s\n' none
        case 'call --workspace' 'confirm --workspace' 'oauth connect --workspace' 'oauth status --workspace' 'mcp test --workspace' 'mcp tools --workspace' 'mcp serve --workspace' 'plugin review --workspace' 'plugin list --workspace' 'plugin show --workspace' 'plugin enable --workspace' 'plugin disable --workspace' 'plugin forget --workspace' 'plugin check --workspace' 'plugin new 0' 'plugin run --workspace' 'plugin due --workspace' 'plugin usage --workspace' 'plugin approvers --workspace' 'plugin settings --workspace' 'plugin bind --workspace' 'draft add --workspace' 'draft list --workspace' 'draft show --workspace' 'draft approve --workspace' 'draft reject --workspace' 'draft publish --workspace' 'history --workspace' 'project add --workspace' 'project add 0' 'project list --workspace' 'project show --workspace' 'project remove --workspace' 'workspace show --workspace' 'workspace set --workspace' 'doctor --workspace'
            printf '%s\n' folder
        case 'call 0' 'history --connection'
            printf '%s\n' ask connection
        case 'call 1' 'history --operation'
            printf '%s\n' ask operation
        case 'confirm 0'
            printf '%s\n' ask confirmation
        case 'db add --engine'
            printf '%s\n' words sqlite postgres mysql
        case 'db add --tls' 'db edit --tls'
            printf '%s\n' words disable require verify-full
        case 'db add --from-env' 'db edit --from-env' 'db import --from-env' 'mcp add --token-env' 'mcp edit --token-env'
            printf '%s\n' variable
        case 'db edit 0' 'db show 0' 'db remove 0' 'db test 0' 'db tables 0' 'db query 0' 'db shell 0'
            printf '%s\n' ask db
        case 'db list --output' 'db list -o' 'db show --output' 'db show -o' 'db test --output' 'db test -o' 'service list --output' 'service list -o' 'service show --output' 'service show -o' 'service test --output' 'service test -o' 'oauth status --output' 'oauth status -o' 'mcp list --output' 'mcp list -o' 'mcp show --output' 'mcp show -o' 'mcp test --output' 'mcp test -o' 'mcp tools --output' 'mcp tools -o' 'plugin review --output' 'plugin review -o' 'plugin list --output' 'plugin list -o' 'plugin show --output' 'plugin show -o' 'plugin check --output' 'plugin check -o' 'plugin validate --output' 'plugin validate -o' 'plugin run --output' 'plugin run -o' 'plugin due --output' 'plugin due -o' 'plugin usage --output' 'plugin usage -o' 'plugin approvers --output' 'plugin approvers -o' 'plugin settings --output' 'plugin settings -o' 'draft add --output' 'draft add -o' 'draft list --output' 'draft list -o' 'draft show --output' 'draft show -o' 'draft publish --output' 'draft publish -o' 'history --output' 'history -o' 'project list --output' 'project list -o' 'project show --output' 'project show -o' 'workspace show --output' 'workspace show -o' 'agent status --output' 'agent status -o' 'doctor --output' 'doctor -o'
            printf '%s\n' words auto json
        case 'db tables --output' 'db tables -o'
            printf '%s\n' words auto json table csv tsv ndjson
        case 'db import 0'
            printf '%s\n' words env pg-service pgpass my.cnf
        case 'service add --format' 'service edit --format'
            printf '%s\n' words bearer raw
        case 'service edit 0' 'service show 0' 'service remove 0' 'service test 0' 'oauth connect 0' 'oauth status 0' 'oauth disconnect 0' 'plugin settings --service' 'plugin bind --service'
            printf '%s\n' ask service
        case 'service import 0'
            printf '%s\n' words gh netrc
        case 'mcp add 1' 'mcp edit 1'
            printf '%s\n' program
        case 'mcp edit 0' 'mcp show 0' 'mcp remove 0' 'mcp test 0' 'mcp tools 0'
            printf '%s\n' ask mcp
        case 'mcp serve --run' 'plugin usage --run' 'draft add --run'
            printf '%s\n' ask run
        case 'plugin validate --format'
            printf '%s\n' words text github
        case 'plugin new --dialect' 'plugin schema --dialect' 'plugin reference --dialect'
            printf '%s\n' words manifest.json plugin.yaml
        case 'plugin run --arg'
            printf '%s\n' ask field
        case 'plugin run --schedule'
            printf '%s\n' ask schedule
        case 'plugin run --event'
            printf '%s\n' words github.release
        case 'plugin run 0' 'plugin usage 0' 'plugin approvers 0' 'plugin settings 0' 'plugin bind 0' 'draft add --plugin'
            printf '%s\n' ask team
        case 'plugin approvers 1'
            printf '%s\n' ask role
        case 'plugin settings 1'
            printf '%s\n' words set unset
        case 'plugin settings 2'
            printf '%s\n' ask setting
        case 'plugin bind --method'
            printf '%s\n' words GET POST PUT PATCH DELETE
        case 'plugin bind 1'
            printf '%s\n' ask tool
        case 'draft add --kind'
            printf '%s\n' words blog social email image action
        case 'draft show 0' 'draft approve 0' 'draft reject 0' 'draft publish 0'
            printf '%s\n' ask draft
        case 'draft publish --via'
            printf '%s\n' ask via
        case 'draft publish --arg'
            printf '%s\n' ask publish
        case 'history --outcome'
            printf '%s\n' words ok failed running internal state usage refused not_configured not_authorized declined confirmation_required rate_limited timeout unavailable too_large too_many_rows not_json not_text redirect http_error tool_error query_failed conflict invalid_manifest not_approved
        case 'project show 0' 'project remove 0'
            printf '%s\n' ask project
        case 'workspace set --tdt-profile'
            printf '%s\n' words read-only everyday
        case 'config export --without'
            printf '%s\n' ask profile
        case 'completion 0'
            printf '%s\n' words bash zsh fish powershell
    end
end

for program in helm helm-cli
    complete -c $program -e
    complete -c $program -f -a '(__helm_cli)'
end
