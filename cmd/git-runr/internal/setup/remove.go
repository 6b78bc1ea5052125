package setup

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/register"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/hooks"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/store"
)

// Removal is one thing that is to be taken out.
type Removal struct {
	What string // for people
	Do   func() error
}

// removal collects them.
type removal struct {
	todo []Removal
	left []string
}

func (r *removal) add(what string, do func() error) { r.todo = append(r.todo, Removal{what, do}) }

// Removals are what is to be taken out of a repository, in this order: what is last puts back what the
// others leave. left is what stays, and why. conf is nil where it cannot be read. Records stay unless refs is set.
func Removals(ctx context.Context, records *store.Store, conf *config.Config, refs bool) (todo []Removal, left []string, err error) {
	repo := records.Repo
	was, known := readBefore(repo)
	r := &removal{}
	if err := r.hooks(ctx, repo); err != nil {
		return nil, nil, err
	}
	if err := r.agents(repo); err != nil {
		return nil, nil, err
	}
	if !was.ShowsNotes && ShowsNotes(repo) {
		r.add("the notes in git log ("+displayRef+")", func() error { return repo.UnsetValue(ctx, displayRef, store.NotesRef) })
	}
	if refs {
		if err := r.records(ctx, repo); err != nil {
			return nil, nil, err
		}
	}
	if conf != nil {
		if state, _ := conf.Trust(); state != config.Untrusted {
			r.add("the approval of "+config.FileName, conf.Revoke)
		}
	}
	r.file(ctx, repo, was)
	whole := known || refs && len(r.todo) > 0
	if repo.Config.Get("runr.writer") != "" && !bytes.Contains(was.Config, []byte("writer")) {
		r.add("the id of this clone (runr.writer)", func() error { return repo.UnsetKey(ctx, "runr.writer") })
	}
	if whole {
		r.own(repo, was, refs)
	}
	return r.todo, r.left, nil
}

func (r *removal) hooks(ctx context.Context, repo *gitstore.Repo) error {
	statuses, err := hooks.StatusOf(ctx, repo, false)
	ours := func(st hooks.Status) bool {
		return st.State == hooks.Installed || st.State == hooks.Outdated || st.Known
	}
	known := repo.Config.Get(hooks.ProgramKey) != "" // for hooks that somebody keeps himself
	if err == nil && (known || slices.ContainsFunc(statuses, ours)) {
		r.add("git's hooks that call git-runr", func() error { _, err := hooks.Uninstall(ctx, repo); return err })
	}
	return err
}

func (r *removal) agents(repo *gitstore.Repo) error {
	if repo.WorkTree == "" {
		return nil
	}
	plan, err := register.Removing(register.Place{Top: repo.WorkTree, GitDir: repo.GitDir}, register.Names())
	if err != nil {
		return err
	}
	if r.left = append(r.left, plan.Left()...); !plan.Empty() {
		r.add("what agents are told of git-runr", plan.Write)
	}
	return nil
}

// records takes out the refs under which this clone keeps records.
func (r *removal) records(ctx context.Context, repo *gitstore.Repo) error {
	var names []string
	for _, prefix := range []string{"refs/runr/", "refs/runr-local/", "refs/runr-remotes/"} {
		refs, err := repo.Refs(ctx, prefix)
		if err != nil {
			return err
		}
		for name := range refs {
			names = append(names, name)
		}
	}
	if notes, err := repo.Ref(ctx, store.NotesRef); err != nil {
		return err
	} else if notes != "" {
		names = append(names, store.NotesRef)
	}
	slices.Sort(names)
	if len(names) > 0 {
		r.add(prose.Count(len(names), "ref")+" with every record of this clone", func() error { return repo.DropRefs(ctx, names) })
	}
	return nil
}

// file takes out .runr.toml where init wrote it.
func (r *removal) file(ctx context.Context, repo *gitstore.Repo, was before) {
	path := filepath.Join(repo.WorkTree, config.FileName)
	text, err := os.ReadFile(path)
	if repo.WorkTree == "" || err != nil || was.Wrote == "" {
		return
	}
	head, err := repo.Head(ctx)
	committed := false
	if err == nil {
		committed, _ = repo.HasPath(ctx, head, config.FileName)
	}
	switch {
	case committed:
		r.left = append(r.left, path+": it is committed; git rm "+config.FileName)
	case safefile.Hash(text) != was.Wrote:
		r.left = append(r.left, path+": it was changed since")
	default:
		r.add(path, func() error { return os.Remove(path) })
	}
}

// own takes out this clone's own directory, and all of it only with its records.
func (r *removal) own(repo *gitstore.Repo, was before, refs bool) {
	keep := []string{}
	what := repo.StateDir()
	for _, name := range []string{"drafts", "runs", "edit", "rewrites"} {
		if entries, _ := os.ReadDir(filepath.Join(repo.StateDir(), name)); len(entries) > 0 && !refs {
			keep = append(keep, name)
		}
	}
	if len(keep) > 0 {
		what += ", but for " + strings.Join(keep, ", ")
	}
	r.add(what, func() error { return errors.Join(was.putConfigBack(repo), was.emptyOwn(repo, keep)) })
}
