package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/complete"
	"git-runr/cmd/git-runr/internal/config"
	"git-runr/cmd/git-runr/internal/register"
	"git-runr/cmd/git-runr/internal/render"
	"git-runr/loop/record"
	"git-runr/loop/role"
	"git-runr/loop/safetext"
)

// completeCommand is what the completion scripts of shells call.
func (p *program) completeCommand() *cli.Command {
	return &cli.Command{
		Name: "complete", Hidden: true, Usage: "print what the last word may be", ArgsUsage: "-- WORD…",
		Description: "A line for each: the word, a tab, what it means. A line \":files\" or \":dirs\" asks the shell for those.",
		Action:      p.action(completeWord),
	}
}

// completions is how many ids of a kind are offered: a list that is longer helps nobody.
const completions = 100

// completeWord fails at nothing: somebody is in the middle of a line.
func completeWord(s *session) error {
	s.quiet = true
	words := s.Args().Slice()
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	want := complete.Of(s.app(), words)
	if want.Dir != "" {
		s.dir = want.Dir
	}
	found := want.Words
	for _, kind := range want.Kinds {
		found = append(found, s.values(want, kind)...)
	}
	told := map[string]bool{}
	for _, word := range found {
		if told[word.Value] {
			continue
		}
		told[word.Value] = true
		if strings.HasPrefix(word.Value, ":") || strings.HasPrefix(word.Value, want.Current) {
			safetext.Fprintf(s.out, "%s", want.Before+word.Value)
			safetext.Fprintf(s.out, "\t%s\n", word.Means)
		}
	}
	return nil
}

// values are what a kind stands for, here; none where that cannot be told.
func (s *session) values(want complete.Want, kind string) []complete.Word {
	if fixed := s.fixedValues(want, kind); len(fixed) > 0 {
		return fixed
	}
	switch {
	case kind == "DIR":
		return plain(":dirs")
	case strings.HasPrefix(kind, "FILE"), strings.HasPrefix(kind, "TASK"), kind == "PATH":
		return plain(":files")
	}
	store, err := s.open()
	if err != nil {
		return nil
	}
	switch kind {
	case "RUN":
		return s.runIDs(store, want)
	case "ID", "REVIEW":
		return s.reviewIDs(store, want)
	case "FINDING":
		return s.findings(store, want)
	case "BRANCH":
		return s.refs(store, "refs/heads/")
	case "COMMIT", "REV", "A..B":
		return append(plain("HEAD"), append(s.refs(store, "refs/heads/"), s.refs(store, "refs/tags/")...)...)
	case "REMOTE":
		return remotes(store.Repo.Config)
	case "SNAPSHOT":
		return s.kept(store)
	case "NAME":
		return s.names(store, want)
	}
	return nil
}

func plain(values ...string) (words []complete.Word) {
	for _, value := range values {
		words = append(words, complete.Word{Value: value})
	}
	return words
}

// fixedValues are those that are the same everywhere.
func (s *session) fixedValues(want complete.Want, kind string) []complete.Word {
	switch kind {
	case "COMMAND":
		return complete.Commands(s.app().Commands)
	case "TOPIC":
		var words []complete.Word
		for _, topic := range topics() {
			words = append(words, complete.Word{Value: topic.Name, Means: topic.Usage})
		}
		return words
	case "KEY":
		return plain(config.KeyNames()...)
	case "TOOLS":
		return plain(register.Names()...)
	case "VERDICT":
		return plain(render.VerdictNames...)
	case "REASON":
		return plain(record.InterventionReasons()...)
	case "KIND":
		return plain("security", "tests", "design", "performance")
	}
	return plain(flagValues(want.Flag)...)
}

// flagValues are the values of flags whose help lists them in a sentence.
func flagValues(flag string) []string {
	switch flag {
	case "status":
		return []string{record.StatusWaiting, "inbox", "all", "open", "submitted", "claimed", "resolved", "cancelled"}
	case "side":
		return []string{"new", "old"}
	case "severity":
		return []string{"critical", "warning", "note"}
	case "require":
		return []string{"reviewed", "passed"}
	case "on-exhausted":
		return []string{"ask", "commit", "skip", "stop"}
	case "profile":
		return []string{"quality", "balanced", "budget"}
	}
	return nil
}

func (s *session) runIDs(store *record.Store, want complete.Want) []complete.Word {
	runs, _, _ := store.Runs(s.ctx, record.Filter{Limit: completions, Some: true})
	words := []complete.Word{{Value: record.Latest, Means: "the newest"}}
	for _, run := range runs {
		words = append(words, complete.Word{Value: typedID(run.ID, want.Current), Means: string(run.Status) + "  " + run.Entity.Title})
	}
	return words
}

// reviewIDs are of reviews that the command can do something with.
func (s *session) reviewIDs(store *record.Store, want complete.Want) []complete.Word {
	status := ""
	if len(want.Path) == 2 {
		status = map[string]string{"claim": "submitted", "release": "claimed", "resolve": "inbox", "submit": "open", "cancel": "open", "reopen": "resolved"}[want.Path[1]]
	}
	if status == "" {
		status = "all"
	}
	fits, err := record.StatusFilter(status)
	if err != nil {
		return nil
	}
	reviews, _, _ := store.Reviews(s.ctx, record.Filter{Status: fits, Limit: completions, Some: true, ByNeed: true})
	words := []complete.Word{{Value: record.Latest, Means: "the newest"}}
	for _, review := range reviews {
		words = append(words, complete.Word{Value: typedID(review.ID, want.Current), Means: string(review.Status) + "  " + review.Title})
	}
	return words
}

// typedID is an id, or its suffix where that is what somebody began to type.
func typedID(id, typed string) string {
	_, suffix, ok := strings.Cut(id, "-")
	if ok && typed != "" && strings.HasPrefix(suffix, typed) && !strings.HasPrefix(id, typed) {
		return suffix
	}
	return id
}

func (s *session) findings(store *record.Store, want complete.Want) (words []complete.Word) {
	if len(want.Args) == 0 {
		return nil
	}
	review, err := store.Review(s.ctx, want.Args[0])
	if err != nil {
		return nil
	}
	for _, f := range render.NewReviewDocument(review).Findings {
		words = append(words, complete.Word{Value: f.ID, Means: f.Issue})
	}
	return words
}

func (s *session) refs(store *record.Store, prefix string) []complete.Word {
	refs, _ := store.Repo.Refs(s.ctx, prefix)
	var words []complete.Word
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		words = append(words, complete.Word{Value: strings.TrimPrefix(name, prefix)})
	}
	return words
}

func remotes(settings map[string][]string) (words []complete.Word) {
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if name, ok := strings.CutSuffix(strings.TrimPrefix(key, "remote."), ".url"); ok && strings.HasPrefix(key, "remote.") {
			words = append(words, complete.Word{Value: name, Means: settings[key][0]})
		}
	}
	return words
}

func (s *session) kept(store *record.Store) (words []complete.Word) {
	kept, _ := store.Repo.Snapshots(s.ctx)
	for _, snapshot := range kept[:min(len(kept), completions)] {
		words = append(words, complete.Word{Value: snapshot.Name, Means: snapshot.Why})
	}
	return words
}

// names are of agents, or of checks.
func (s *session) names(store *record.Store, want complete.Want) []complete.Word {
	conf, err := config.Read(s.ctx, store.Repo, s.getenv)
	if err != nil {
		return nil
	}
	command := strings.Join(want.Path, " ")
	switch {
	case want.Flag == "model":
		return nil
	case want.Flag == "after", command == "check" && want.Flag == "":
		return plain(conf.CheckNames()...)
	case want.Flag == "reviewer":
		return plain(append([]string{role.Builtin, record.Human}, conf.AgentNames()...)...)
	}
	return plain(conf.AgentNames()...)
}
