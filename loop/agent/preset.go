package agent

import (
	"maps"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/spend"
)

// Role is what an agent is asked to do.
type Role string

const (
	Reviewer    Role = "reviewer"    // reads and answers; must not write
	Implementer Role = "implementer" // changes files; git-runr commits for it
)

// preset is a tool that is known: how it is called in each role, what it needs of the
// caller's environment, and how its answer is read. It is a value, so that what is true of
// all tools stands once.
type preset struct {
	program string // "" is the preset's name

	// The arguments of a call are args, the role's, the session's, those that name the
	// working tree, the model's, the user's own, and last. Without {prompt_file} or {prompt}
	// among them the prompt goes to standard input.
	args, reviewer, implementer, last []string

	// uninstructed are arguments of an implementer that is kept from what its checkout says.
	uninstructed []string

	tree   func(dir string) []string
	model  string   // the flag
	once   []string // keep the session from being stored
	resume []string // go on with {session}
	sums   sums     // what its stream counts since the session began
	again  []string // stand for args and the role's where a session is gone on with; nil: those stay

	set, setReviewer []string // of the environment: KEY=VALUE, over everything else
	pass             []string // names that it needs of the caller's environment
	clouds           []cloud

	// instructs are files of the checkout that the tool obeys whatever its arguments are:
	// they are put aside while it reviews. Of executes the same is true, and beside them no
	// implementer is started. See aside for their form.
	instructs, executes []string

	help    []string // what stands before --help for the list of the arguments
	hardens []string // arguments that keep it from writing or from obeying the checkout

	acp *acpForm // nil: nothing is known of it by the Agent Client Protocol

	reader func() reader // of standard output; nil: the answer is standard output as it is
	edits  bool          // its events name the files that it edits
	signIn signIn
	proven bool   // with the real tool, of version
	origin string // the version whose tool, or whose documentation, the arguments are from
}

// sums are what a tool's stream counts of a session that is gone on with: all of it, or what
// this call took.
type sums struct{ tokens, cost bool }

// since is what a call took that told of taken, where the session had taken before.
func (s sums) since(taken, before spend.Usage) spend.Usage {
	if s.tokens && taken.Input >= before.Input && taken.Output >= before.Output {
		taken.Input, taken.Cached, taken.Output = taken.Input-before.Input, taken.Cached-before.Cached, taken.Output-before.Output
	}
	if s.cost && taken.Cost >= before.Cost {
		taken.Cost -= before.Cost
	}
	return taken
}

// acpForm is what of a preset is different where it is talked to by the Agent Client Protocol.
type acpForm struct {
	args  []string // in place of args
	model string   // the flag; "" where the protocol has it chosen
	// readsItself is true of a tool that takes no answer of ours for a file being not there.
	readsItself bool
	proven      bool
}

// byACP is the preset as it is talked to by the Agent Client Protocol.
func (p *preset) byACP() *preset {
	q := *p
	q.args, q.model, q.proven = p.acp.args, p.acp.model, p.acp.proven
	q.once, q.resume, q.again, q.last, q.reader = nil, nil, nil, nil, nil
	return &q
}

// cloud is a way to models by credentials that open more than models. They are passed on
// only where the user has switched the tool to it.
type cloud struct {
	on   string // variable that says so; "": there is none, and nothing is passed
	vars []string
}

// Presets are the names of the agents that are known without configuration, sorted.
func Presets() []string { return slices.Sorted(maps.Keys(presets)) }

// arguments are those of a call, without the program; own are the user's.
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

// unsaid is the model where no argument says it.
func (p *preset) unsaid(model string) string {
	if p.model != "" {
		return ""
	}
	return model
}

// passed are the names of the variables that are passed on of base.
func (p *preset) passed(base []string) []string {
	names := slices.Concat(p.pass, network)
	for _, c := range p.clouds {
		if c.on != "" && lastValue(base, c.on) != "" {
			names = append(append(names, c.on), c.vars...)
		}
	}
	return names
}

// fill replaces words in args by texts, in one pass: what a text holds is not looked at.
func fill(args []string, oldnew ...string) []string {
	r := strings.NewReplacer(oldnew...)
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = r.Replace(arg)
	}
	return out
}
