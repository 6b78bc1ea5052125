# Completion of git-runr in bash, printed by git-runr. If git's own completion is loaded, it
# calls the function _git_runr for "git runr".

# __git_runr_found CURRENT WORD…: fills COMPREPLY for the words after the program's name.
__git_runr_found ()
{
	local cur=$1 value means width=0 breaks tab=$'\t'
	local -a values=() meanings=()
	while IFS=$tab read -r value means; do
		case $value in
		:files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
		:dirs) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
		esac
		values+=("$value") meanings+=("$means")
		(( ${#value} > width )) && width=${#value}
	done < <(git-runr complete -- "${@:2}" 2>/dev/null)
	# Readline takes a word apart at = and :, and replaces the last part alone.
	breaks=${cur%"${cur##*[=:]}"}
	COMPREPLY=()
	local i
	for i in "${!values[@]}"; do
		value=${values[i]}
		case $COMP_WORDBREAKS in *[=:]*) value=${value#"$breaks"} ;; esac
		if (( ${#values[@]} == 1 )); then
			value+=" "
		elif [[ ${COMP_TYPE-} == 63 && ${meanings[i]} ]]; then # they are listed
			printf -v value '%-*s  (%.*s)' "$width" "$value" $((${COLUMNS:-80} - width - 8)) "${meanings[i]}"
		fi
		COMPREPLY+=("$value")
	done
}

# git's completion calls this for "git runr", with separated words.
_git_runr ()
{
	local at=1
	while (( at < cword )) && [[ ${words[at]} != runr ]]; do
		(( at++ ))
	done
	__git_runr_found "$cur" ${__git_C_args[@]+"${__git_C_args[@]}"} "${words[@]:at+1:cword-at}"
}

# Readline splits words at = and :, so this function splits the line itself.
__git_runr_program ()
{
	local -a words
	read -ra words <<<"${COMP_LINE:0:COMP_POINT}"
	[[ ${COMP_LINE:0:COMP_POINT} != *[[:space:]] ]] || words+=("")
	__git_runr_found "${words[@]: -1}" "${words[@]:1}"
}

complete -o nospace -o bashdefault -o default -F __git_runr_program git-runr
