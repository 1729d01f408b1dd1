# fish completion for pgokit, which itself lists what may come next.
function __pgokit_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] complete -- $words[2..-1] 2>/dev/null)
        if test "$line" = :files
            # Of --option=value only the value is a file.
            set -l option (string match -r -- '^--[^=]*=' $words[-1])
            for path in (__fish_complete_path (string replace -- "$option" '' $words[-1]))
                echo "$option$path"
            end
        else
            echo $line
        end
    end
end
complete -c pgokit -f -a '(__pgokit_complete)'
