package reviewing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
	"github.com/git-runr/git-runr/loop/store"
)

// Terms are on which terms agents are called.
type Terms struct {
	Backup func(name string) []string // who is asked, in turn, when that agent gives no answer; nil: nobody
	Day    runplan.DayBudget          // what calls of this clone may take from midnight to midnight
	// Setting is where a limit of Day was set to a value. Required with Day.
	Setting func(name, value string) runplan.Setting
	// WaitForQuota is how long a call outside a run waits for a quota that comes back.
	WaitForQuota duration.Duration
}

// crew are those who are asked where one is: the agent of that name and then its backups.
func (t Terms) crew(name string) []string {
	if t.Backup == nil {
		return []string{name}
	}
	return append([]string{name}, t.Backup(name)...)
}

// SpentToday says why no call may begin today in s after calls that took more, which
// are not recorded yet; nil when one may.
func (t Terms) SpentToday(ctx context.Context, s *store.Store, more spend.Usage) (*record.Failure, error) {
	if t.Day == (runplan.DayBudget{}) {
		return nil, nil
	}
	now := s.Now()
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	spending, err := s.SpentSince(ctx, midnight)
	if err != nil {
		return nil, fmt.Errorf("sum up today's calls: %w", err)
	}
	total := spending.Total().Add(more)
	reached, used := t.Day.Used(total)
	if !used {
		return nil, nil
	}
	took := total.String()
	if reached.Name == runplan.SettingDayTime {
		took = total.Time.String()
	}
	setting := t.Setting(reached.Name, reached.Value)
	return &record.Failure{
		Reason: record.ReasonSpent, Detail: fmt.Sprintf("today's calls here took %s; %s", took, setting),
		Setting: &setting, Reached: total, RetryAt: midnight.AddDate(0, 0, 1).UTC(),
	}, nil
}

// Calls are those of one step: of an agent, or in turn of those who stand in for it.
type Calls struct {
	crew []string
	say  func(string)
	now  func() time.Time
	// refuse says why no further call may begin after those that took spent; nil: it may.
	Refuse func(ctx context.Context, spent spend.Usage) (*record.Failure, error)
	// again makes ready for another call after one that gave no answer, false where that
	// cannot be; nil: there is nothing to do.
	Again func() (bool, error)
	// pause waits until what f tells of is over, and gives how long; 0 where that is too
	// long after waited. nil: nothing is waited for.
	Pause func(ctx context.Context, f record.Failure, waited time.Duration) (time.Duration, error)
	// answered hears what an answer took; nil: nobody does.
	Answered func(name string, took spend.Usage)

	Made   []spend.Call    // so far
	last   *record.Failure // of the newest of them
	waited time.Duration
}

// call is one call of the agent of that name. The error is for one that was interrupted.
type call func(name string) (spend.Usage, *record.Failure, error)

// Ask has one agent after the other make one call, until one answers or none will. A step
// that asks more than once, for parts of a change, keeps to what is left for it.
func (c *Calls) Ask(ctx context.Context, one call) (*record.Failure, error) {
	for {
		failure, over, err := c.each(ctx, one)
		if over || err != nil || c.Pause == nil {
			return failure, err
		}
		pause, err := c.Pause(ctx, *failure, c.waited)
		if pause == 0 || err != nil {
			return failure, err
		}
		c.waited += pause
		c.Made[len(c.Made)-1].Waited = duration.Duration(pause)
	}
}

// each asks everybody once, until one answers. over says that nothing would come of
// asking them once more.
func (c *Calls) each(ctx context.Context, one call) (failure *record.Failure, over bool, err error) {
	var failures []record.Failure
	for _, name := range c.crew {
		if failure, ready, err := c.ready(ctx, failures); !ready {
			return failure, true, err
		}
		if len(failures) > 0 {
			f := failures[len(failures)-1]
			c.say(fmt.Sprintf("%s gave no answer (%s): %s is asked instead", c.Made[len(c.Made)-1].Agent, cmp.Or(f.Detail, f.Reason), name))
		}
		began := c.now()
		usage, failed, err := one(name)
		if usage.Calls > 0 {
			usage.Time = duration.Duration(c.now().Sub(began))
		}
		made := spend.Call{Agent: name, Usage: usage}
		if failed != nil {
			made.Reason, made.Detail = failed.Reason, failed.Detail
		}
		c.Made, c.last = append(c.Made, made), failed
		if failed == nil && err == nil && c.Answered != nil {
			c.Answered(name, usage)
		}
		if err != nil || failed == nil || !replaceable(*failed) {
			return failed, true, err
		}
		failures = append(failures, *failed)
	}
	return joinFailures(failures), false, nil
}

// ready makes ready for the next call; failure is what stands where there is to be none.
func (c *Calls) ready(ctx context.Context, failures []record.Failure) (failure *record.Failure, ready bool, err error) {
	if len(c.Made) == 0 {
		return nil, true, nil
	}
	spent := spend.NewSpent("", c.Made).Usage
	if failure, err = c.Refuse(ctx, spent); failure != nil || err != nil || c.Again == nil {
		return failure, failure == nil && err == nil, err
	}
	if ready, err = c.Again(); ready || err != nil {
		return nil, ready, err
	}
	if len(failures) == 0 { // it was waited for in vain
		return c.last, false, nil
	}
	return joinFailures(failures), false, nil
}

// replaceable reports whether another agent may answer where f was the end of one: whatever
// it is but that somebody has to decide something, or has changed the repository.
func replaceable(f record.Failure) bool {
	return !slices.Contains([]string{record.ReasonUntrusted, record.ReasonHuman, record.ReasonInterrupted, record.ReasonSpent, record.ReasonTamperedRepo}, f.Reason)
}

// joinFailures is what the failures of all who were asked come to: that of the one who may
// answer first, in the words of all.
func joinFailures(failures []record.Failure) *record.Failure {
	if len(failures) == 1 {
		return &failures[0]
	}
	sooner := func(f, g record.Failure) bool {
		if f.Transient != g.Transient {
			return f.Transient
		}
		return f.RetryAfter > 0 && (g.RetryAfter == 0 || f.RetryAfter < g.RetryAfter)
	}
	first, said := failures[0], []string{}
	for _, f := range failures {
		if sooner(f, first) {
			first = f
		}
		said = append(said, cmp.Or(f.Detail, f.Reason))
	}
	first.Detail = strings.Join(said, "; ")
	return &first
}

// relay is a reviewer that has others asked in its place.
type relay struct {
	calls  *Calls
	lookup func(name string) (role.Reviewer, *record.Failure)
	name   string
	first  role.Reviewer // of the crew that can be asked, called name: what it can be shown counts
}

func (r relay) Limits() role.Limits { return r.first.Limits() }
func (r relay) NeedsCheckout() bool { return r.first.NeedsCheckout() }

func (r relay) Review(ctx context.Context, job role.ReviewJob) (answer role.ReviewAnswer, err error) {
	before := len(r.calls.Made)
	failure, err := r.calls.Ask(ctx, func(name string) (spend.Usage, *record.Failure, error) {
		reviewer, failure := r.first, (*record.Failure)(nil)
		if name != r.name {
			reviewer, failure = r.lookup(name)
		}
		if failure != nil {
			return spend.Usage{}, failure, nil
		}
		var err error
		answer, err = reviewer.Review(ctx, job)
		if err == nil && answer.Failure == nil && job.Dir != "" && checking.Gone(job.Dir) {
			answer.Failure = checking.RemovedTree(name)
		}
		return answer.Usage, answer.Failure, err
	})
	answer.Calls, answer.Failure = r.calls.Made[before:], failure
	answer.Usage = spend.NewSpent("", answer.Calls).Usage
	return answer, err
}

// NewRelay is the first of the crew that can be asked, with those who stand in for it, or
// why nobody can.
func NewRelay(c *Calls, lookup func(string) (role.Reviewer, *record.Failure)) (role.Reviewer, *record.Failure) {
	var failures []record.Failure
	for _, name := range c.crew {
		reviewer, failure := lookup(name)
		if failure == nil {
			return relay{c, lookup, name, reviewer}, nil
		}
		if failures = append(failures, *failure); !replaceable(*failure) {
			break
		}
	}
	return nil, joinFailures(failures)
}

// leastPause is how long is waited at least for a quota: a tool that says less at every
// call would be asked all the time.
const leastPause = time.Second

// Patience is how long a step waits for quotas to come back.
type Patience struct {
	Most    duration.Duration // all in all
	End     time.Time         // before which it is to be over; zero: there is none
	Setting *runplan.Setting  // that says so
	Store   *store.Store
	Tell    checking.Progress
}

// Patience is for calls that somebody waits for, outside of a run.
func (t Terms) Patience(s *store.Store, tell checking.Progress) Patience {
	p := Patience{Most: t.WaitForQuota, Store: s, Tell: tell}
	if p.Most > 0 {
		setting := t.Setting(runplan.SettingQuota, p.Most.String())
		p.Setting = &setting
	}
	return p
}

// Wait waits for a quota where the agent says when it comes back and there is the time; it
// gives how long that was.
func (p Patience) Wait(ctx context.Context, f record.Failure, waited time.Duration) (time.Duration, error) {
	pause, now := max(time.Duration(f.RetryAfter), leastPause), p.Store.Now()
	if !f.Transient || f.RetryAfter <= 0 || waited+pause > time.Duration(p.Most) || !p.End.IsZero() && !now.Add(pause).Before(p.End) {
		return 0, nil
	}
	p.Tell.Say(fmt.Sprintf("%s; waiting for %s, until %s: %s", f.Detail, pause.Round(time.Second), now.Add(pause).UTC().Format(time.DateTime+"Z"), p.Setting))
	return pause, duration.Sleep(ctx, pause)
}

// Calls are those that somebody has the agent called name make, within what a day may take.
func (t Terms) Calls(s *store.Store, p checking.Progress, name string) *Calls {
	return &Calls{crew: t.crew(name), say: p.Say, now: s.Now, Refuse: func(ctx context.Context, spent spend.Usage) (*record.Failure, error) {
		return t.SpentToday(ctx, s, spent)
	}}
}

// Relay is the reviewer called name with those who stand in for it, or why it is not to be
// asked now.
func (c *Calls) Relay(ctx context.Context, name string, lookup func(string) (role.Reviewer, *record.Failure)) (role.Reviewer, *record.Failure, error) {
	if !role.Reserved(name) {
		if refused, err := c.Refuse(ctx, spend.Usage{}); refused != nil || err != nil {
			return nil, refused, err
		}
	}
	reviewer, failure := NewRelay(c, lookup)
	return reviewer, failure, nil
}
