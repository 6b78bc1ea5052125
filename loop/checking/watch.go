package checking

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// Watch detects what an agent does to the repository beyond its own files. It watches checks and hooks in the same way,
// because they run what an agent wrote.
type Watch struct {
	Store    *store.Store
	Progress Progress
	Tree     *gitstore.Worktree
	Own      []string // full names of branches that may move
	While    string   // "implementer NAME worked"
	alone    bool     // refs that somebody else may have moved are not reported

	Meanwhile *[]string // gets the changes that are only mentioned, with the commands that undo them; may be nil
}

// During runs use with the context of an agent's turn, and returns a failure if the agent tampered with the repository.
// It checks files before it runs git again; while git's configuration is changed, only those git commands run that
// start no other program. Changes that a person may have made are reported and stop nothing.
func (w Watch) During(ctx context.Context, use func(context.Context) error) (*record.Failure, error) {
	guard, err := w.Store.Repo.Guard(ctx, w.Tree, w.While, w.Own...)
	if err != nil {
		return nil, err
	}
	defer guard.Close()
	if w.Meanwhile != nil {
		guard.WatchCheckout(ctx)
	}
	err = use(agent.Traced(ctx, guard.Trace()))
	after := context.WithoutCancel(ctx) // also after an interrupt
	if guard.Gone() {
		w.Store.Repo.Stop()
		return nil, goneError{w.Store.Repo.CommonDir, w.While}
	}
	found := guard.Changes(after)
	if found.At = w.Store.EventTime(); w.alone { // nobody would show changes that a person may have made
		found = found.WithoutPeople()
	}
	own, keepErr := w.keepOld(after, &found)
	if err = errors.Join(err, keepErr); !found.Empty() { // before git runs again
		err = errors.Join(err, w.Store.Repo.NoteAlteration(after, found))
	}
	failure := w.tell(ctx, found, own)
	w.nameBeside(guard.LooseFiles(after, failure == nil), guard.Stowed())
	return failure, err
}

// nameBeside prints and records which files of the user's checkout changed, whoever changed them, and what was put on
// the stash, which all worktrees share.
func (w Watch) nameBeside(files []string, stowed []gitstore.Stashed) {
	if w.Meanwhile == nil {
		return
	}
	var lines []string
	if len(files) > 0 {
		lines = append(lines, "files of your checkout changed: "+prose.FirstNames(files, 10))
	}
	for _, s := range stowed {
		lines = append(lines, fmt.Sprintf("%s was put on the stash (%s)", s.ID.Short(), safetext.Line(s.Message)))
	}
	for _, line := range lines {
		*w.Meanwhile = append(*w.Meanwhile, line)
		w.Progress.Say(fmt.Sprintf("while %s, %s", w.While, line))
	}
}

// keepOld keeps the commits from which refs were moved, and restores this program's own refs; own describes those.
func (w Watch) keepOld(ctx context.Context, a *gitstore.Alteration) (own []string, err error) {
	var moved []gitstore.RefChange
	local := 0
	for _, c := range a.Refs {
		done, ownErr := false, error(nil)
		if c.ByAgent {
			done, ownErr = w.Store.Repo.PutBackOwn(ctx, c)
		}
		err = errors.Join(err, ownErr, w.keep(ctx, c.Old))
		switch {
		case done && strings.HasPrefix(c.Ref, "refs/runr-local/") && !strings.HasPrefix(c.Ref, "refs/runr-local/private/"):
			local++
		case done:
			own = append(own, movedText(c)+", and is put back")
		default:
			moved = append(moved, c)
		}
	}
	if local > 0 {
		own = append(own, prose.Count(local, "ref")+" below refs/runr-local moved or deleted, and put back")
	}
	for _, s := range a.Stash {
		err = errors.Join(err, w.keep(ctx, s.ID))
	}
	a.Refs = moved
	return own, err
}

// goneError reports that the repository was removed or replaced.
type goneError struct{ dir, while string }

func (e goneError) Error() string {
	return fmt.Sprintf("the repository in %s was removed or replaced while %s", e.dir, e.while)
}

func (goneError) Unwrap() error { return gitstore.ErrTampered }

// tell returns a failure for changes that git or this program would run or follow and for changes by an agent, or nil,
// and reports all other changes.
func (w Watch) tell(ctx context.Context, a gitstore.Alteration, stops []string) *record.Failure {
	more, mentions := alterations(w.Store.Repo, a)
	stops = append(stops, more...)
	w.mention(mentions)
	if len(stops) == 0 {
		return nil
	}
	if w.alone { // nobody else shows it
		w.Progress.Say("what changed: git runr guard")
	}
	detail := fmt.Sprintf("while %s: %s", w.While, strings.Join(stops, "; "))
	failure := &record.Failure{Reason: record.ReasonTamperedRepo, Detail: detail}
	if len(more) > 0 { // else all of it is put back
		failure.Undo = GuardLines(w.Store.Repo.Altered(ctx))
	}
	return failure
}

// alterations describes the changes that stop a run, because git or this program would run or follow them or because an
// agent made them, and those that a person may have made.
func alterations(repo *gitstore.Repo, a gitstore.Alteration) (stops, mentions []string) {
	add := func(stop bool, what string) {
		if stop {
			stops = append(stops, what)
		} else {
			mentions = append(mentions, what)
		}
	}
	for _, c := range a.Files {
		add(c.Executes != "", changedText(c, repo.PlaceName(c.Path)))
	}
	for _, c := range a.Refs {
		add(c.ByAgent, movedText(c))
	}
	for _, s := range a.Stash {
		add(a.StashByAgent, fmt.Sprintf("%s of the stash was dropped (%s)", s.ID.Short(), safetext.Line(s.Message)))
	}
	for _, h := range a.Heads {
		add(h.ByAgent, fmt.Sprintf("HEAD of %s went from %s to %s", repo.PlaceName(h.GitDir), short(h.Was), short(h.Is)))
	}
	for _, b := range a.Begun {
		add(false, fmt.Sprintf("a %s was begun in %s", b.Operation, repo.PlaceName(b.GitDir)))
	}
	for _, dir := range a.Staged {
		add(false, fmt.Sprintf("the index of %s was changed", repo.PlaceName(dir)))
	}
	return stops, mentions
}

// Changes describes an alteration in lines.
func Changes(repo *gitstore.Repo, a gitstore.Alteration) []string {
	stops, mentions := alterations(repo, a)
	return append(stops, mentions...)
}

// GuardLines returns the commands that show what changed, restore it or accept it; err is what Repo.Altered returned.
// Where git cannot start, because it cannot read its configuration, they start without git.
func GuardLines(err error) []string {
	git := "git "
	var altered *gitstore.AlteredError
	if errors.As(err, &altered) && altered.Unreadable {
		git = "git-"
	}
	return []string{git + "runr guard", git + "runr guard restore", git + "runr guard accept"}
}

// mention reports changes that a person may have made.
func (w Watch) mention(what []string) {
	if w.Meanwhile != nil {
		*w.Meanwhile = append(*w.Meanwhile, what...)
	}
	if len(what) > 0 && !w.alone {
		w.Progress.Say(fmt.Sprintf("while %s, this changed as well; if that was not you: git runr guard", w.While))
	}
	for _, line := range what {
		w.Progress.Say("  " + line)
	}
}

// changedText describes the change of a guarded file.
func changedText(c gitstore.FileChange, name string) string {
	switch {
	case c.IsLink != c.WasLink && c.IsLink != "":
		return fmt.Sprintf("%s is a link to %s now", name, safetext.Line(c.IsLink))
	case c.Was == nil:
		return name + " was written"
	case c.Is == nil:
		return name + " was removed"
	case c.Executes != "" && c.Kind == gitstore.KindConfig:
		return fmt.Sprintf("%s was changed (%s)", name, c.Executes)
	case len(c.Settings) > 0:
		return fmt.Sprintf("%s was changed (%s)", name, prose.Names(c.Settings))
	}
	return name + " was changed"
}

// keep keeps a commit from which a ref was moved.
func (w Watch) keep(ctx context.Context, id gitstore.ID) error {
	if id == "" || strings.HasPrefix(string(id), "ref:") || id == "?" {
		return nil
	}
	if err := w.Store.Repo.KeepCommit(ctx, id); !errors.Is(err, gitstore.ErrTampered) {
		return err
	}
	return nil // gc keeps it for two weeks
}

func movedText(c gitstore.RefChange) string {
	name := safetext.Line(strings.TrimPrefix(c.Ref, "refs/heads/"))
	switch {
	case c.Old == "":
		return fmt.Sprintf("%s was made at %s", name, short(string(c.New)))
	case c.New == "":
		return fmt.Sprintf("%s was deleted, from %s", name, short(string(c.Old)))
	}
	return fmt.Sprintf("%s was moved from %s to %s", name, short(string(c.Old)), short(string(c.New)))
}

// short shortens the branch or commit in a ref's value for people.
func short(says string) string {
	says = strings.TrimPrefix(says, "ref: ")
	if strings.HasPrefix(says, "refs/") {
		return safetext.Line(strings.TrimPrefix(says, "refs/heads/"))
	}
	return gitstore.ID(safetext.Line(says)).Short()
}

func Gone(dir string) bool {
	info, err := os.Lstat(dir)
	return err != nil || !info.IsDir()
}

// RemovedTree returns the failure of an agent whose working directory was removed while it worked, by whomever.
func RemovedTree(name string) *record.Failure {
	return &record.Failure{Reason: record.ReasonAgentFailed,
		Detail: fmt.Sprintf("the working tree was removed while agent %q worked in it", name)}
}
