package agent

import (
	"maps"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/spend"
)

// Role is what an agent is asked to do.
type Role string

const (
	Reviewer    Role = "reviewer"    // reads and answers; must not write
	Implementer Role = "implementer" // changes files; git-runr commits for it
)

// preset describes a known tool: its arguments in each role, the variables that it needs
// from the caller's environment, and the reader of its answer.
type preset struct {
	// The arguments of a call are args, the role's, the session's, those that name the
	// working tree, the model's, the user's own, and last. If none contains {prompt_file} or
	// {prompt}, the prompt goes to standard input.
	args, reviewer, implementer, last []string

	// uninstructed are extra arguments for an implementer that must ignore the checkout's instructions.
	uninstructed []string

	tree   func(dir string) []string
	model  string   // the option
	once   []string // keep the session from being stored
	resume []string // continue {session}
	sums   sums     // which totals of its stream cover the whole session
	again  []string // replace args and the role's when a session is continued; nil: those are used

	set, setReviewer []string // variables, KEY=VALUE, over everything else
	pass             []string // names of variables that it needs from the caller's environment
	clouds           []cloud

	// instructs are files of the checkout that the tool obeys whatever its arguments are;
	// they are moved away while it reviews. executes are such files that can run commands:
	// they are moved away as well, and an implementer is not started if one exists. See found
	// for their form.
	instructs, executes []string

	help    []string // arguments before --help that list the options
	hardens []string // arguments that keep it from writing or from obeying the checkout

	acp *acpForm // nil: its use by the Agent Client Protocol is unknown

	reader func() reader // of standard output; nil: standard output is the answer
	edits  bool          // its events name the files that it edits
	signIn signIn
	proven bool   // tested with the real tool, version origin
	origin string // the version of the tool, or of its documentation, that the arguments are from
}

// sums says which totals of a continued session's stream cover the whole session; the
// others cover one call.
type sums struct{ tokens, cost bool }

// since returns the usage of one call from the reported usage taken and the session's usage before it.
func (s sums) since(taken, before spend.Usage) spend.Usage {
	if s.tokens && taken.Input >= before.Input && taken.Output >= before.Output {
		taken.Input, taken.Cached, taken.Output = taken.Input-before.Input, taken.Cached-before.Cached,
			taken.Output-before.Output
	}
	if s.cost && taken.Cost >= before.Cost {
		taken.Cost -= before.Cost
	}
	return taken
}

// acpForm is how a preset differs when it is used by the Agent Client Protocol.
type acpForm struct {
	args  []string // in place of args
	model string   // the option; "" if the protocol chooses it
	// readsItself is true for a tool that mishandles our error for a missing file, so it reads files itself.
	readsItself bool
	proven      bool
}

// byACP returns the preset as used by the Agent Client Protocol.
func (p *preset) byACP() *preset {
	q := *p
	q.args, q.model, q.proven = p.acp.args, p.acp.model, p.acp.proven
	q.once, q.resume, q.again, q.last, q.reader = nil, nil, nil, nil, nil
	return &q
}

// cloud is access to models by credentials that open more than models. They are passed on
// only if the user switched the tool to that cloud.
type cloud struct {
	on   string // variable that switches the tool to it; "": no switch, nothing is passed
	vars []string
}

// Presets returns the names of the agents that are known without configuration, sorted.
func Presets() []string { return slices.Sorted(maps.Keys(presets)) }

// arguments returns the arguments of a call, without the program; own are the user's.
func (p *preset) arguments(ask Ask, own []string) []string {
	var args []string
	resumed := ask.Session.ID != "" && p.resume != nil
	switch {
	case resumed && p.again != nil:
		args = slices.Clone(p.again)
	case ask.Role == Implementer:
		args = slices.Concat(p.args, p.implementer)
	default:
		args = slices.Concat(p.args, p.reviewer)
	}
	if ask.Role == Implementer && ask.Uninstructed {
		args = append(args, p.uninstructed...)
	}
	if !resumed && !ask.Keep {
		args = append(args, p.once...)
	}
	if p.tree != nil {
		args = append(args, p.tree(ask.Dir)...)
	}
	if ask.Model != "" && p.model != "" {
		args = append(args, p.model, ask.Model)
	}
	args = append(args, own...)
	if resumed {
		args = append(args, fill(p.resume, "{session}", ask.Session.ID)...)
	}
	return append(args, p.last...)
}

// passed returns the names of the variables to pass on from base.
func (p *preset) passed(base []string) []string {
	names := slices.Concat(p.pass, network)
	for _, c := range p.clouds {
		if c.on != "" && lastValue(base, c.on) != "" {
			names = append(append(names, c.on), c.vars...)
		}
	}
	return names
}

// fill replaces words in args by texts, in one pass: the texts themselves are not searched.
func fill(args []string, oldnew ...string) []string {
	r := strings.NewReplacer(oldnew...)
	return each.Of(args, r.Replace)
}
