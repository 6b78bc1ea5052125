package agent

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/spend"
)

const (
	// DefaultTimeout is the wall time of one call when Spec.Timeout is 0.
	DefaultTimeout = 30 * time.Minute
	// DefaultIdle is the silence after which a preset is stopped when Spec.Idle
	// is 0. Presets report every step, so silence means a hanging connection; a
	// custom command may well say nothing before its answer and has no default.
	DefaultIdle = 10 * time.Minute
)

// Spec is a configured agent: a preset, or a command of the user's. With both,
// Command stands for the program of the preset (as in npx and a package name)
// and the preset's arguments follow it.
type Spec struct {
	Name    string
	Command []string // argv; "{model}", "{prompt}" and "{prompt_file}" in it are replaced
	Preset  string   // one of Presets; "" with no Command: the preset called Name
	// Protocol is ACP for a command that speaks it, "" for one that takes its prompt on
	// standard input.
	Protocol string
	Args     []string // more arguments, after all others
	Timeout  time.Duration
	Idle     time.Duration
	Env      []string          // names of variables to pass through
	Model    string            // "" leaves the choice to the agent
	Models   map[string]string // profile (quality, balanced, budget) to the model in its place
	Own      Own               // of a command that is no preset
}

// Ask is what an agent is asked to do, and with what.
type Ask struct {
	Role    Role
	Model   string // "" leaves the choice to the agent
	Dir     string // where it works
	Prompt  string
	Session spend.Session // of an earlier call to go on with, where the tool can; zero for a new one
	Keep    bool          // so that the session can be gone on with
	// Uninstructed keeps an implementer from what its checkout says to its tool, as far as
	// arguments can.
	Uninstructed bool
	Base         []string // what the environment is taken from; nil: os.Environ
}

// Invocation is how one call of an agent is made.
type Invocation struct {
	Args     []string
	ExtraEnv []string // KEY=VALUE, set over everything else
	PassEnv  []string // names that the agent needs from the caller's environment

	preset  *preset
	own     bool   // preset is what the user says of a command
	resumed bool   // it goes on with a session
	wrapped bool   // the preset's program is started by another, as npx does
	reader  reader // of standard output; nil: the answer is standard output as it is
}

var (
	errReserved = errors.New("the name is reserved and is not a command")
	errNoModel  = errors.New(`the command asks for {model} and none is configured`)
)

// Invocation gives the command of s for ask. The preset's arguments keep a reviewer from
// writing and keep configuration that comes with the repository from being run.
func (s Spec) Invocation(ask Ask) (_ Invocation, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("agent %q: %w", s.Name, err)
		}
	}()
	if len(s.Command) == 0 && role.Reserved(cmp.Or(s.Preset, s.Name)) {
		return Invocation{}, errReserved
	}
	if err := checkModel(ask.Model); err != nil {
		return Invocation{}, err
	}
	command, err := withModel(s.Command, ask.Model)
	if err != nil {
		return Invocation{}, err
	}
	if !sessionWords().MatchString(ask.Session.ID) {
		ask.Session = spend.Session{} // what a tool, or the record of a run, calls one must not be an option
	}
	name := s.preset()
	if name == "" {
		p := s.Own.preset()
		inv := Invocation{Args: append(command, p.arguments(ask, s.Args)...), preset: p, own: true}
		if s.Protocol == ACP {
			model := ask.Model
			if slices.ContainsFunc(s.Command, func(arg string) bool { return strings.Contains(arg, "{model}") }) {
				model = ""
			}
			inv.reader = newConversation(ask, model, acpForm{})
		}
		return inv, nil
	}
	p, err := s.form(name)
	if err != nil {
		return Invocation{}, err
	}
	if len(command) == 0 {
		command = []string{cmp.Or(p.program, name)}
	}
	inv := Invocation{
		Args: append(command, p.arguments(ask, s.Args)...), ExtraEnv: p.set, PassEnv: p.passed(ask.Base),
		preset: p, resumed: ask.Session.ID != "" && p.resume != nil, wrapped: len(command) > 1,
	}
	if ask.Role != Implementer {
		inv.ExtraEnv = slices.Concat(p.set, p.setReviewer)
	}
	switch {
	case s.Protocol == ACP:
		inv.reader = newConversation(ask, p.unsaid(ask.Model), *p.acp)
	case p.reader != nil:
		inv.reader = p.reader()
	}
	return inv, nil
}

var sessionWords = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`) })

// form is the preset called name, as it is talked to.
func (s Spec) form(name string) (*preset, error) {
	p, ok := presets[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("no command and no preset %q; presets are %s", name, strings.Join(Presets(), ", "))
	case s.Protocol == ACP && p.acp == nil:
		return nil, fmt.Errorf("how %q speaks the Agent Client Protocol is not known; leave out its preset and name the whole command", name)
	case s.Protocol == ACP:
		return p.byACP(), nil
	}
	return p, nil
}

// preset is the name of the preset of s, "" for a custom command.
func (s Spec) preset() string {
	if s.Preset != "" || len(s.Command) > 0 {
		return s.Preset
	}
	return s.Name
}

// ReportsEdits reports whether the agent tells which files it edits, as it works. A
// command of the user's only says in the end what it likes.
func (s Spec) ReportsEdits() bool {
	p := presets[s.preset()]
	return p != nil && p.edits
}

// TakesModel reports whether the agent can be told which model it is to use.
func (s Spec) TakesModel() bool {
	if s.Protocol == ACP || slices.ContainsFunc(s.Command, func(arg string) bool { return strings.Contains(arg, "{model}") }) {
		return true
	}
	p := presets[s.preset()]
	return p != nil && p.model != ""
}

// checkModel refuses what an agent would read as an option.
func checkModel(model string) error {
	odd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
	if strings.HasPrefix(model, "-") || strings.ContainsFunc(model, odd) {
		return fmt.Errorf("%q is not the name of a model", model)
	}
	return nil
}

func withModel(command []string, model string) ([]string, error) {
	out := slices.Clone(command)
	for i, arg := range out {
		if !strings.Contains(arg, "{model}") {
			continue
		}
		if model == "" {
			return nil, errNoModel
		}
		out[i] = strings.ReplaceAll(arg, "{model}", model)
	}
	return out, nil
}

// ModelFor is the model that is configured for profile (quality, balanced, budget; "" is
// balanced). "" leaves the choice to the agent, and with it to its own configuration.
func (s Spec) ModelFor(profile string) string {
	if model, ok := s.Models[cmp.Or(profile, "balanced")]; ok {
		return model
	}
	return s.Model
}
