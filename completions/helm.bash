# What completes helm in bash, plain bash 3.2 or newer. It is made from helm's own commands: helm completion bash
# The words of helm stand here. For names of yours it asks the program, and evaluates nothing of the answer.

_helm_cli() {
    local IFS=$' \t\n' program words=() word='' quote='' cut=0 redirected=''
    local path='' commands=() options=() given=' ' awaited='' ended='' slot=0 kind=() found=() from=0 files=''
    COMPREPLY=()
    _helm_cli_split "${COMP_LINE:0:COMP_POINT}"
    program=${words[0]}
    [[ $program != \~/* ]] || program=$HOME/${program:2}
    program=$(type -P -- "$program" || type -P helm)
    if [[ -n $redirected ]]; then
        _helm_cli_offer file
    else
        _helm_cli_walk && _helm_cli_candidates
    fi
    _helm_cli_reply
}

# Takes a line apart: into `words` what is done with, without its quotes, into `word` what stands at the cursor.
# `quote` is a quote that is still open. Readline replaces what follows the first `cut` characters of the word.
_helm_cli_split() {
    local line=$1 at=0 char begun='' passed='' breaks=$' \t\n"\'@><=&;|(:'
    [[ -z ${COMP_WORDBREAKS+set} ]] || breaks=$COMP_WORDBREAKS
    while ((at < ${#line})); do
        char=${line:at:1}
        at=$((at + 1))
        case $quote$char in
        "''" | '""') quote='' ;;
        '"\')
            char=${line:at:1}
            case $char in
            [\$\`\"\\])
                word+=$char
                at=$((at + 1))
                ;;
            *) word+=\\ ;;
            esac
            ;;
        [\'\"]?) word+=$char ;;
        [\'\"])
            quote=$char
            begun=1
            passed=$cut
            cut=${#word}
            ;;
        \\)
            word+=${line:at:1}
            at=$((at + 1))
            begun=1
            ;;
        [[:space:]]) [[ -z $begun ]] || _helm_cli_next ;;
        [\<\>])
            # A number before it is that of a file.
            [[ $word != *[!0-9\&]* ]] || _helm_cli_next
            word='' begun='' cut=0 redirected=1
            ;;
        *)
            word+=$char
            begun=1
            [[ $breaks != *"$char"* ]] || cut=${#word}
            # At this one, where names of hosts might follow, a word begins with the sign itself.
            [[ $char != @ || $cut -lt ${#word} ]] || cut=$((cut - 1))
            ;;
        esac
        # For readline a quote that is closed takes no word apart.
        [[ -n $quote || -z $passed ]] || cut=$passed passed=''
    done
}

_helm_cli_next() {
    [[ -n $redirected ]] || words+=("$word")
    word='' begun='' cut=0 redirected=''
}

# Reads `words`: which command they name, which options are given, and whether one of them awaits its value.
_helm_cli_walk() {
    local each command
    _helm_cli_command ''
    for each in "${words[@]:1}"; do
        if [[ -n $awaited ]]; then
            awaited=''
        elif [[ -z $ended && $each == -- ]]; then
            ended=1
        elif [[ -z $ended && $each == --*=* ]]; then
            given+="${each%%=*} "
        elif [[ -z $ended && $each == -[!-]?* ]]; then
            given+="${each:0:2} "
        elif [[ -z $ended && $each == -?* ]]; then
            given+="$each "
            _helm_cli_place "$path $each"
            ((${#kind[@]} == 0)) || awaited=$each
        elif ((${#commands[@]} == 0)); then
            slot=$((slot + 1))
        else
            for command in "${commands[@]}"; do
                if [[ $command == "$each" ]]; then
                    _helm_cli_command "${path:+$path }$each"
                    continue 2
                fi
            done
            return 1
        fi
    done
}

# Puts into `found` what may stand at the cursor. `from` is where in the word that begins.
_helm_cli_candidates() {
    if [[ -n $awaited ]]; then
        _helm_cli_place "$path $awaited"
        _helm_cli_offer "${kind[@]}"
    elif [[ -z $ended && $word == --*=* ]]; then
        _helm_cli_place "$path ${word%%=*}"
        given=${word%%=*}
        from=$((${#given} + 1))
        _helm_cli_offer "${kind[@]}"
    elif [[ -z $ended && $word == -* ]]; then
        _helm_cli_options
    elif ((${#commands[@]} > 0)); then
        found=("${commands[@]}")
    else
        _helm_cli_place "$path $slot"
        if ((${#kind[@]} > 0)); then
            _helm_cli_offer "${kind[@]}"
        elif [[ -z $ended ]]; then
            _helm_cli_options
        fi
    fi
}

# The options that may still be given: `--output,-o` is one with two names, and one with a + may be given again.
_helm_cli_options() {
    local option name names IFS=,
    for option in "${options[@]}"; do
        names=(${option%+})
        for name in "${names[@]}"; do
            [[ $option == *+ || $given != *" $name "* ]] || continue 2
        done
        found+=("${names[@]}")
    done
}

# What completes a value, by the kind of it.
_helm_cli_offer() {
    local way=$1 each
    shift
    case $way in
    words) found=("$@") ;;
    ask)
        [[ -n $program ]] || return
        while IFS= read -r each; do
            found+=("${each%%$'\t'*}")
        done < <("$program" --complete "$1" "${words[@]:1}" </dev/null 2>/dev/null)
        ;;
    at-file)
        if [[ ${word:from:1} == @ ]]; then
            from=$((from + 1))
            _helm_cli_files all
        fi
        ;;
    file) _helm_cli_files all ;;
    folder) _helm_cli_files folders ;;
    program) if [[ ${word:from} == */* ]]; then _helm_cli_files programs; else _helm_cli_named -c; fi ;;
    variable) _helm_cli_named -e ;;
    esac
}

# Not by `compgen -f`: readline evaluates what follows a $ in the name of a folder.
_helm_cli_files() {
    local each way=$1 value=${word:from} home=''
    [[ $value != \~/* ]] || home=${HOME%/}/ value=${value:2}
    files=1
    while IFS= read -r -d '' each; do
        case $way in
        folders) [[ -d $each ]] || continue ;;
        programs) [[ -x $each ]] || continue ;;
        esac
        [[ ! -d $each ]] || each+=/
        [[ -z $home ]] || each=\~/${each:${#home}}
        found+=("$each")
    done < <(_helm_cli_beginning "$home$value" 2>/dev/null)
}

# Prints the path of each file that begins so, however this shell is set to read its patterns.
_helm_cli_beginning() {
    local each
    unset GLOBIGNORE
    set +f
    shopt -u failglob nocaseglob globskipdots
    shopt -s nullglob dotglob
    for each in "$1"*; do
        printf '%s\0' "$each"
    done
}

# What bash has names for. Of the word it is told no more than what nothing evaluates.
_helm_cli_named() {
    local each value=${word:from}
    while IFS= read -r each; do
        found+=("$each")
    done < <(compgen "$1" -- "${value%%[!A-Za-z0-9_.+-]*}")
}

# Leaves in COMPREPLY what of `found` goes on with what is typed, in the way that it must be typed.
_helm_cli_reply() {
    local value=${word:from} each text home
    for each in "${found[@]}"; do
        [[ ${each:0:${#value}} == "$value" ]] || continue
        text=${word:0:from}$each
        text=${text:cut}
        # Readline would take what the first sign of these needs for the quote that is open.
        [[ $quote$text != '"!'* ]] || continue
        if [[ -n $quote ]]; then
            _helm_cli_quoted
        else
            home=''
            [[ -z $files || $text != \~/* ]] || home=\~/ text=${text:2}
            [[ -z $text ]] || printf -v text %q "$text"
            text=$home$text
            [[ -n $files && $each == */ || $each == *= ]] || text+=' '
        fi
        COMPREPLY+=("$text")
    done
}

# Writes `text` as it stands between quotes of the kind that is open.
_helm_cli_quoted() {
    local plain=$text at char
    text=''
    for ((at = 0; at < ${#plain}; at++)); do
        char=${plain:at:1}
        case $quote$char in
        "''") text+="'\\''" ;;
        \"[\$\`\"\\]) text+=\\$char ;;
        # It would bring back a line of the history.
        '"!') text+="\"'!'\"" ;;
        *) text+=$char ;;
        esac
    done
}

# Of a command, by its path: the commands under it and its options.
_helm_cli_command() {
    path=$1 commands=() options=()
    case $path in
    '') commands=(call confirm db service oauth mcp plugin draft history project workspace agent config doctor \
        completion demo) options=(--version,-V -q,--quiet -v,--verbose --help,-h) ;;
    'call') options=(--plugin --arg+ --arg-str+ --args --output,-o --wait --wait-rate --dry-run --batch --jobs \
        --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'confirm') options=(--list --watch --decline --output,-o --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'db') commands=(add edit list show remove test tables query shell import) options=(--help,-h) ;;
    'db add') options=(--engine --path --host --port --socket --database --user --tls --tls-ca --from-env \
        --password-stdin --force -q,--quiet -v,--verbose --help,-h) ;;
    'db edit') options=(--path --host --port --socket --database --user --tls --tls-ca --from-env --password-stdin \
        --ask-password -q,--quiet -v,--verbose --help,-h) ;;
    'db list') options=(--output,-o -q,--quiet -v,--verbose --help,-h) ;;
    'db show') options=(--output,-o -q,--quiet -v,--verbose --help,-h) ;;
    'db remove') options=(-q,--quiet -v,--verbose --help,-h) ;;
    'db test') options=(--output,-o -q,--quiet -v,--verbose --help,-h) ;;
    'db tables') options=(--output,-o -q,--quiet -v,--verbose --help,-h) ;;
    'db query') options=(--arg+ --output,-o -q,--quiet -v,--verbose --help,-h) ;;
    'db shell') options=(-q,--quiet -v,--verbose --help,-h) ;;
    'db import') options=(--from-env+ --env-file+ --force -q,--quiet -v,--verbose --help,-h) ;;
    'service') commands=(add edit list show remove test import) options=(--help,-h) ;;
    'service add') options=(--base-url --header --format --token-stdin --no-token --oauth2 --client-id \
        --client-secret-stdin --redirect-port --authorize-url --token-url --force -q,--quiet -v,--verbose --help,-h) ;;
    'service edit') options=(--base-url --header --format --token-stdin --ask-token --no-token --client-id \
        --client-secret-stdin --ask-client-secret --redirect-port --no-redirect-port --authorize-url --token-url \
        --no-sign-in-urls -q,--quiet -v,--verbose --help,-h) ;;
    'service list') options=(--output,-o -q,--quiet -v,--verbose --help,-h) ;;
    'service show') options=(--output,-o -q,--quiet -v,--verbose --help,-h) ;;
    'service remove') options=(-q,--quiet -v,--verbose --help,-h) ;;
    'service test') options=(--output,-o -q,--quiet -v,--verbose --help,-h) ;;
    'service import') options=(--force -q,--quiet -v,--verbose --help,-h) ;;
    'oauth') commands=(connect status disconnect) options=(--help,-h) ;;
    'oauth connect') options=(--no-browser --timeout --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'oauth status') options=(--workspace --output,-o -q,--quiet -v,--verbose --help,-h) ;;
    'oauth disconnect') options=(-q,--quiet -v,--verbose --help,-h) ;;
    'mcp') commands=(add edit list show remove test tools serve import) options=(--help,-h) ;;
    'mcp add') options=(--url --token-env --token-stdin --start-seconds --force -q,--quiet -v,--verbose --help,-h) \
        ;;
    'mcp edit') options=(--url --token-env --token-stdin --ask-token --start-seconds -q,--quiet -v,--verbose \
        --help,-h) ;;
    'mcp list') options=(--output,-o -q,--quiet -v,--verbose --help,-h) ;;
    'mcp show') options=(--output,-o -q,--quiet -v,--verbose --help,-h) ;;
    'mcp remove') options=(-q,--quiet -v,--verbose --help,-h) ;;
    'mcp test') options=(--output,-o --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'mcp tools') options=(--output,-o --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'mcp serve') options=(--wait --run --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'mcp import') options=(--force -q,--quiet -v,--verbose --help,-h) ;;
    'plugin') commands=(review list show enable disable forget check validate new schema reference run due usage \
        approvers settings bind) options=(--help,-h) ;;
    'plugin review') options=(--check --approve --output,-o --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'plugin list') options=(--output,-o --all --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'plugin show') options=(--output,-o --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'plugin enable') options=(--workspace -q,--quiet -v,--verbose --help,-h) ;;
    'plugin disable') options=(--workspace -q,--quiet -v,--verbose --help,-h) ;;
    'plugin forget') options=(--workspace -q,--quiet -v,--verbose --help,-h) ;;
    'plugin check') options=(--output,-o --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'plugin validate') options=(--output,-o --format -q,--quiet -v,--verbose --help,-h) ;;
    'plugin new') options=(--id --dialect -q,--quiet -v,--verbose --help,-h) ;;
    'plugin schema') options=(--dialect -q,--quiet -v,--verbose --help,-h) ;;
    'plugin reference') options=(--dialect -q,--quiet -v,--verbose --help,-h) ;;
    'plugin run') options=(--arg+ --schedule --event --output,-o --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'plugin due') options=(--output,-o --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'plugin usage') options=(--add --run --limit --output,-o --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'plugin approvers') options=(--anyone --output,-o --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'plugin settings') options=(--value --stdin --service --output,-o --workspace -q,--quiet -v,--verbose --help,-h) \
        ;;
    'plugin bind') options=(--service --method --path --body --remove --workspace -q,--quiet -v,--verbose --help,-h) \
        ;;
    'draft') commands=(add list show approve reject publish) options=(--help,-h) ;;
    'draft add') options=(--kind --title --plugin --run --output,-o --workspace -q,--quiet -v,--verbose --help,-h) \
        ;;
    'draft list') options=(--output,-o --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'draft show') options=(--output,-o --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'draft approve') options=(--workspace -q,--quiet -v,--verbose --help,-h) ;;
    'draft reject') options=(--workspace -q,--quiet -v,--verbose --help,-h) ;;
    'draft publish') options=(--via --arg+ --output,-o --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'history') options=(--limit,-n --all --plugin --connection --operation --outcome --since --output,-o --workspace \
        -q,--quiet -v,--verbose --help,-h) ;;
    'project') commands=(add list show remove) options=(--help,-h) ;;
    'project add') options=(--id --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'project list') options=(--output,-o --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'project show') options=(--output,-o --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'project remove') options=(--workspace -q,--quiet -v,--verbose --help,-h) ;;
    'workspace') commands=(show set) options=(--help,-h) ;;
    'workspace show') options=(--output,-o --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'workspace set') options=(--tdt-profile --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'agent') commands=(start stop status) options=(--help,-h) ;;
    'agent start') options=(-q,--quiet -v,--verbose --help,-h) ;;
    'agent stop') options=(-q,--quiet -v,--verbose --help,-h) ;;
    'agent status') options=(--output,-o -q,--quiet -v,--verbose --help,-h) ;;
    'config') commands=(export import) options=(--help,-h) ;;
    'config export') options=(--without+ --force -q,--quiet -v,--verbose --help,-h) ;;
    'config import') options=(--all --secrets-stdin --force -q,--quiet -v,--verbose --help,-h) ;;
    'doctor') options=(--offline --timeout --output,-o --workspace -q,--quiet -v,--verbose --help,-h) ;;
    'completion') options=(--install --uninstall --force -q,--quiet -v,--verbose --help,-h) ;;
    'demo') options=(-q,--quiet -v,--verbose --help,-h) ;;
    esac
}

# The kind of one value, by the path of its command and the option that it belongs to, or its number.
_helm_cli_place() {
    kind=()
    case $1 in
    'call --plugin' | 'plugin show 0' | 'plugin enable 0' | 'plugin disable 0' | 'plugin forget 0' | \
        'plugin check 0' | 'history --plugin')
        kind=(ask plugin) ;;
    'call --arg' | 'call --arg-str')
        kind=(ask argument) ;;
    'call --args' | 'plugin bind --body' | 'draft add 0')
        kind=(at-file) ;;
    'call --output' | 'call -o' | 'confirm --output' | 'confirm -o' | 'db query --output' | 'db query -o')
        kind=(words auto json pretty data table csv tsv ndjson text) ;;
    'call --batch' | 'db add --path' | 'db add --socket' | 'db add --tls-ca' | 'db edit --path' | 'db edit --socket' \
        | 'db edit --tls-ca' | 'db import --env-file' | 'mcp add 2' | 'mcp add 3' | 'mcp add 4' | 'mcp add 5' | \
        'mcp add 6' | 'mcp add 7' | 'mcp add 8' | 'mcp add 9' | 'mcp edit 2' | 'mcp edit 3' | 'mcp edit 4' | \
        'mcp edit 5' | 'mcp edit 6' | 'mcp edit 7' | 'mcp edit 8' | 'mcp edit 9' | 'mcp import 0' | 'plugin review 0' | \
        'plugin validate 0' | 'config export 0' | 'config import 0')
        kind=(file) ;;
    'call --jobs' | 'db add --host' | 'db add --port' | 'db add --database' | 'db add --user' | 'db add 0' | \
        'db edit --host' | 'db edit --port' | 'db edit --database' | 'db edit --user' | 'db query --arg' | 'db query 1' \
        | 'service add --base-url' | 'service add --header' | 'service add --client-id' | 'service add --redirect-port' \
        | 'service add --authorize-url' | 'service add --token-url' | 'service add 0' | 'service edit --base-url' | \
        'service edit --header' | 'service edit --client-id' | 'service edit --redirect-port' | \
        'service edit --authorize-url' | 'service edit --token-url' | 'oauth connect --timeout' | 'mcp add --url' | \
        'mcp add --start-seconds' | 'mcp add 0' | 'mcp edit --url' | 'mcp edit --start-seconds' | \
        'plugin review --approve' | 'plugin new --id' | 'plugin usage --add' | 'plugin usage --limit' | \
        'plugin approvers 2' | 'plugin approvers 3' | 'plugin approvers 4' | 'plugin approvers 5' | 'plugin approvers 6' \
        | 'plugin approvers 7' | 'plugin approvers 8' | 'plugin approvers 9' | 'plugin settings --value' | \
        'plugin settings 3' | 'plugin bind --path' | 'draft add --title' | 'history --limit' | 'history -n' | \
        'history --since' | 'project add --id' | 'doctor --timeout')
        kind=(none) ;;
    'call --workspace' | 'confirm --workspace' | 'oauth connect --workspace' | 'oauth status --workspace' | \
        'mcp test --workspace' | 'mcp tools --workspace' | 'mcp serve --workspace' | 'plugin review --workspace' | \
        'plugin list --workspace' | 'plugin show --workspace' | 'plugin enable --workspace' | \
        'plugin disable --workspace' | 'plugin forget --workspace' | 'plugin check --workspace' | 'plugin new 0' | \
        'plugin run --workspace' | 'plugin due --workspace' | 'plugin usage --workspace' | \
        'plugin approvers --workspace' | 'plugin settings --workspace' | 'plugin bind --workspace' | \
        'draft add --workspace' | 'draft list --workspace' | 'draft show --workspace' | 'draft approve --workspace' | \
        'draft reject --workspace' | 'draft publish --workspace' | 'history --workspace' | 'project add --workspace' | \
        'project add 0' | 'project list --workspace' | 'project show --workspace' | 'project remove --workspace' | \
        'workspace show --workspace' | 'workspace set --workspace' | 'doctor --workspace')
        kind=(folder) ;;
    'call 0' | 'history --connection')
        kind=(ask connection) ;;
    'call 1' | 'history --operation')
        kind=(ask operation) ;;
    'confirm 0')
        kind=(ask confirmation) ;;
    'db add --engine')
        kind=(words sqlite postgres mysql) ;;
    'db add --tls' | 'db edit --tls')
        kind=(words disable require verify-full) ;;
    'db add --from-env' | 'db edit --from-env' | 'db import --from-env' | 'mcp add --token-env' | \
        'mcp edit --token-env')
        kind=(variable) ;;
    'db edit 0' | 'db show 0' | 'db remove 0' | 'db test 0' | 'db tables 0' | 'db query 0' | 'db shell 0')
        kind=(ask db) ;;
    'db list --output' | 'db list -o' | 'db show --output' | 'db show -o' | 'db test --output' | 'db test -o' | \
        'service list --output' | 'service list -o' | 'service show --output' | 'service show -o' | \
        'service test --output' | 'service test -o' | 'oauth status --output' | 'oauth status -o' | 'mcp list --output' \
        | 'mcp list -o' | 'mcp show --output' | 'mcp show -o' | 'mcp test --output' | 'mcp test -o' | \
        'mcp tools --output' | 'mcp tools -o' | 'plugin review --output' | 'plugin review -o' | 'plugin list --output' | \
        'plugin list -o' | 'plugin show --output' | 'plugin show -o' | 'plugin check --output' | 'plugin check -o' | \
        'plugin validate --output' | 'plugin validate -o' | 'plugin run --output' | 'plugin run -o' | \
        'plugin due --output' | 'plugin due -o' | 'plugin usage --output' | 'plugin usage -o' | \
        'plugin approvers --output' | 'plugin approvers -o' | 'plugin settings --output' | 'plugin settings -o' | \
        'draft add --output' | 'draft add -o' | 'draft list --output' | 'draft list -o' | 'draft show --output' | \
        'draft show -o' | 'draft publish --output' | 'draft publish -o' | 'history --output' | 'history -o' | \
        'project list --output' | 'project list -o' | 'project show --output' | 'project show -o' | \
        'workspace show --output' | 'workspace show -o' | 'agent status --output' | 'agent status -o' | \
        'doctor --output' | 'doctor -o')
        kind=(words auto json) ;;
    'db tables --output' | 'db tables -o')
        kind=(words auto json table csv tsv ndjson) ;;
    'db import 0')
        kind=(words env pg-service pgpass my.cnf) ;;
    'service add --format' | 'service edit --format')
        kind=(words bearer raw) ;;
    'service edit 0' | 'service show 0' | 'service remove 0' | 'service test 0' | 'oauth connect 0' | \
        'oauth status 0' | 'oauth disconnect 0' | 'plugin settings --service' | 'plugin bind --service')
        kind=(ask service) ;;
    'service import 0')
        kind=(words gh netrc) ;;
    'mcp add 1' | 'mcp edit 1')
        kind=(program) ;;
    'mcp edit 0' | 'mcp show 0' | 'mcp remove 0' | 'mcp test 0' | 'mcp tools 0')
        kind=(ask mcp) ;;
    'mcp serve --run' | 'plugin usage --run' | 'draft add --run')
        kind=(ask run) ;;
    'plugin validate --format')
        kind=(words text github) ;;
    'plugin new --dialect' | 'plugin schema --dialect' | 'plugin reference --dialect')
        kind=(words manifest.json plugin.yaml) ;;
    'plugin run --arg')
        kind=(ask field) ;;
    'plugin run --schedule')
        kind=(ask schedule) ;;
    'plugin run --event')
        kind=(words github.release) ;;
    'plugin run 0' | 'plugin usage 0' | 'plugin approvers 0' | 'plugin settings 0' | 'plugin bind 0' | \
        'draft add --plugin')
        kind=(ask team) ;;
    'plugin approvers 1')
        kind=(ask role) ;;
    'plugin settings 1')
        kind=(words set unset) ;;
    'plugin settings 2')
        kind=(ask setting) ;;
    'plugin bind --method')
        kind=(words GET POST PUT PATCH DELETE) ;;
    'plugin bind 1')
        kind=(ask tool) ;;
    'draft add --kind')
        kind=(words blog social email image action) ;;
    'draft show 0' | 'draft approve 0' | 'draft reject 0' | 'draft publish 0')
        kind=(ask draft) ;;
    'draft publish --via')
        kind=(ask via) ;;
    'draft publish --arg')
        kind=(ask publish) ;;
    'history --outcome')
        kind=(words ok failed running internal state usage refused not_configured not_authorized declined \
            confirmation_required rate_limited timeout unavailable too_large too_many_rows not_json not_text redirect \
            http_error tool_error query_failed conflict invalid_manifest not_approved) ;;
    'project show 0' | 'project remove 0')
        kind=(ask project) ;;
    'workspace set --tdt-profile')
        kind=(words read-only everyday) ;;
    'config export --without')
        kind=(ask profile) ;;
    'completion 0')
        kind=(words bash zsh fish powershell) ;;
    esac
}

complete -o nospace -F _helm_cli helm helm-cli
