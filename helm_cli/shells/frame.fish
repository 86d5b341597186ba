# What completes helm in fish. It is made from helm's own commands: helm completion fish
# The words of helm stand here. For names of yours it asks the program, and evaluates nothing of the answer.

function __helm_cli
    set -l words (__helm_cli_words | string split0)
    while string match -q '*=*' -- $words[1]
        set -e words[1]
    end
    set -l program (command -s -- (string replace -r '^~/' "$HOME/" -- $words[1]))
    set -q program[1]; or set program (command -s @program@; or echo)
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
@commands@
    end
end

# The options of a command, by its path.
function __helm_cli_options --argument-names path
    switch "$path"
@options@
    end
end

# The kind of one value, by the path of its command and the option that it belongs to, or its number.
function __helm_cli_place --argument-names place
    switch $place
@places@
    end
end

for program in @programs@
    complete -c $program -e
    complete -c $program -f -a '(__helm_cli)'
end
