# Completion of git-runr, and of "git runr", in fish, made by git-runr itself. It is read at
# the start, for fish's completion of git does not find it in every version.

function __git_runr_found
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    if test "$program" = git # what git was told before stays: -C DIR
        set -l at (contains -i -- runr $words)
        and set -e words[$at]
    end
    set -l typed (commandline -ct)
    for line in (command git-runr complete -- $words "$typed" 2>/dev/null)
        switch $line
            case ':files*'
                __fish_complete_path "$typed"
            case ':dirs*'
                __fish_complete_directories "$typed"
            case '*'
                echo $line
        end
    end
end

complete -c git-runr -f -k -a '(__git_runr_found)'
complete -c git -f -k -n '__fish_git_using_command runr' -a '(__git_runr_found)'
