# What completes helm in bash, plain bash 3.2 or newer. It is made from helm's own commands: helm completion bash
# The words of helm stand here. For names of yours it asks the program, and evaluates nothing of the answer.

_helm_cli() {
    local IFS=$' \t\n' program words=() word='' quote='' cut=0 redirected=''
    local path='' commands=() options=() given=' ' awaited='' ended='' slot=0 kind=() found=() from=0 files=''
    COMPREPLY=()
    _helm_cli_split "${COMP_LINE:0:COMP_POINT}"
    program=${words[0]}
    [[ $program != \~/* ]] || program=$HOME/${program:2}
    program=$(type -P -- "$program" || type -P @program@)
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
@commands@
    esac
}

# The kind of one value, by the path of its command and the option that it belongs to, or its number.
_helm_cli_place() {
    kind=()
    case $1 in
@places@
    esac
}

complete -o nospace -F _helm_cli @programs@
