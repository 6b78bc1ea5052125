package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

// View is what a decision about a new event sees: the state at tips, and the event's clock, time and writer.
type View struct {
	store  *Store
	ctx    context.Context
	tips   gitstore.Tips
	Writer string
	Clock  uint64
	Now    time.Time
}

// AudienceOf returns the audience of a new review: s.Asks if set, else that of the requesting run, else that of the
// followed review, else that of its subject. The next round of a shared review is private if the earlier one was not of
// something private, and this one is.
func (s *Store) AudienceOf(ctx context.Context, request record.ReviewRequest) (gitstore.Audience, error) {
	if request.Run != "" && s.Asks == nil {
		if run, err := s.RunByID(ctx, request.Run); err == nil {
			return s.Repo.Audience(run.Writer), nil
		}
	}
	about := request.Subject
	to, err := s.audienceOn(ctx, about.Branch, about.Commit, about.Base)
	if err != nil || s.Asks != nil || request.Follows == "" {
		return to, err
	}
	before, err := s.ReviewByID(ctx, request.Follows)
	if err != nil {
		return to, nil
	}
	earlier := s.Repo.Audience(before.Writer)
	if !to.Private || earlier.Private {
		return earlier, nil
	}
	about = before.Request.Subject
	if was, err := s.audienceOn(ctx, about.Branch, about.Commit, about.Base); err != nil || !was.Private {
		return to, err
	}
	return earlier, nil // somebody shared what is private
}

// audienceOn returns the audience of something about commits, with a branch checked out: s.Asks if set, else private
// for a private branch and for what only private branches contain, else the elected remote.
func (s *Store) audienceOn(ctx context.Context, branch string, commits ...gitstore.ID) (gitstore.Audience, error) {
	if s.Asks != nil {
		return *s.Asks, nil
	}
	private, err := s.isPrivate(ctx, branch, commits)
	if err != nil || private {
		return gitstore.Audience{Private: true}, err
	}
	return s.Repo.Elected(), nil
}

// isPrivate reports whether branch is private, or the history of commits has a commit that private branches contain,
// here or as last fetched, and no other branch. The branches of runs do not count.
func (s *Store) isPrivate(ctx context.Context, branch string, commits []gitstore.ID) (bool, error) {
	if s.Private == nil {
		return false, nil
	}
	patterns, err := s.Private()
	if err != nil || len(patterns) == 0 {
		return false, err
	}
	if branch != "" && patterns.Match(branch) {
		return true, nil
	}
	refs, err := s.Repo.Refs(ctx, "refs/heads/", "refs/remotes/")
	if err != nil {
		return false, fmt.Errorf("list branches: %w", err)
	}
	var within, outside []gitstore.ID
	for ref, tip := range refs {
		switch name := BranchOf(ref); {
		case patterns.Match(name):
			within = append(within, tip)
		case name != "HEAD" && !strings.HasPrefix(name, "runr/"):
			outside = append(outside, tip)
		}
	}
	return s.Repo.Meets(ctx, commits, within, outside)
}

// BranchOf returns the name of the branch that ref is; of the branch of a remote, the name that a checkout gives it.
func BranchOf(ref string) string {
	name, here := strings.CutPrefix(ref, "refs/heads/")
	if !here {
		_, name, _ = strings.Cut(strings.TrimPrefix(ref, "refs/remotes/"), "/")
	}
	return name
}

// audienceName names who can see the log of writer, or returns "" if all logs have the same audience.
func (s *Store) audienceName(writer string) string {
	if writer == "" || s.Repo.OneAudience() {
		return ""
	}
	return s.Repo.Audience(writer).String()
}

func (s *Store) seen(r record.Review) record.Review {
	r.Audience = s.audienceName(r.Writer)
	return r
}

func (s *Store) seenRun(r record.Run) record.Run {
	r.Audience = s.audienceName(r.Writer)
	return r
}

// Append records one event in this clone's log for an audience. decide runs under the log's lock on the newest state,
// and again if the update of the ref lost a race; it may refuse.
func (s *Store) Append(ctx context.Context, to gitstore.Audience,
	decide func(*View) (record.NewEvent, error)) (record.Event, error) {
	var event record.Event
	done, err := s.Repo.TakeUpLog(ctx, record.IsEntry)
	if s.tellTakenUp(done); err != nil {
		return event, err
	}
	entry, err := s.Repo.AppendFor(ctx, to,
		func(ctx context.Context, tips gitstore.Tips, writer string) (gitstore.Record, error) {
			v := &View{store: s, ctx: ctx, tips: tips, Writer: writer, Now: s.EventTime()}
			var err error
			if v.Clock, err = s.nextClock(ctx, tips); err != nil {
				return gitstore.Record{}, err
			}
			d, err := decide(v)
			if err != nil {
				return gitstore.Record{}, err
			}
			event, err = v.event(d)
			if err != nil {
				return gitstore.Record{}, err
			}
			return v.record(event, d)
		})
	event.ID, event.Actor = entry.ID, entry.Author.String()
	return event, err
}

// AppendAgain appends a copy of an event, with new writer and clock, to this clone's log for an audience. It leaves out
// what was redacted.
func (s *Store) AppendAgain(ctx context.Context, to gitstore.Audience, entry gitstore.Entry) (record.Event, error) {
	old, err := record.DecodeEvent(entry)
	if err != nil {
		return record.Event{}, err
	}
	ws, err := s.withdrawalsIn(ctx, []record.Event{old})
	if err != nil {
		return record.Event{}, err
	}
	var attachments map[string][]byte
	if !slices.ContainsFunc(ws, func(w *record.Withdrawal) bool { return w.Attached(old) != "" }) {
		if attachments, err = s.attachments(ctx, entry.ID); err != nil {
			return record.Event{}, err
		}
	}
	for _, w := range ws {
		old = w.Event(old)
	}
	return s.appendCopy(ctx, to, old, entry, attachments, func(*record.Event) error { return nil })
}

func (s *Store) attachments(ctx context.Context, event gitstore.ID) (map[string][]byte, error) {
	attachments := map[string][]byte{}
	roles, err := s.Repo.Attachments(ctx, event)
	if err != nil {
		return attachments, err
	}
	for _, role := range roles {
		if attachments[role], err = s.Repo.Attachment(ctx, event, role); err != nil {
			return attachments, err
		}
	}
	return attachments, nil
}

// appendCopy appends a copy of an entry's event with the entry's author and time, after change has edited it.
func (s *Store) appendCopy(ctx context.Context, to gitstore.Audience, old record.Event, entry gitstore.Entry,
	attachments map[string][]byte, change func(*record.Event) error) (record.Event, error) {
	recorded, err := s.Repo.AppendFor(ctx, to,
		func(ctx context.Context, tips gitstore.Tips, writer string) (gitstore.Record, error) {
			again := old
			again.Writer = writer
			var err error
			if again.Clock, err = s.nextClock(ctx, tips); err != nil {
				return gitstore.Record{}, err
			}
			if err := change(&again); err != nil {
				return gitstore.Record{}, err
			}
			message, err := again.CommitText("")
			return gitstore.Record{Author: entry.Author, When: entry.When, Message: message, Attachments: attachments}, err
		})
	old.ID = recorded.ID
	return old, err
}

// nextClock returns one more than the highest believed clock of all logs. The newest event of a log normally has that
// log's highest clock; for a log in which it cannot be read or believed, all is read through the index.
func (s *Store) nextClock(ctx context.Context, tips gitstore.Tips) (uint64, error) {
	idx := s.known()
	clock := idx.Clock
	for writer, tip := range tips {
		if idx.Tips[writer] == tip && !s.Repo.Owns(writer) { // not for our own logs: a newer program may have written to them
			continue
		}
		c, err := s.clockOf(ctx, writer, tip)
		if err != nil {
			return 0, err
		}
		if c == 0 || c > idx.Clock+record.MaxAhead {
			all, err := s.indexAt(ctx, tips)
			if err != nil {
				return 0, err
			}
			defer all.close()
			clock = all.Clock
			break
		}
		clock = max(clock, c)
	}
	return min(clock+1, record.MaxClock), nil
}

// clockOf returns the clock of a log's newest event, or 0 if it cannot be decoded. In our own log an event of a newer
// program is an error, because what we write would not come after it.
func (s *Store) clockOf(ctx context.Context, writer string, tip gitstore.ID) (uint64, error) {
	entry, err := s.Repo.Entry(ctx, tip)
	if err != nil {
		return 0, context.Cause(ctx)
	}
	event, err := record.DecodeEvent(entry)
	if errors.Is(err, gitstore.ErrNewerFormat) && s.Repo.Owns(writer) {
		return 0, err
	}
	if err != nil {
		return 0, nil
	}
	return event.Clock, nil
}

func (v *View) event(d record.NewEvent) (record.Event, error) {
	body, err := json.Marshal(d.Payload)
	if err != nil {
		return record.Event{}, fmt.Errorf("encode %s: %w", d.Type, err)
	}
	title := d.Title
	if v.store.redacts() {
		title = v.store.redacted(title)
		if body, err = redactJSON(body, v.store.redacted); err != nil {
			return record.Event{}, fmt.Errorf("encode %s: %w", d.Type, err)
		}
	}
	at := v.Now
	if !d.At.IsZero() {
		at = d.At.UTC().Truncate(time.Millisecond)
	}
	return record.Event{
		V: record.FormatVersion, Clock: v.Clock, Writer: v.Writer, Timestamp: at, Type: d.Type, Source: d.Source,
		Run: d.Run, Review: d.Review, Payload: body, Title: d.Type + ": " + title,
	}, nil
}

func (v *View) record(event record.Event, d record.NewEvent) (gitstore.Record, error) {
	author, err := v.store.Repo.Identity(v.ctx)
	if err != nil {
		return gitstore.Record{}, err
	}
	message, err := event.CommitText(d.Status(event))
	if err != nil {
		return gitstore.Record{}, err
	}
	if _, err := record.DecodeEvent(gitstore.Entry{Writer: event.Writer, Message: message}); err != nil {
		return gitstore.Record{}, &record.InputError{Why: fmt.Sprintf("%s would be recorded so that nobody can read it: %v",
			event.Type, err)}
	}
	attachments := d.Attachments
	if v.store.redacts() {
		attachments = map[string][]byte{}
		for path, content := range d.Attachments {
			attachments[path] = []byte(v.store.redacted(string(content)))
		}
	}
	return gitstore.Record{Author: author, When: v.Now, Message: message, Attachments: attachments}, nil
}

// state returns the state of one run or review as the decision sees it.
func (v *View) state(of entity) (st state, err error) {
	err = v.store.retryIndex(func() error {
		idx, err := v.store.indexAt(v.ctx, v.tips)
		if err != nil {
			return err
		}
		defer idx.close()
		r, err := idx.begun(of)
		if err != nil {
			return err
		}
		return v.store.told(idx, func() (err error) {
			st, err = v.store.stateOf(v.ctx, idx, r)
			v.store.complete(v.ctx, &st)
			return err
		})
	})
	return st, err
}

// redactJSON removes secrets from every string value of one JSON document.
func redactJSON(body []byte, redact func(string) string) ([]byte, error) {
	doc, err := record.DecodeTexts(body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(record.EachText(doc, "", func(text, _ string) string {
		if isID(text) {
			return text
		}
		return redact(text)
	}))
}

// isID reports whether s is an id of ours or of git's. Ids contain no secrets, and skipping them avoids the slow start
// of the secret scanner.
func isID(s string) bool {
	hex := (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
	return hex || record.ValidID(s) || record.ValidID(strings.TrimPrefix(s, "runr/"))
}

// redacted returns free text as it will be recorded.
func (s *Store) redacted(text string) string {
	if s.Redact != nil {
		text = s.Redact(text)
	}
	if masked := s.masked.Load(); masked != nil {
		text = masked.Replace(text)
	}
	return text
}

func (s *Store) redacts() bool { return s.Redact != nil || s.masked.Load() != nil }

// Mask redacts texts from now on wherever they occur in a record. They were copied from the user's files.
func (s *Store) Mask(texts []string) {
	if len(texts) == 0 {
		return
	}
	pairs := []string{}
	for _, text := range slices.SortedFunc(slices.Values(texts), func(a, b string) int { return len(b) - len(a) }) {
		pairs = append(pairs, text, "[redacted:copied]")
	}
	s.masked.Store(strings.NewReplacer(pairs...))
}

// BeginRun records the beginning of a run of plan. when returns, for the present time, the time in the run's id and the
// time of its beginning.
func (s *Store) BeginRun(ctx context.Context, source, title string, plan runplan.Plan,
	when func(now time.Time) (id, at time.Time)) (record.Run, error) {
	branch, err := s.Branch(ctx)
	if err != nil {
		return record.Run{}, err
	}
	to, err := s.audienceOn(ctx, branch, plan.Base)
	if err != nil {
		return record.Run{}, err
	}
	if plan.FromReview != "" && s.Asks == nil { // the task repeats what the review says
		review, err := s.ReviewByID(ctx, plan.FromReview)
		if err != nil {
			return record.Run{}, err
		}
		to = s.Repo.Audience(review.Writer)
	}
	event, err := s.Append(ctx, to, func(v *View) (record.NewEvent, error) {
		of, at := when(v.Now)
		plan.Branch = ""
		id, err := record.NewID(of, v.Writer, v.Clock, plan)
		plan.Branch = "runr/" + id
		d := record.EventRunStarted.New(source, title, plan)
		d.Run, d.At, d.Status = id, at, record.Run{}.StatusAfter
		return d, err
	})
	if err != nil {
		return record.Run{}, err
	}
	run, bad := record.FoldRun([]record.Event{event})
	return s.seenRun(run), errors.Join(bad...)
}

// RunEvent records d for a run, and returns the run after it. The newest state decides, since somebody else may have
// ended the run meanwhile.
func (s *Store) RunEvent(ctx context.Context, run record.Run, d record.NewEvent) (record.Run, error) {
	return s.runEvent(ctx, run, d, func(v *View) (record.Run, error) {
		st, err := v.state(entity{kindRun, run.ID})
		return st.run, err
	})
}

// NextRunEvent is RunEvent for a run that nobody else knows or may change. It does not read the run again, so that
// each of many events costs the same.
func (s *Store) NextRunEvent(ctx context.Context, run record.Run, d record.NewEvent) (record.Run, error) {
	return s.runEvent(ctx, run, d, func(*View) (record.Run, error) { return run, nil })
}

func (s *Store) runEvent(ctx context.Context, run record.Run, d record.NewEvent,
	read func(*View) (record.Run, error)) (record.Run, error) {
	event, err := s.Append(ctx, s.Repo.Audience(run.Writer), func(v *View) (record.NewEvent, error) {
		newest, err := read(v)
		if err != nil {
			return record.NewEvent{}, err
		}
		if err := newest.Allow(d.Type); err != nil {
			return record.NewEvent{}, err
		}
		run = newest
		d.Run, d.Review, d.Status = run.ID, run.Plan.FromReview, run.StatusAfter
		return d, nil
	})
	if err != nil {
		return run, err
	}
	err = run.Apply(event)
	return s.seenRun(run), err
}
