package reply

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/prose"
)

var (
	openWords = prose.WordSet(
		`unmet missing open unresolved unaddressed outstanding remaining gaps still not failed failing incomplete be fix`)

	askingWords = prose.WordSet(
		`todo todos issues problems concerns fixes nits suggestions recommendations improvements cons weaknesses reasons faults
		defects objections gaps remaining missing`)

	owedWords = prose.WordSet(`requested required blocking blockers unmet unresolved must`)

	mutedWords = prose.WordSet(
		`previous previously earlier resolved addressed fixed strengths strength positive positives praise pros met example
		examples kudos`)

	criteriaWords = prose.WordSet(`criteria checklist acceptance requirement requirements`)
)

// asksNothing reports whether the section below title lists earlier requests, met or given requirements, or praise.
// In such a section only items marked open are requests.
func asksNothing(title string) bool {
	words := wordsOf(title)
	return len(words) <= 12 && !hasWord(words, openWords) && (hasWord(words, mutedWords) || listsCriteria(words) ||
		says(words, "last round", "last time", "last review", "what's good", "what is good", "went well",
			"well done", "output format", "changes made", "what changed", "summary of changes", "what was done", "what i saw",
			"looks good",
			"change does", "pr does", "commit does", "patch does") ||
		slices.Contains([]string{"this change", "this pr", "this commit", "i verified", "i checked", "i ran", "i read",
			"i like", "review the"}, strings.Join(words[:min(2, len(words))], " ")))
}

// asks reports whether a title announces requests.
func asks(words []string) bool { return hasWord(words, askingWords) || hasWord(words, owedWords) }

// owes reports whether a title announces what must be done before the change may go in.
func owes(words []string) bool {
	return slices.ContainsFunc(words, owedWords.Has) && !hasWord(words, negators)
}

// listsCriteria reports whether a title introduces the requirements of the change.
func listsCriteria(words []string) bool {
	return hasWord(words, criteriaWords) || len(words) == 2 && words[1] == "checks" ||
		says(words, "done checks", "definition of done")
}
