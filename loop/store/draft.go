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
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/comment"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// Draft is what a person has written for a review and not submitted. It is a file of this clone, written atomically
// and synced, so that a crash loses nothing.
type Draft struct {
	Actor    string           `json:"actor"`
	Comments []record.Comment `json:"comments"`
	Message  string           `json:"message,omitempty"`
	Viewed   []string         `json:"viewed,omitempty"` // files that the person has viewed

	taken map[string]bool // ids of comments in the draft and in submissions
}

// maxDraft is the maximum size of a draft in bytes: it must fit into an event.
const maxDraft = 200 << 10

// ErrDraftFull is the error for a draft that would not fit into an event.
var ErrDraftFull = errors.New("the draft is full: submit it and go on in a new one")

// draftPath returns the file of actor's draft. Its name is a hash of the person's address, or of a name without an
// address, because a name may contain any character. It moves the draft of an earlier version, which hashed the whole
// name.
func (s *Store) draftPath(review, actor string) string {
	file := func(name string) string {
		sum := sha256.Sum256([]byte(name))
		return filepath.Join(s.Repo.StateDir(), "drafts", review, hex.EncodeToString(sum[:8])+".json")
	}
	path, earlier := file(record.ActorKey(actor)), file(actor)
	if _, err := os.Lstat(earlier); err != nil || path == earlier {
		return path
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		_ = os.Rename(earlier, path)
	}
	return path
}

// TypedDir returns the directory of texts typed for a review or run that are in no draft yet. Their file names begin
// with its id.
func (s *Store) TypedDir() string { return filepath.Join(s.Repo.StateDir(), "typed") }

// Draft returns what actor has written for a review, or an empty draft. It leaves out what is already submitted, which
// a killed process may not have removed.
func (s *Store) Draft(review record.Review, actor string) (Draft, error) {
	return s.readDraft(review, actor, s.draftPath(review.ID, actor))
}

// readDraft is Draft for a file; actor is whose it is if the file does not say that.
func (s *Store) readDraft(review record.Review, actor, path string) (Draft, error) {
	d := Draft{Actor: actor, Comments: []record.Comment{}, taken: comment.IDs(review.Comments())}
	data, err := safefile.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err != nil {
		return d, fmt.Errorf("read draft: %w", err)
	}
	if json.Unmarshal(data, &d) != nil {
		return Draft{Actor: actor, Comments: []record.Comment{}, taken: d.taken}, s.setAside(path)
	}
	d.Comments = slices.DeleteFunc(d.Comments, func(c record.Comment) bool { return d.taken[c.ID] })
	if slices.ContainsFunc(review.Submissions, func(s record.Submission) bool {
		return record.SameActor(s.Reviewer, d.Actor) && s.Report.Summary == d.Message
	}) {
		d.Message = ""
	}
	maps.Copy(d.taken, comment.IDs(d.Comments))
	return d, nil
}

// setAside renames an unreadable draft out of the way.
func (s *Store) setAside(path string) error {
	aside := path + ".damaged"
	if err := os.Rename(path, aside); err != nil {
		return fmt.Errorf("set a damaged draft aside: %w", err)
	}
	s.tell("A draft could not be read: what is left of it is kept in %s.", aside)
	return nil
}

// drafts returns all drafts for a review in this clone that are not empty.
func (s *Store) drafts(review record.Review) ([]Draft, error) {
	files, err := filepath.Glob(filepath.Join(s.Repo.StateDir(), "drafts", review.ID, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("list drafts: %w", err)
	}
	var drafts []Draft
	for _, path := range files {
		d, err := s.readDraft(review, "", path)
		if err != nil {
			return drafts, err
		}
		if len(d.Comments) > 0 || d.Message != "" {
			drafts = append(drafts, d)
		}
	}
	slices.SortFunc(drafts, func(a, b Draft) int { return strings.Compare(a.Actor, b.Actor) })
	return drafts, nil
}

// KeptDraft describes a draft of a closed review that was never submitted.
type KeptDraft struct {
	Actor    string `json:"actor"`
	Comments int    `json:"comments"`
	List     string `json:"list,omitempty"` // the command that shows it
}

// Words says whose draft it is.
func (d KeptDraft) Words() string {
	return fmt.Sprintf("A draft with %s is kept, by %s", prose.Count(d.Comments, "comment"), safetext.Line(d.Actor))
}

// HasDraft reports whether somebody in this clone has a draft for the review, or drafts cannot be read.
func (s *Store) HasDraft(review record.Review) bool {
	drafts, err := s.drafts(review)
	return err != nil || len(drafts) > 0
}

// KeptDrafts returns the drafts that remain of a closed review, and nothing if the review is not closed. me needs no
// --as to see the own draft.
func (s *Store) KeptDrafts(review record.Review, me string) ([]KeptDraft, error) {
	if review.Status != record.ReviewCancelled && review.Status != record.ReviewResolved {
		return nil, nil
	}
	drafts, err := s.drafts(review)
	var kept []KeptDraft
	for _, d := range drafts {
		argv := []string{"git", "runr", "inbox", "comment", review.ID, "--list"}
		if !record.SameActor(d.Actor, me) {
			argv = append(argv, "--as", d.Actor)
		}
		line := safetext.ShellLine(argv...)
		kept = append(kept, KeptDraft{d.Actor, len(d.Comments), line})
	}
	return kept, err
}

// closedRemembered is how long what a closed review leaves unsettled is listed.
const closedRemembered = 14 * 24 * time.Hour

// Stranded returns a line for each draft of me for a review that was closed before it was submitted.
func (s *Store) Stranded(ctx context.Context, me string) (lines []string, err error) {
	files, err := filepath.Glob(filepath.Join(s.Repo.StateDir(), "drafts", "*", "*.json"))
	seen := ""
	for _, file := range files {
		id := filepath.Base(filepath.Dir(file))
		info, infoErr := os.Lstat(file)
		if id == seen || infoErr != nil || s.Now().Sub(info.ModTime()) > closedRemembered {
			continue
		}
		seen = id
		review, reviewErr := s.Review(ctx, id)
		if reviewErr != nil { // it was dropped, or never synced
			continue
		}
		kept, keptErr := s.KeptDrafts(review, me)
		err = errors.Join(err, keptErr)
		for _, d := range kept {
			if record.SameActor(d.Actor, me) {
				lines = append(lines, fmt.Sprintf("%s not submitted, because review %s was %s: %s",
					prose.Count(d.Comments, "comment"), review.ID, review.Status, d.List))
			}
		}
	}
	return lines, err
}

// EditDraft changes actor's draft of a review that still accepts comments.
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
	had := len(d.Comments)
	if err := edit(&d); err != nil {
		return d, err
	}
	if err := review.MaySay(""); err != nil && len(d.Comments) > had {
		return d, err
	}
	return d, s.writeDraft(review.ID, d)
}

// lockDrafts prevents others from changing and submitting drafts of a review, and returns the review as of then. The
// caller must call unlock once.
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

// Add appends a comment to the draft. It gives it an id, unless c has one that is free.
func (d *Draft) Add(c record.Comment) record.Comment {
	c.FillIn(d.Actor, d.taken)
	d.Comments = append(d.Comments, c)
	return c
}

// Comment returns the comment with an id, or a *NotFoundError.
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
	if err != nil {
		return err
	}
	c.Comment = text
	return nil
}

// Remove removes a comment.
func (d *Draft) Remove(id string) error {
	_, err := d.Comment(id)
	d.Comments = slices.DeleteFunc(d.Comments, func(c record.Comment) bool { return c.ID == id })
	return err
}

// HasViewed reports whether a file is marked as viewed.
func (d Draft) HasViewed(file string) bool {
	return slices.Contains(d.Viewed, string([]rune(file))) // invalid UTF-8 is replaced as JSON replaces it
}

// SetViewed marks a file as viewed, or not.
func (d *Draft) SetViewed(file string, viewed bool) {
	file = string([]rune(file))
	d.Viewed = slices.DeleteFunc(d.Viewed, func(name string) bool { return name == file })
	if viewed {
		d.Viewed = append(d.Viewed, file)
	}
}

// dropDraft removes from actor's draft what is submitted. Later additions stay. The caller holds the lock of
// lockDrafts.
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

// lookPath returns the file that holds when a review was last looked at in this clone. It is never shared.
func (s *Store) lookPath(review string) string {
	return filepath.Join(s.Repo.StateDir(), "looks", review+".json")
}

// Look records that a review was looked at now in this clone. An earlier look at the same state is kept: events that
// another clone recorded after that look and that arrive later are new.
func (s *Store) Look(review record.Review) error {
	if at, err := s.Looked(review.ID); err == nil && at.After(review.UpdatedAt) {
		return nil
	}
	data, err := json.Marshal(s.Now())
	if err != nil {
		return err
	}
	return safefile.WriteFile(s.lookPath(review.ID), data, 0o644)
}

// Looked returns when a review was last looked at in this clone, or the zero Time.
func (s *Store) Looked(review string) (at time.Time, err error) {
	data, err := safefile.ReadFile(s.lookPath(review))
	if errors.Is(err, fs.ErrNotExist) {
		return at, nil
	}
	_ = json.Unmarshal(data, &at) // it leaves the zero Time if the file is damaged
	return at, err
}

// checkedHerePath returns the file that lists commits in which rules and checks found nothing, if sync.checked keeps
// that in the clone: one id a line, oldest first. A lost line costs only another check.
func (s *Store) checkedHerePath() string { return filepath.Join(s.Repo.StateDir(), "checked") }

// KeepChecked records in this clone only that rules and checks found nothing in a commit.
func (s *Store) KeepChecked(commit gitstore.ID) error {
	file, err := os.OpenFile(s.checkedHerePath(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("keep that commit %s was checked: %w", commit.Short(), err)
	}
	_, err = file.WriteString(string(commit) + "\n")
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("keep that commit %s was checked: %w", commit.Short(), err)
	}
	return nil
}

// CheckedHere returns the commits recorded by KeepChecked.
func (s *Store) CheckedHere() (map[gitstore.ID]bool, error) {
	data, err := safefile.ReadFile(s.checkedHerePath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what was checked here: %w", err)
	}
	checked := map[gitstore.ID]bool{}
	for line := range strings.Lines(string(data)) {
		checked[gitstore.ID(strings.TrimSuffix(line, "\n"))] = true
	}
	return checked, nil
}
