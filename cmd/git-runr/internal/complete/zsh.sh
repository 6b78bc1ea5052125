#compdef git-runr
#description keep reviews and runs of agents in git
# Completion of git-runr in zsh, printed by git-runr. zsh's completion of git calls the
# function _git-runr for "git runr".

_git-runr () {
  local line value means
  local -a found
  for line in ${(f)"$(git-runr complete -- ${(Q)words[2,CURRENT-1]} "${(Q)PREFIX}" 2>/dev/null)"}; do
    value=${line%%$'\t'*} means=${line#*$'\t'}
    case $value in
    :files) _files; return ;;
    :dirs) _files -/; return ;;
    esac
    found+=("${value//:/\\:}${means:+:$means}")
  done
  (( $#found )) && _describe -V -t candidates 'git runr' found
}

if [[ $funcstack[1] == _git-runr ]]; then
  _git-runr "$@"
else # it is sourced
  compdef _git-runr git-runr
fi
