package complete

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/register"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/store"
)

// limit is how many ids of a kind are offered: a list that is longer helps nobody.
const limit = 100

// Fixed are the values of a kind that are the same in every repository.
func (w Want) Fixed(kind string) []Word {
	switch kind {
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
	case "DIR":
		return plain(":dirs")
	}
	if values := FlagValues(w.Flag); len(values) > 0 {
		return plain(values...)
	}
	if strings.HasPrefix(kind, "FILE") || strings.HasPrefix(kind, "TASK") || kind == "PATH" {
		return plain(":files")
	}
	return nil
}

// FlagValues are the values of flags whose help lists them in a sentence.
func FlagValues(flag string) []string {
	switch flag {
	case "status":
		return []string{record.StatusWaiting, "inbox", "all", "open", "submitted", "claimed", "resolved", "cancelled"}
	case "side":
		return []string{"new", "old"}
	case "severity":
		return []string{"critical", "warning", "note"}
	case "require":
		return config.Levels[:3]
	case "on-exhausted":
		return []string{"ask", "commit", "skip", "stop"}
	case "profile":
		return []string{"quality", "balanced", "budget"}
	}
	return nil
}

// In are the values of a kind in a repository; none where that cannot be told.
func (w Want) In(ctx context.Context, store *store.Store, getenv func(string) string, kind string) []Word {
	switch kind {
	case "RUN":
		return runs(ctx, store, w.Current)
	case "ID", "REVIEW":
		return w.reviews(ctx, store)
	case "FINDING":
		return w.findings(ctx, store)
	case "BRANCH":
		return refs(ctx, store.Repo, "refs/heads/")
	case "COMMIT", "REV", "A..B":
		return slices.Concat(plain("HEAD"), refs(ctx, store.Repo, "refs/heads/"), refs(ctx, store.Repo, "refs/tags/"))
	case "REMOTE":
		return remotes(store.Repo)
	case "SNAPSHOT":
		return snapshots(ctx, store.Repo)
	case "NAME":
		conf, err := config.Read(ctx, store.Repo, getenv)
		if err != nil {
			return nil
		}
		return w.names(conf)
	}
	return nil
}

func plain(values ...string) (words []Word) {
	for _, value := range values {
		words = append(words, Word{Value: value})
	}
	return words
}

func runs(ctx context.Context, records *store.Store, typed string) []Word {
	all, _, _ := records.Runs(ctx, store.Filter{Limit: limit, Some: true})
	words := []Word{{Value: record.Latest, Means: "the newest"}}
	for _, run := range all {
		words = append(words, Word{Value: typedID(run.ID, typed), Means: string(run.Status) + "  " + run.Entity.Title})
	}
	return words
}

// reviews are those that the command can do something with.
func (w Want) reviews(ctx context.Context, records *store.Store) []Word {
	status := ""
	if len(w.Path) == 2 {
		status = map[string]string{"claim": "submitted", "release": "claimed", "resolve": "inbox", "submit": "open", "cancel": "open", "reopen": "resolved"}[w.Path[1]]
	}
	if status == "" {
		status = "all"
	}
	fits, err := record.StatusFilter(status)
	if err != nil {
		return nil
	}
	all, _, _ := records.Reviews(ctx, store.Filter{Status: fits, Limit: limit, Some: true, ByNeed: true})
	words := []Word{{Value: record.Latest, Means: "the newest"}}
	for _, review := range all {
		words = append(words, Word{Value: typedID(review.ID, w.Current), Means: string(review.Status) + "  " + review.Title})
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

func (w Want) findings(ctx context.Context, store *store.Store) (words []Word) {
	if len(w.Args) == 0 {
		return nil
	}
	review, err := store.Review(ctx, w.Args[0])
	if err != nil {
		return nil
	}
	for _, f := range render.NewReviewDocument(review).Findings {
		words = append(words, Word{Value: f.ID, Means: f.Issue})
	}
	return words
}

func refs(ctx context.Context, repo *gitstore.Repo, prefix string) []Word {
	all, _ := repo.Refs(ctx, prefix)
	var words []Word
	for _, name := range slices.Sorted(maps.Keys(all)) {
		words = append(words, Word{Value: strings.TrimPrefix(name, prefix)})
	}
	return words
}

func remotes(repo *gitstore.Repo) (words []Word) {
	for _, name := range repo.Remotes() {
		words = append(words, Word{Value: name, Means: repo.Config["remote."+name+".url"][0]})
	}
	return words
}

func snapshots(ctx context.Context, repo *gitstore.Repo) (words []Word) {
	kept, _ := repo.Snapshots(ctx)
	for _, snapshot := range kept[:min(len(kept), limit)] {
		words = append(words, Word{Value: snapshot.Name, Means: snapshot.Why})
	}
	return words
}

// names are of agents, or of checks.
func (w Want) names(conf *config.Config) []Word {
	command := strings.Join(w.Path, " ")
	switch {
	case w.Flag == "model":
		return nil
	case w.Flag == "after", command == "check" && w.Flag == "":
		return plain(conf.CheckNames()...)
	case w.Flag == "reviewer":
		return plain(append([]string{role.Builtin, record.Human}, conf.AgentNames()...)...)
	}
	return plain(conf.AgentNames()...)
}
