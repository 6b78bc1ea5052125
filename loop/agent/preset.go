package agent

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

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
// from the caller's environment, and what its events mean. Each file of presets holds one.
type preset struct {
	// The arguments of a call are Args, the role's, the session's, those that name the
	// working tree, the model's, the user's own, and Last. If none contains {prompt_file} or
	// {prompt}, the prompt goes to standard input.
	Args, Reviewer, Implementer, Last []string

	// Uninstructed are extra arguments for an implementer that must ignore the checkout's instructions.
	Uninstructed []string

	Tree   []string // with {untrusted} for a TOML table that marks the working tree as untrusted
	Model  string   // the option
	Once   []string // keep the session from being stored
	Resume []string // continue {session}
	Sums   sums     // which totals of its stream cover the whole session
	Again  []string // replace Args and the role's when a session is continued; nil: those are used

	Set         []string // variables, KEY=VALUE, over everything else
	SetReviewer []string `toml:"set_reviewer"`
	Pass        []string // names of variables that it needs from the caller's environment
	Clouds      []cloud

	// Instructs are files of the checkout that the tool obeys whatever its arguments are;
	// they are moved away while it reviews. Executes are such files that can run commands:
	// they are moved away as well, and an implementer is not started if one exists. See found
	// for their form.
	Instructs, Executes []string

	Help []string // arguments before --help that list the options
	// Hardens are arguments that keep it from writing or from obeying the checkout. Changing one changes what a hostile
	// repository can do, and must be tested anew.
	Hardens []string

	ACP *acpForm // nil: its use by the Agent Client Protocol is unknown

	Events   []rule   `toml:"event"`     // none: standard output is the answer
	EventsOf string   `toml:"events_of"` // the preset that describes its events
	Repeats  []string // types of events that only repeat others
	Edits    bool     // its events name the files that it edits

	SignIn signIn `toml:"sign_in"`
	Proven bool   // tested with the real tool, version Origin
	Origin string // the version of the tool, or of its documentation, that the arguments are from
}

var (
	//go:embed presets
	presetFiles embed.FS
	//go:embed variables.toml
	variableFile string
)

// variables are groups of variables by name; a preset names one as @NAME.
var variables = sync.OnceValue(func() (groups map[string][]string) {
	mustDecode(variableFile, &groups)
	return groups
})

// loaded holds the presets that were used, by name.
var loaded sync.Map

// Presets returns the names of the agents that are known without configuration, sorted.
func Presets() []string {
	files, _ := presetFiles.ReadDir("presets")
	return each.Of(files, func(f fs.DirEntry) string { return strings.TrimSuffix(f.Name(), ".toml") })
}

// presetCalled returns the preset of a name; nil if there is none. All that can stream one JSON object a line do so,
// which keeps the idle limit meaningful.
func presetCalled(name string) *preset {
	if p, ok := loaded.Load(name); ok {
		return p.(*preset)
	}
	text, err := presetFiles.ReadFile("presets/" + name + ".toml")
	if err != nil {
		return nil
	}
	p := &preset{}
	mustDecode(string(text), p)
	p.Pass, p.SignIn.Vars = withGroups(p.Pass...), withGroups(p.SignIn.Vars...)
	for i, c := range p.Clouds {
		p.Clouds[i].Vars = withGroups(c.Vars...)
	}
	if p.EventsOf != "" {
		p.Events = presetCalled(p.EventsOf).Events
	}
	loaded.Store(name, p)
	return p
}

// mustDecode decodes a file that is a part of this program.
func mustDecode(text string, into any) {
	known, err := toml.Decode(text, into)
	if err != nil || len(known.Undecoded()) > 0 {
		panic(fmt.Sprint("file of presets: ", err, known.Undecoded()))
	}
}

// withGroups replaces the names of groups by their variables.
func withGroups(names ...string) (all []string) {
	for _, name := range names {
		if group, is := strings.CutPrefix(name, "@"); is {
			all = append(all, variables()[group]...)
		} else {
			all = append(all, name)
		}
	}
	return all
}

// reader returns a reader of standard output; nil if standard output is the answer.
func (p *preset) reader() reader {
	if len(p.Events) == 0 {
		return nil
	}
	return &eventReader{rules: p.Events, repeats: p.Repeats}
}

// sums says which totals of a continued session's stream cover the whole session; the
// others cover one call.
type sums struct{ Tokens, Cost bool }

// since returns the usage of one call from the reported usage taken and the session's usage before it.
func (s sums) since(taken, before spend.Usage) spend.Usage {
	if s.Tokens && taken.Input >= before.Input && taken.Output >= before.Output {
		taken.Input, taken.Cached, taken.Output = taken.Input-before.Input, taken.Cached-before.Cached,
			taken.Output-before.Output
	}
	if s.Cost && taken.Cost >= before.Cost {
		taken.Cost -= before.Cost
	}
	return taken
}

// acpForm is how a preset differs when it is used by the Agent Client Protocol.
type acpForm struct {
	Args  []string // in place of Args
	Model string   // the option; "" if the protocol chooses it
	// ReadsItself is true for a tool that mishandles our error for a missing file, so it reads files itself.
	ReadsItself bool `toml:"reads_itself"`
	Proven      bool
}

// byACP returns the preset as used by the Agent Client Protocol.
func (p *preset) byACP() *preset {
	q := *p
	q.Args, q.Model, q.Proven = p.ACP.Args, p.ACP.Model, p.ACP.Proven
	q.Once, q.Resume, q.Again, q.Last, q.Events = nil, nil, nil, nil, nil
	return &q
}

// cloud is access to models by credentials that open more than models. They are passed on
// only if the user switched the tool to that cloud. For a tool without such a switch, an authentication failure
// mentions them.
type cloud struct {
	On   string // variable that switches the tool to it; "": no switch, nothing is passed
	Vars []string
}

// arguments returns the arguments of a call, without the program; own are the user's.
func (p *preset) arguments(ask Ask, own []string) []string {
	var args []string
	resumed := ask.Session.ID != "" && p.Resume != nil
	switch {
	case resumed && p.Again != nil:
		args = slices.Clone(p.Again)
	case ask.Role == Implementer:
		args = slices.Concat(p.Args, p.Implementer)
	default:
		args = slices.Concat(p.Args, p.Reviewer)
	}
	if ask.Role == Implementer && ask.Uninstructed {
		args = append(args, p.Uninstructed...)
	}
	if !resumed && !ask.Keep {
		args = append(args, p.Once...)
	}
	if len(p.Tree) > 0 {
		args = append(args, fill(p.Tree, "{untrusted}", untrusted(ask.Dir))...)
	}
	if ask.Model != "" && p.Model != "" {
		args = append(args, p.Model, ask.Model)
	}
	args = append(args, own...)
	if resumed {
		args = append(args, fill(p.Resume, "{session}", ask.Session.ID)...)
	}
	return append(args, p.Last...)
}

// passed returns the names of the variables to pass on from base.
func (p *preset) passed(base []string) []string {
	names := slices.Concat(p.Pass, withGroups("@network"))
	for _, c := range p.Clouds {
		if c.On != "" && lastValue(base, c.On) != "" {
			names = append(append(names, c.On), c.Vars...)
		}
	}
	return names
}

// fill replaces words in args by texts, in one pass: the texts themselves are not searched.
func fill(args []string, oldnew ...string) []string {
	r := strings.NewReplacer(oldnew...)
	return each.Of(args, r.Replace)
}

// untrusted returns a TOML table that marks dir as untrusted, by both names if a symbolic
// link leads to it. A JSON string is a valid TOML string.
func untrusted(dir string) string {
	var entries []string
	for _, name := range namesOf(dir) {
		key, _ := json.Marshal(name)
		entries = append(entries, string(key)+`={trust_level="untrusted"}`)
	}
	return "{" + strings.Join(entries, ",") + "}"
}
