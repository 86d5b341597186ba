#compdef @programs@
# What completes helm in zsh. It is made from helm's own commands: helm completion zsh
# The words of helm stand here. For names of yours it asks the program, and evaluates nothing of the answer.

_@program@() {
    local program path_ ended awaited each
    local -a typed commands_ options_ given kind
    integer slot=0
    typed=("${(@Q)words[1,CURRENT-1]}")
    program=${typed[1]/#\~\//$HOME/}
    [[ $program == */* && -x $program ]] || program=${commands[$program]:-${commands[@program@]}}
    _helm_cli_command ''
    for each in "${(@)typed[2,-1]}"; do
        if [[ -n $awaited ]]; then
            awaited=
        elif [[ -z $ended && $each == -- ]]; then
            ended=1
        elif [[ -z $ended && $each == --*=* ]]; then
            given+=("${each%%=*}")
        elif [[ -z $ended && $each == -[^-]?* ]]; then
            given+=("${each[1,2]}")
        elif [[ -z $ended && $each == -?* ]]; then
            given+=("$each")
            _helm_cli_place "$path_ $each"
            (( ! $#kind )) || awaited=$each
        elif (( ! $#commands_ )); then
            slot+=1
        elif (( ${commands_[(I)${(b)each}:*]} )); then
            _helm_cli_command "${path_:+$path_ }$each"
        else
            return 1
        fi
    done
    if [[ -n $awaited ]]; then
        _helm_cli_place "$path_ $awaited"
        _helm_cli_offer "${(@)kind}"
    elif [[ -z $ended && $PREFIX == --*=* ]]; then
        _helm_cli_place "$path_ ${PREFIX%%=*}"
        compset -P '--[^=]#='
        _helm_cli_offer "${(@)kind}"
    elif [[ -z $ended && $PREFIX == -* ]]; then
        _helm_cli_options
    elif (( $#commands_ )); then
        _describe -t commands command commands_
    else
        _helm_cli_place "$path_ $slot"
        if (( $#kind )); then
            _helm_cli_offer "${(@)kind}"
        elif [[ -z $ended ]]; then
            _helm_cli_options
        fi
    fi
}

# The options that may still be given: `--output,-o` is one with two names, and one with a + may be given again.
_helm_cli_options() {
    local option about
    local -a names left
    for option in "${(@)options_}"; do
        about=${option#*:}
        option=${option%%:*}
        names=("${(@s:,:)option%+}")
        if [[ $option == *+ || -z ${names:*given} ]]; then
            left+=("${(@)^names}:$about")
        fi
    done
    _describe -O option left
}

# What completes a value, by the kind of it.
_helm_cli_offer() {
    local way=$1 line name
    local -a found open
    (( ! $# )) || shift
    case $way in
    words) compadd -- "$@" ;;
    ask)
        [[ -n $program ]] || return
        for line in "${(@f)$("$program" --complete "$1" "${(@)typed[2,-1]}" </dev/null 2>/dev/null)}"; do
            [[ -n $line ]] || continue
            # In a list of descriptions a colon ends the name.
            name=${${line%%$'\t'*}//(#m)[:\\]/\\$MATCH}
            [[ $line != *$'\t'* ]] || name+=:${line#*$'\t'}
            if [[ ${line%%$'\t'*} == *= ]]; then open+=("$name"); else found+=("$name"); fi
        done
        (( ! $#found )) || _describe -t names "$1" found
        (( ! $#open )) || _describe -t names "$1" open -S ''
        ;;
    at-file) [[ $PREFIX != @* ]] || { compset -P @; _files } ;;
    file) _files ;;
    folder) _files -/ ;;
    program) _command_names -e ;;
    variable) _parameters -g '*export*' ;;
    esac
}

# Of a command, by its path: the commands under it and its options.
_helm_cli_command() {
    path_=$1 commands_=() options_=()
    case $path_ in
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

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _@program@ "$@"
elif (( $+functions[compdef] )); then
    compdef _@program@ @programs@
else
    print -u2 'helm: completion needs compinit; run this after: autoload -Uz compinit && compinit'
fi
