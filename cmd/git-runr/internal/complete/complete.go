// Package complete finds what a word on a command line may be, for the completion of shells: commands, options, and
// values of the required kind, some of which depend on the repository.
package complete

import (
	"cmp"
	"context"
	"embed"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/argv"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/register"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/store"
)

// Scripts has the completion scripts of the shells: bash.sh, zsh.sh and fish.fish.
//
//go:embed bash.sh zsh.sh fish.fish
var Scripts embed.FS

// Word is a possible completion.
type Word struct{ Value, Means string }

// Want says what the last word of a line may be.
type Want struct {
	Words   []Word   // commands, options and values listed in the command's own help
	Kinds   []string // kinds of other values, named as in help: RUN or FILE
	Path    []string // the commands before it
	Flag    string   // the flag whose value is typed, without dashes; "" for none
	Dir     string   // the value of -C
	Before  string   // the part of the word before the value: "--reviewer=" or "claude,"
	Current string   // the value typed so far
	Args    []string // arguments before it
}

// Of parses a line without the program's name; its last word is being typed.
func Of(app *cli.Command, typed []string) Want {
	if len(typed) == 0 {
		typed = []string{""}
	}
	r := reader{Want: Want{Current: typed[len(typed)-1]}, path: argv.Path{app}}
	for _, word := range typed[:len(typed)-1] {
		r.take(word)
	}
	r.last()
	return r.Want
}

// reader parses a line word by word.
type reader struct {
	Want
	path  argv.Path
	waits cli.Flag // the flag that needs a value next
	ended bool     // by --
}

func (r *reader) take(word string) {
	switch {
	case r.waits != nil:
		if slices.Contains(r.waits.Names(), "C") {
			r.Dir = word
		}
		r.waits = nil
	case r.ended:
	case word == "--":
		r.ended = true
	case len(word) > 1 && word[0] == '-':
		if name, _, inline := strings.Cut(strings.TrimLeft(word, "-"), "="); !inline {
			if f, _ := r.path.Flag(name); f != nil && argv.TakesValue(f) {
				r.waits = f
			}
		}
	case len(r.Args) == 0 && r.path.Inner().Command(word) != nil:
		c := r.path.Inner().Command(word)
		r.path, r.Path = append(r.path, c), append(r.Path, c.Name)
	default:
		r.Args = append(r.Args, word)
	}
}

// last determines what the last word may be.
func (r *reader) last() {
	name, value, inline := strings.Cut(strings.TrimLeft(r.Current, "-"), "=")
	dashed := strings.HasPrefix(r.Current, "-") && !r.ended
	switch {
	case r.waits != nil:
		r.valueOf(r.waits)
	case dashed && inline:
		r.Before, r.Current = r.Current[:len(r.Current)-len(value)], value
		if f, _ := r.path.Flag(name); f != nil && argv.TakesValue(f) {
			r.valueOf(f)
		}
	case dashed:
		r.options()
	case r.ended:
		r.Kinds = []string{"PATH"}
	default:
		if len(r.Args) == 0 {
			r.Words = append(r.Words, Commands(r.path.Inner().Commands)...)
		}
		r.argument()
	}
}

// Commands returns the commands that are not hidden.
func Commands(commands []*cli.Command) (words []Word) {
	for _, c := range commands {
		if !c.Hidden {
			words = append(words, Word{c.Name, c.Usage})
		}
	}
	return words
}

func (r *reader) options() {
	for _, c := range slices.Backward(r.path) {
		for _, f := range argv.Known(c) {
			usage, _ := describe(f)
			for _, name := range f.Names() {
				word := Word{"--" + name, usage}
				if len(name) == 1 {
					word.Value = "-" + name
				}
				known := func(w Word) bool { return w.Value == word.Value }
				if visible, ok := f.(cli.VisibleFlag); (!ok || visible.IsVisible()) && !slices.ContainsFunc(r.Words, known) {
					r.Words = append(r.Words, word)
				}
			}
		}
	}
}

// valueOf asks for a value of f. In a comma-separated list it asks for the last part.
func (r *reader) valueOf(f cli.Flag) {
	r.Flag = f.Names()[0]
	_, kind := describe(f)
	r.Kinds = []string{kind}
	if at := strings.LastIndexByte(r.Current, ','); at >= 0 {
		r.Before, r.Current = r.Before+r.Current[:at+1], r.Current[at+1:]
	}
}

// describe returns a flag's help, and the name of its value there.
func describe(f cli.Flag) (usage, kind string) {
	documented, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return "", ""
	}
	usage = documented.GetUsage()
	if parts := strings.SplitN(usage, "`", 3); len(parts) == 3 {
		kind, usage = parts[1], strings.Join(parts, "")
	}
	return usage, kind
}

// argument determines the next argument from the command's usage, such as "RUN commit|skip|stop": words in lower case
// are values, others are names of kinds.
func (r *reader) argument() {
	usage, _, _ := strings.Cut(r.path.Inner().ArgsUsage, "-- ")
	usage = strings.NewReplacer("[", "", "]", "", "| --all", "").Replace(usage)
	words := strings.Fields(strings.ReplaceAll(usage, "…", ""))
	if many := strings.Contains(usage, "…"); len(words) == 0 || len(r.Args) >= len(words) && !many {
		return
	}
	for kind := range strings.SplitSeq(words[min(len(r.Args), len(words)-1)], "|") {
		if strings.ToLower(kind) == kind && kind != "-" {
			r.Words = append(r.Words, Word{Value: kind})
			continue
		}
		r.Kinds = append(r.Kinds, kind)
	}
}

// limit is the maximum number of ids of a kind: a longer list helps nobody.
const limit = 100

// Fixed returns the values of a kind that are the same in every repository.
func (w Want) Fixed(kind string) []Word {
	if values := map[string][]string{
		"KEY": config.KeyNames(), "TOOLS": register.Names(), "VERDICT": render.VerdictNames,
		"REASON": record.InterventionReasons(), "KIND": {"security", "tests", "design", "performance"}, "DIR": {":dirs"},
	}[kind]; values != nil {
		return plain(values...)
	}
	if values := FlagValues(w.Flag); len(values) > 0 {
		return plain(values...)
	}
	if strings.HasPrefix(kind, "FILE") || strings.HasPrefix(kind, "TASK") || kind == "PATH" {
		return plain(":files")
	}
	return nil
}

// FlagValues returns the values of a flag whose help lists them in a sentence.
func FlagValues(flag string) []string {
	return map[string][]string{
		"status": {record.StatusWaiting, "inbox", "all", "open", "submitted", "claimed", "resolved", "cancelled"},
		"side":   {"new", "old"}, "severity": {"critical", "warning", "note"}, "require": config.Levels[:3],
		"on-exhausted": {"ask", "commit", "skip", "stop"}, "profile": {"quality", "balanced", "budget"},
	}[flag]
}

// In returns the values of a kind in a repository, or none if they cannot be read.
func (w Want) In(ctx context.Context, records *store.Store, getenv func(string) string, kind string) []Word {
	switch kind {
	case "RUN":
		all, _, _ := records.Runs(ctx, store.Filter{Limit: limit, Some: true})
		return append(newest(), each.Of(all, func(r record.RunSummary) Word {
			return Word{typedID(r.ID, w.Current), string(r.Status) + "  " + r.Entity.Title}
		})...)
	case "ID", "REVIEW":
		return w.reviews(ctx, records)
	case "FINDING":
		if len(w.Args) == 0 {
			return nil
		}
		review, _ := records.Review(ctx, w.Args[0])
		return each.Of(review.Joined(), func(f record.Joined) Word { return Word{f.ID, f.Issue} })
	case "BRANCH":
		return refs(ctx, records.Repo, "refs/heads/")
	case "COMMIT", "REV", "A..B":
		return slices.Concat(plain("HEAD"), refs(ctx, records.Repo, "refs/heads/"), refs(ctx, records.Repo, "refs/tags/"))
	case "REMOTE":
		return each.Of(records.Repo.Remotes(), func(name string) Word {
			return Word{name, records.Repo.Config["remote."+name+".url"][0]}
		})
	case "SNAPSHOT":
		kept, _ := records.Repo.Snapshots(ctx)
		return each.Of(kept[:min(len(kept), limit)], func(s gitstore.SnapshotInfo) Word { return Word{s.Name, s.Why} })
	case "NAME":
		conf, err := config.Read(ctx, records.Repo, getenv)
		if err != nil {
			return nil
		}
		return w.names(conf)
	}
	return nil
}

func plain(values ...string) []Word {
	return each.Of(values, func(value string) Word { return Word{Value: value} })
}

// newest is the word for the newest run or review.
func newest() []Word { return []Word{{Value: record.Latest, Means: "the newest"}} }

// reviews returns the reviews to which the command applies.
func (w Want) reviews(ctx context.Context, records *store.Store) []Word {
	status := map[string]string{"inbox claim": "submitted", "inbox release": "claimed", "inbox resolve": "inbox",
		"inbox submit": "open", "inbox cancel": "open", "inbox reopen": "resolved"}[strings.Join(w.Path, " ")]
	fits, err := record.StatusFilter(cmp.Or(status, "all"))
	if err != nil {
		return nil
	}
	all, _, _ := records.Reviews(ctx, store.Filter{Status: fits, Limit: limit, Some: true, ByNeed: true})
	return append(newest(), each.Of(all, func(r record.ReviewSummary) Word {
		return Word{typedID(r.ID, w.Current), string(r.Status) + "  " + r.Title}
	})...)
}

// typedID returns an id, or its suffix if that is what the user began to type.
func typedID(id, typed string) string {
	_, suffix, ok := strings.Cut(id, "-")
	if ok && typed != "" && strings.HasPrefix(suffix, typed) && !strings.HasPrefix(id, typed) {
		return suffix
	}
	return id
}

func refs(ctx context.Context, repo *gitstore.Repo, prefix string) []Word {
	all, _ := repo.Refs(ctx, prefix)
	return each.Of(slices.Sorted(maps.Keys(all)), func(name string) Word {
		return Word{Value: strings.TrimPrefix(name, prefix)}
	})
}

// names returns names of agents or of checks.
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
