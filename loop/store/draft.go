package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/comment"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// Draft is what a person has written of a review and not submitted. It is a file of
// this clone, written and synced as a whole, so a restart loses nothing of it.
type Draft struct {
	Actor    string           `json:"actor"`
	Comments []record.Comment `json:"comments"`
	Message  string           `json:"message,omitempty"`
	Viewed   []string         `json:"viewed,omitempty"` // files that were looked at

	taken map[string]bool // ids of comments, these and those that were submitted
}

// maxDraft is how large a draft may grow, in bytes: it must fit into an event.
const maxDraft = 200 << 10

// ErrDraftFull refuses a draft that would not fit into an event.
var ErrDraftFull = errors.New("the draft is full: submit it and go on in a new one")

// draftPath is the file of actor's draft. The actor's name may hold anything.
func (s *Store) draftPath(review, actor string) string {
	sum := sha256.Sum256([]byte(actor))
	return filepath.Join(s.Repo.StateDir(), "drafts", review, hex.EncodeToString(sum[:8])+".json")
}

// TypedDir is where texts are kept that were typed for a review or run and are in no draft yet: in
// files of which the names begin with its id.
func (s *Store) TypedDir() string { return filepath.Join(s.Repo.StateDir(), "typed") }

// Draft is what actor has written of a review; an empty one when that is nothing.
// What was submitted already, by a process that did not live to drop it, is left out.
func (s *Store) Draft(review record.Review, actor string) (Draft, error) {
	d := Draft{Actor: actor, Comments: []record.Comment{}, taken: comment.IDs(review.Comments())}
	data, err := safefile.ReadFile(s.draftPath(review.ID, actor))
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err == nil && json.Unmarshal(data, &d) != nil {
		return Draft{Actor: actor, Comments: []record.Comment{}, taken: d.taken}, s.setAside(s.draftPath(review.ID, actor))
	}
	if err != nil {
		return d, fmt.Errorf("read draft: %w", err)
	}
	d.Comments = slices.DeleteFunc(d.Comments, func(c record.Comment) bool { return d.taken[c.ID] })
	if slices.ContainsFunc(review.Submissions, func(s record.Submission) bool { return s.Reviewer == actor && s.Report.Summary == d.Message }) {
		d.Message = ""
	}
	maps.Copy(d.taken, comment.IDs(d.Comments))
	return d, nil
}

// setAside keeps a draft that cannot be read where it is in nobody's way.
func (s *Store) setAside(path string) error {
	aside := path + ".damaged"
	if err := os.Rename(path, aside); err != nil {
		return fmt.Errorf("set a damaged draft aside: %w", err)
	}
	s.tell("A draft could not be read: what is left of it is kept in %s.", aside)
	return nil
}

// drafts are what anybody in this clone has written of a review and not submitted.
func (s *Store) drafts(review record.Review) ([]Draft, error) {
	files, err := filepath.Glob(filepath.Join(s.Repo.StateDir(), "drafts", review.ID, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("list drafts: %w", err)
	}
	var drafts []Draft
	for _, path := range files {
		var whose struct{ Actor string }
		data, err := safefile.ReadFile(path)
		if err == nil && json.Unmarshal(data, &whose) != nil {
			if err = s.setAside(path); err == nil {
				continue
			}
		}
		if err != nil {
			return drafts, fmt.Errorf("list drafts: %w", err)
		}
		d, err := s.Draft(review, whose.Actor)
		if err != nil {
			return drafts, err
		}
		if len(d.Comments) > 0 || d.Message != "" {
			drafts = append(drafts, d)
		}
	}
	return drafts, nil
}

// KeptDraft is what somebody has written of a review that is closed, and not submitted.
type KeptDraft struct {
	Actor    string `json:"actor"`
	Comments int    `json:"comments"`
	List     string `json:"list,omitempty"` // the line that shows it
}

// Words say whose it is.
func (d KeptDraft) Words() string {
	return fmt.Sprintf("A draft with %s is kept, by %s", prose.Count(d.Comments, "comment"), safetext.Line(d.Actor))
}

// HasDraft reports whether somebody has an answer to the review at work in this clone.
func (s *Store) HasDraft(review record.Review) bool {
	drafts, err := s.drafts(review)
	return err != nil || len(drafts) > 0
}

// KeptDrafts are those that closing a review leaves without an answer; none while it is
// not closed. me is who needs not be named to see his own.
func (s *Store) KeptDrafts(review record.Review, me string) ([]KeptDraft, error) {
	if review.Status != record.ReviewCancelled && review.Status != record.ReviewResolved {
		return nil, nil
	}
	drafts, err := s.drafts(review)
	var kept []KeptDraft
	for _, d := range drafts {
		argv := []string{"git", "runr", "inbox", "comment", review.ID, "--list"}
		if d.Actor != me {
			argv = append(argv, "--as", d.Actor)
		}
		line, _ := safetext.CommandLine(argv...)
		kept = append(kept, KeptDraft{d.Actor, len(d.Comments), line})
	}
	return kept, err
}

// EditDraft changes actor's draft of a review, which may still be submitted.
func (s *Store) EditDraft(ctx context.Context, id, actor string, edit func(*Draft) error) (Draft, error) {
	review, unlock, err := s.lockDrafts(ctx, id)
	if err != nil {
		return Draft{}, err
	}
	defer unlock()
	if refused := review.MayComment(actor, s.Now()); refused != nil {
		return Draft{}, refused
	}
	d, err := s.Draft(review, actor)
	if err != nil {
		return d, err
	}
	if err := edit(&d); err != nil {
		return d, err
	}
	return d, s.writeDraft(review.ID, d)
}

// lockDrafts keeps others from changing and from submitting drafts of a review, which it
// gives as it is then. The caller calls unlock once.
func (s *Store) lockDrafts(ctx context.Context, id string) (review record.Review, unlock func(), err error) {
	if review, err = s.Review(ctx, id); err != nil {
		return review, nil, err
	}
	if unlock, err = s.Repo.Lock(ctx, "drafts/"+review.ID); err != nil {
		return review, nil, err
	}
	if review, err = s.Review(ctx, review.ID); err != nil {
		unlock()
	}
	return review, unlock, err
}

func (s *Store) writeDraft(review string, d Draft) error {
	data, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("write draft: %w", err)
	}
	if len(data) > maxDraft {
		return ErrDraftFull
	}
	path := s.draftPath(review, d.Actor)
	if err := safefile.WriteDurable(path, data, 0o600); err != nil {
		return fmt.Errorf("write draft: %w", err)
	}
	return nil
}

// Add puts a comment at the end of the draft and gives it its id.
func (d *Draft) Add(c record.Comment) record.Comment {
	c.ID = ""
	c.FillIn(d.Actor, d.taken)
	d.Comments = append(d.Comments, c)
	return c
}

// Comment is the one of that id, a *NotFoundError without one.
func (d *Draft) Comment(id string) (*record.Comment, error) {
	for i := range d.Comments {
		if d.Comments[i].ID == id {
			return &d.Comments[i], nil
		}
	}
	return nil, &record.NotFoundError{What: "comment", ID: id}
}

// Set replaces the text of a comment.
func (d *Draft) Set(id, text string) error {
	c, err := d.Comment(id)
	if err == nil {
		c.Comment = text
	}
	return err
}

// Remove drops a comment.
func (d *Draft) Remove(id string) error {
	_, err := d.Comment(id)
	d.Comments = slices.DeleteFunc(d.Comments, func(c record.Comment) bool { return c.ID == id })
	return err
}

// HasViewed reports whether a file was looked at.
func (d Draft) HasViewed(file string) bool {
	return slices.Contains(d.Viewed, string([]rune(file))) // as JSON has names
}

// SetViewed says whether a file was looked at.
func (d *Draft) SetViewed(file string, viewed bool) {
	file = string([]rune(file))
	d.Viewed = slices.DeleteFunc(d.Viewed, func(name string) bool { return name == file })
	if viewed {
		d.Viewed = append(d.Viewed, file)
	}
}

// dropDraft forgets what actor has submitted. What was added meanwhile stays. The caller
// holds the lock of lockDrafts.
func (s *Store) dropDraft(review record.Review, actor string) error {
	if _, err := os.Stat(s.draftPath(review.ID, actor)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	d, err := s.Draft(review, actor)
	if err != nil {
		return err
	}
	if len(d.Comments) > 0 || d.Message != "" || len(d.Viewed) > 0 {
		return s.writeDraft(review.ID, d)
	}
	if err := os.Remove(s.draftPath(review.ID, actor)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drop draft: %w", err)
	}
	return nil
}
