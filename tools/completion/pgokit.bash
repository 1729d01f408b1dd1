# bash completion for pgokit, which itself lists what may come next.
_pgokit()
{
    local IFS=$'\n' words=() word line i
    # bash takes --option=value for three words.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [ "$word" = = ] && ((i < COMP_CWORD)); then
            continue
        elif [ "$word" = = ]; then
            word=
        fi
        words+=("$word")
    done
    COMPREPLY=()
    compopt +o default +o bashdefault
    for line in $("$1" complete -- "${words[@]}" 2>/dev/null); do
        if [ "$line" = :files ]; then
            compopt -o default -o bashdefault
        else
            COMPREPLY+=("${line%%$'\t'*}")
        fi
    done
}
complete -F _pgokit pgokit
