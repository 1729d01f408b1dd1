# bash completion for pgokit, which itself lists what may come next.
_pgokit()
{
    local IFS=$'\n' words=() word line i last=-1 cut=
    # bash takes --option=value for three words, and completes the third.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((last >= 0)) && [[ $word == = && ${words[last]} == --* ]]; then
            words[last]+==
        elif ((last >= 0)) && [[ ${COMP_WORDS[i - 1]} == = && ${words[last]} == --*= ]]; then
            words[last]+=$word
        else
            words+=("$word")
            last=$((last + 1))
        fi
    done
    if ((last >= 0)) && [[ ${words[last]} != "$word" ]]; then
        cut=${words[last]%%=*}=
    fi
    COMPREPLY=()
    compopt +o default +o bashdefault
    for line in $("$1" complete -- "${words[@]}" 2>/dev/null); do
        if [ "$line" = :files ]; then
            compopt -o default -o bashdefault
        else
            line=${line%%$'\t'*}
            COMPREPLY+=("${line#"$cut"}")
        fi
    done
}
complete -F _pgokit pgokit
