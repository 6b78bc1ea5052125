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

// Terms are the conditions under which agents are called.
type Terms struct {
	Backup func(name string) []string // substitutes, in order, for an agent that gives no answer; nil: none
	Day    runplan.DayBudget          // limit for the calls of this clone from midnight to midnight
	// Setting returns the setting with which a limit of Day was set. Required with Day.
	Setting func(name, value string) runplan.Setting
	// WaitForQuota is the longest wait for a quota to be restored, for a call outside a run.
	WaitForQuota duration.Duration
}

// crew returns the agents to ask in order: the named one, then its backups.
func (t Terms) crew(name string) []string {
	if t.Backup == nil {
		return []string{name}
	}
	return append([]string{name}, t.Backup(name)...)
}

// SpentToday returns why no further call may begin today in s, or nil if one may. more is the usage of calls that are
// not recorded yet.
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

// Calls are the calls of one step to an agent, or to its backups in turn.
type Calls struct {
	crew []string
	say  func(string)
	now  func() time.Time
	// Refuse returns why no further call may begin after usage spent, or nil.
	Refuse func(ctx context.Context, spent spend.Usage) (*record.Failure, error)
	// Again prepares another call after one without an answer. It returns false if there can be none. nil means that no
	// preparation is needed.
	Again func() (bool, error)
	// Pause waits until the failure f has passed and returns the time that took, or 0 if that is too long in addition
	// to waited. nil means not to wait.
	Pause func(ctx context.Context, f record.Failure, waited time.Duration) (time.Duration, error)
	// Answered, if not nil, is called with the usage of each answer.
	Answered func(name string, took spend.Usage)

	Made   []spend.Call    // so far
	last   *record.Failure // of the newest call
	waited time.Duration
}

// call makes one call to the named agent. It returns an error if it was interrupted.
type call func(name string) (spend.Usage, *record.Failure, error)

// Ask calls one agent after another until one answers or none will. The limits hold for all calls of a step together,
// for example for the parts of a change.
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

// each asks every agent once, until one answers. over means that asking again is useless.
func (c *Calls) each(ctx context.Context, one call) (failure *record.Failure, over bool, err error) {
	var failures []record.Failure
	for _, name := range c.crew {
		if failure, ready, err := c.ready(ctx, failures); !ready {
			return failure, true, err
		}
		if len(failures) > 0 {
			f := failures[len(failures)-1]
			c.say(fmt.Sprintf("%s gave no answer (%s): %s is asked instead", c.Made[len(c.Made)-1].Agent,
				cmp.Or(f.Detail, f.Reason), name))
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

// ready prepares the next call. If there must be none, failure is the result.
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
	if len(failures) == 0 { // waiting was in vain
		return c.last, false, nil
	}
	return joinFailures(failures), false, nil
}

// replaceable reports whether another agent may answer after failure f. It may not if a person has to decide, or if an
// agent changed the repository.
func replaceable(f record.Failure) bool {
	return !slices.Contains([]string{record.ReasonUntrusted, record.ReasonHuman, record.ReasonInterrupted,
		record.ReasonSpent, record.ReasonTamperedRepo}, f.Reason)
}

// joinFailures joins the failures of all agents: that of the agent which may answer first, with the details of all.
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

// relay is a reviewer that calls backups if it gives no answer.
type relay struct {
	calls  *Calls
	lookup func(name string) (role.Reviewer, *record.Failure)
	name   string
	first  role.Reviewer // the first available agent of the crew, called name: its limits apply
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

// NewRelay returns the first available reviewer of the crew, with its backups, or why none is available.
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

// leastPause is the minimum wait for a quota, for tools that always report less.
const leastPause = time.Second

// Patience limits how long a step waits for quotas.
type Patience struct {
	Most    duration.Duration // for all waits together
	End     time.Time         // deadline; zero: none
	Setting *runplan.Setting  // the setting that limits the wait
	Store   *store.Store
	Tell    checking.Progress
}

// Patience returns the limits for calls outside a run that somebody waits for.
func (t Terms) Patience(s *store.Store, tell checking.Progress) Patience {
	p := Patience{Most: t.WaitForQuota, Store: s, Tell: tell}
	if p.Most > 0 {
		setting := t.Setting(runplan.SettingQuota, p.Most.String())
		p.Setting = &setting
	}
	return p
}

// Wait waits for a quota if the agent says when it is restored and the limits allow the wait. It returns how long it
// waited.
func (p Patience) Wait(ctx context.Context, f record.Failure, waited time.Duration) (time.Duration, error) {
	pause, now := max(time.Duration(f.RetryAfter), leastPause), p.Store.Now()
	if !f.Transient || f.RetryAfter <= 0 || waited+pause > time.Duration(p.Most) ||
		!p.End.IsZero() && !now.Add(pause).Before(p.End) {
		return 0, nil
	}
	p.Tell.Say(fmt.Sprintf("%s; waiting for %s, until %s: %s", f.Detail, pause.Round(time.Second),
		now.Add(pause).UTC().Format(time.DateTime+"Z"), p.Setting))
	return pause, duration.Sleep(ctx, pause)
}

// Calls returns the calls that somebody makes to the agent called name, within the daily budget.
func (t Terms) Calls(s *store.Store, p checking.Progress, name string) *Calls {
	return &Calls{crew: t.crew(name), say: p.Say, now: s.Now,
		Refuse: func(ctx context.Context, spent spend.Usage) (*record.Failure, error) {
			return t.SpentToday(ctx, s, spent)
		}}
}

// Relay returns the reviewer called name with its backups, or why it must not be called now.
func (c *Calls) Relay(ctx context.Context, name string,
	lookup func(string) (role.Reviewer, *record.Failure)) (role.Reviewer, *record.Failure, error) {
	if !role.Reserved(name) {
		if refused, err := c.Refuse(ctx, spend.Usage{}); refused != nil || err != nil {
			return nil, refused, err
		}
	}
	reviewer, failure := NewRelay(c, lookup)
	return reviewer, failure, nil
}
