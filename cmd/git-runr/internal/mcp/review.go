package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/steps"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// requested is the document of the tool review.
type requested struct {
	ID       string `json:"review_id"`
	URL      string `json:"url"` // "" if no page is served
	Status   string `json:"status"`
	Reviewer string `json:"reviewer"`
	Hint     string `json:"hint"`
}

// hint is the last line of the answer, in the words that prompts of agents expect.
const hint = "When the user submits, use review_list and review_get to retrieve comments."

// errNoFiles is in the words that prompts of agents expect.
const errNoFiles = refusal("No files found matching the provided paths.")

func (s *Server) review(ctx context.Context, c call, in reviewArgs) (outcome, error) {
	sameReviewers := in.Reviewer == ""
	before, err := c.before(ctx, &in)
	if err != nil {
		return outcome{}, err
	}
	var names []string
	if in.Reviewer != "" {
		names = []string{in.Reviewer}
	}
	subject, missing, err := c.subject(ctx, in)
	if err != nil {
		return outcome{}, err
	}
	request, err := c.Ask(ctx, names, in.Kind, subject)
	if err != nil {
		return outcome{}, err
	}
	request.Message, request.Follows = in.Message, before.ID
	if sameReviewers && before.ID != "" {
		request.Invited = before.Request.Invited
	}
	made, _, err := intake.Request(ctx, c.Store, request, "mcp")
	if err != nil {
		return outcome{}, err
	}
	if before.ID != "" {
		if err := closing.Supersede(ctx, c.Store, before, made); err != nil {
			return outcome{}, err
		}
	}
	if err := steps.Pin(ctx, c.Store, made); err != nil {
		return outcome{}, err
	}
	warnings := s.start(c, made.Request.Reviewers())
	if len(missing) > 0 {
		warnings = append(warnings, "warning: nothing to review in: "+line(strings.Join(missing, ", "), maxString))
	}
	doc := requested{ID: made.ID, URL: c.Page(made), Status: string(made.Status), Reviewer: request.Reviewer, Hint: hint}
	return outcome{text: doc.text(warnings), doc: doc}, nil
}

// text returns the answer in the form that prompts of agents expect, with warnings.
func (d requested) text(warnings []string) string {
	more := []string{}
	url := cmp.Or(d.URL, "none, no page is served; read it with: git runr show "+d.ID)
	if d.URL == "" && d.Reviewer == record.Human {
		more = append(more, "To review it in a browser, the user types: git runr serve --open")
	}
	if d.Reviewer != record.Human {
		more = append(more, "A pass without notes leaves the list: review_get with this id shows it.")
	}
	lines := slices.Concat([]string{"Review requested (deferred).", "review_id: " + d.ID, "url: " + url, hint}, more,
		warnings)
	return strings.Join(lines, "\n")
}

// before reads the review to request again and fills what in leaves out from it. Without a revision, the new request
// covers the whole change since its base, if its commit is still part of the history here.
func (c call) before(ctx context.Context, in *reviewArgs) (before record.Review, err error) {
	if in.Again == "" {
		return before, nil
	}
	if before, err = c.Store.Review(ctx, in.Again); err != nil {
		return before, err
	}
	asked := before.Request
	in.Reviewer = cmp.Or(in.Reviewer, strings.Join(asked.Reviewers(), ","))
	in.Kind = cmp.Or(in.Kind, asked.Kind)
	if repo := c.Store.Repo; len(in.Files) == 0 && repo.WorkTree != "" {
		for _, path := range asked.Subject.Paths {
			in.Files = append(in.Files, filepath.Join(repo.WorkTree, path))
		}
	}
	if in.Revision != "" || asked.Subject.Commit == "" || asked.Subject.Base == "" {
		return before, nil
	}
	now, err := c.Store.ChooseSubject(ctx, func(*record.Subject) (bool, error) { return true, nil })
	if err != nil || now.Commit == "" || now.Commit == asked.Subject.Commit {
		return before, err
	}
	follows, err := c.Store.Repo.IsAncestor(ctx, asked.Subject.Commit, now.Commit)
	if follows {
		in.Revision = string(asked.Subject.Base) + ".." + string(now.Commit)
	}
	return before, err
}

// start starts the worker if an agent is to review; people are not started.
func (s *Server) start(c call, reviewers []string) (warnings []string) {
	if slices.Equal(reviewers, []string{record.Human}) {
		return nil
	}
	if err := c.StartWorker(); err != nil {
		s.Log("the background worker did not start: %v", err)
		return []string{"warning: the background worker did not start; the user can type: git runr work"}
	}
	return nil
}

// subject returns what to review, and the named files that are not in it.
func (c call) subject(ctx context.Context, in reviewArgs) (subject record.Subject, missing []string, err error) {
	if in.Revision != "" {
		if subject, err = c.Store.Subject(ctx, in.Revision); err != nil {
			return subject, nil, err
		}
		if len(in.Files) == 0 {
			return subject, nil, intake.CheckSubject(ctx, c.Store, subject)
		}
		return c.limited(ctx, subject, in.Files)
	}
	subject, err = c.Store.ChooseSubject(ctx, func(chosen *record.Subject) (bool, error) {
		if len(in.Files) == 0 {
			return true, intake.CheckSubject(ctx, c.Store, *chosen)
		}
		var err error
		*chosen, missing, err = c.limited(ctx, *chosen, in.Files)
		if err == errNoFiles {
			return false, nil
		}
		return err == nil, err
	})
	if errors.Is(err, change.ErrNoSubject) {
		err = errNoFiles
	}
	return subject, missing, err
}

// limited restricts subject to the named files.
func (c call) limited(ctx context.Context, subject record.Subject, files []string) (record.Subject, []string, error) {
	changed, err := c.changedPaths(ctx, subject)
	if err != nil {
		return subject, nil, err
	}
	var paths, missing []string
	for _, file := range files {
		found := c.chosen(changed, file)
		if len(found) == 0 {
			missing = append(missing, file)
		}
		paths = append(paths, found...)
	}
	if len(paths) == 0 {
		return subject, missing, errNoFiles
	}
	if slices.Contains(paths, ".") { // the whole tree
		return subject, missing, nil
	}
	slices.Sort(paths)
	subject.Paths = slices.Compact(paths)
	return subject, missing, nil
}

// chosen returns the changed file called name, or those in the directory name, or else those that match it as a glob.
func (c call) chosen(changed []string, name string) []string {
	name, inside := topPath(c.Store.Repo, name)
	if !inside {
		return nil
	}
	if file, known := named(changed, name); known {
		return []string{file}
	}
	var fits []string
	for _, file := range changed {
		if name == "." || strings.HasPrefix(file, name+"/") {
			return []string{name}
		}
		if ok, err := path.Match(name, file); ok && err == nil {
			fits = append(fits, file)
		}
	}
	return fits
}

// topPath returns name relative to the top of the working tree; false if it is outside.
func topPath(repo *gitstore.Repo, name string) (string, bool) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(repo.Prefix, name)
		return filepath.ToSlash(name), filepath.IsLocal(name)
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil { // the working tree's own path is resolved
		name = filepath.Join(real, filepath.Base(name))
	}
	rel, err := filepath.Rel(repo.WorkTree, name)
	return filepath.ToSlash(rel), err == nil && repo.WorkTree != "" && filepath.IsLocal(rel)
}

// appliesTo describes what a review is about, on one line.
func appliesTo(s record.Subject) string {
	text := fmt.Sprintf("%s %s", s.Kind, s.Spec)
	switch {
	case s.Commit != "":
		text += " = commit " + s.Commit.Short()
	case s.Base != "":
		text += " on " + s.Base.Short()
	}
	if s.Title != "" && s.Commit != "" {
		text += fmt.Sprintf(" %q", line(s.Title, 200))
	}
	if s.Branch != "" {
		text += " on branch " + s.Branch
	}
	return safetext.Line(text)
}
