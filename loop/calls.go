package loop

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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

// spentToday says why no call may begin today in s after calls that took more, which
// are not recorded yet; nil when one may.
func (t Terms) spentToday(ctx context.Context, s *store.Store, more spend.Usage) (*record.Failure, error) {
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

// calls are those of one step: of an agent, or in turn of those who stand in for it.
type calls struct {
	crew []string
	say  func(string)
	now  func() time.Time
	// refuse says why no further call may begin after those that took spent; nil: it may.
	refuse func(ctx context.Context, spent spend.Usage) (*record.Failure, error)
	// again makes ready for another call after one that gave no answer, false where that
	// cannot be; nil: there is nothing to do.
	again func() (bool, error)
	// pause waits until what f tells of is over, and gives how long; 0 where that is too
	// long after waited. nil: nothing is waited for.
	pause func(ctx context.Context, f record.Failure, waited time.Duration) (time.Duration, error)
	// answered hears what an answer took; nil: nobody does.
	answered func(name string, took spend.Usage)

	made   []spend.Call    // so far
	last   *record.Failure // of the newest of them
	waited time.Duration
}

// call is one call of the agent of that name. The error is for one that was interrupted.
type call func(name string) (spend.Usage, *record.Failure, error)

// ask has one agent after the other make one call, until one answers or none will. A step
// that asks more than once, for parts of a change, keeps to what is left for it.
func (c *calls) ask(ctx context.Context, one call) (*record.Failure, error) {
	for {
		failure, over, err := c.each(ctx, one)
		if over || err != nil || c.pause == nil {
			return failure, err
		}
		pause, err := c.pause(ctx, *failure, c.waited)
		if pause == 0 || err != nil {
			return failure, err
		}
		c.waited += pause
		c.made[len(c.made)-1].Waited = duration.Duration(pause)
	}
}

// each asks everybody once, until one answers. over says that nothing would come of
// asking them once more.
func (c *calls) each(ctx context.Context, one call) (failure *record.Failure, over bool, err error) {
	var failures []record.Failure
	for _, name := range c.crew {
		if failure, ready, err := c.ready(ctx, failures); !ready {
			return failure, true, err
		}
		if len(failures) > 0 {
			f := failures[len(failures)-1]
			c.say(fmt.Sprintf("%s gave no answer (%s): %s is asked instead", c.made[len(c.made)-1].Agent, cmp.Or(f.Detail, f.Reason), name))
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
		c.made, c.last = append(c.made, made), failed
		if failed == nil && err == nil && c.answered != nil {
			c.answered(name, usage)
		}
		if err != nil || failed == nil || !replaceable(*failed) {
			return failed, true, err
		}
		failures = append(failures, *failed)
	}
	return joinFailures(failures), false, nil
}

// ready makes ready for the next call; failure is what stands where there is to be none.
func (c *calls) ready(ctx context.Context, failures []record.Failure) (failure *record.Failure, ready bool, err error) {
	if len(c.made) == 0 {
		return nil, true, nil
	}
	spent := spend.NewSpent("", c.made).Usage
	if failure, err = c.refuse(ctx, spent); failure != nil || err != nil || c.again == nil {
		return failure, failure == nil && err == nil, err
	}
	if ready, err = c.again(); ready || err != nil {
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
	calls  *calls
	lookup func(name string) (role.Reviewer, *record.Failure)
	name   string
	first  role.Reviewer // of the crew that can be asked, called name: what it can be shown counts
}

func (r relay) Limits() role.Limits { return r.first.Limits() }
func (r relay) NeedsCheckout() bool { return r.first.NeedsCheckout() }

func (r relay) Review(ctx context.Context, job role.ReviewJob) (answer role.ReviewAnswer, err error) {
	before := len(r.calls.made)
	failure, err := r.calls.ask(ctx, func(name string) (spend.Usage, *record.Failure, error) {
		reviewer, failure := r.first, (*record.Failure)(nil)
		if name != r.name {
			reviewer, failure = r.lookup(name)
		}
		if failure != nil {
			return spend.Usage{}, failure, nil
		}
		var err error
		answer, err = reviewer.Review(ctx, job)
		if err == nil && answer.Failure == nil && job.Dir != "" && gone(job.Dir) {
			answer.Failure = removedTree(name)
		}
		return answer.Usage, answer.Failure, err
	})
	answer.Calls, answer.Failure = r.calls.made[before:], failure
	answer.Usage = spend.NewSpent("", answer.Calls).Usage
	return answer, err
}

// newRelay is the first of the crew that can be asked, with those who stand in for it, or
// why nobody can.
func newRelay(c *calls, lookup func(string) (role.Reviewer, *record.Failure)) (role.Reviewer, *record.Failure) {
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

// calls are those that a step of the run has the agent called name make.
func (t *turn) calls(name string) *calls {
	c := t.Terms.calls(t.Store, t.Progress, name)
	today := c.refuse
	c.pause, c.answered = t.patience().wait, t.notTold
	c.refuse = func(ctx context.Context, spent spend.Usage) (*record.Failure, error) {
		if refused := spentByRun(t.run, t.run.Plan.Policy, spent); refused != nil {
			return refused, nil
		}
		return today(ctx, spent)
	}
	return c
}

// notTold says, once for each agent, that a limit does not bound it as its tool does not
// tell what that limits.
func (t *turn) notTold(name string, took spend.Usage) {
	cost := t.run.Plan.Policy.Budget.Cost > 0 || t.Terms.Day.Cost > 0
	tokens := t.run.Plan.Policy.Budget.Tokens > 0 || t.Terms.Day.Tokens > 0
	if took.Calls == 0 || t.quiet[name] {
		return
	}
	if cost && took.Cost == 0 {
		t.Progress.Say(name + " does not tell what its calls cost: limits in dollars do not bound it")
	}
	if tokens && took.Tokens() == 0 {
		t.Progress.Say(name + " does not tell how many tokens its calls take: limits in tokens do not bound it")
	}
	if t.quiet == nil {
		t.quiet = map[string]bool{}
	}
	t.quiet[name] = true
}

// affords is step, or a stop where it calls an agent and today's budget is used up.
func (t *turn) affords(step Step) (Step, error) {
	if !asksAgent(t.run, step) {
		return step, nil
	}
	refused, err := t.Terms.spentToday(t.ctx, t.Store, spend.Usage{})
	return step.unless(refused), err
}

// leastPause is how long is waited at least for a quota: a tool that says less at every
// call would be asked all the time.
const leastPause = time.Second

// patience is how long a step waits for quotas to come back.
type patience struct {
	most    duration.Duration // all in all
	end     time.Time         // before which it is to be over; zero: there is none
	setting *runplan.Setting  // that says so
	store   *store.Store
	tell    Progress
}

func (t *turn) patience() patience {
	policy := t.run.Plan.Policy
	p := patience{most: policy.WaitForQuota, setting: t.run.Plan.Setting(runplan.SettingQuota, policy.WaitForQuota.String()), store: t.Store, tell: t.Progress}
	if policy.TimeBudget > 0 {
		p.end = t.run.Began.Add(time.Duration(policy.TimeBudget))
	}
	return p
}

// patience is for calls that somebody waits for, outside of a run.
func (t Terms) patience(s *store.Store, tell Progress) patience {
	p := patience{most: t.WaitForQuota, store: s, tell: tell}
	if p.most > 0 {
		setting := t.Setting(runplan.SettingQuota, p.most.String())
		p.setting = &setting
	}
	return p
}

// wait waits for a quota where the agent says when it comes back and there is the time; it
// gives how long that was.
func (p patience) wait(ctx context.Context, f record.Failure, waited time.Duration) (time.Duration, error) {
	pause, now := max(time.Duration(f.RetryAfter), leastPause), p.store.Now()
	if !f.Transient || f.RetryAfter <= 0 || waited+pause > time.Duration(p.most) || !p.end.IsZero() && !now.Add(pause).Before(p.end) {
		return 0, nil
	}
	p.tell.Say(fmt.Sprintf("%s; waiting for %s, until %s: %s", f.Detail, pause.Round(time.Second), now.Add(pause).UTC().Format(time.DateTime+"Z"), p.setting))
	return pause, duration.Sleep(ctx, pause)
}

// calls are those that somebody has the agent called name make, within what a day may take.
func (t Terms) calls(s *store.Store, p Progress, name string) *calls {
	return &calls{crew: t.crew(name), say: p.Say, now: s.Now, refuse: func(ctx context.Context, spent spend.Usage) (*record.Failure, error) {
		return t.spentToday(ctx, s, spent)
	}}
}

// relay is the reviewer called name with those who stand in for it, or why it is not to be
// asked now.
func (c *calls) relay(ctx context.Context, name string, lookup func(string) (role.Reviewer, *record.Failure)) (role.Reviewer, *record.Failure, error) {
	if !role.Reserved(name) {
		if refused, err := c.refuse(ctx, spend.Usage{}); refused != nil || err != nil {
			return nil, refused, err
		}
	}
	reviewer, failure := newRelay(c, lookup)
	return reviewer, failure, nil
}
