package agent

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/spend"
)

const (
	// DefaultTimeout is the wall time of one call when Spec.Timeout is 0.
	DefaultTimeout = 30 * time.Minute
	// DefaultIdle is the silence after which a preset is stopped when Spec.Idle is 0.
	// Presets report every step, so silence means a broken connection. A custom command
	// may be silent until it answers and has no default.
	DefaultIdle = 10 * time.Minute
)

// Spec is a configured agent: a preset, or a command of the user's. With both, Command
// replaces the program of the preset (as in npx and a package name), and the preset's
// arguments follow it.
type Spec struct {
	Name    string
	Command []string // argv; "{model}", "{prompt}" and "{prompt_file}" in it are replaced
	Preset  string   // one of Presets; "" with no Command: the preset called Name
	// Protocol is ACP for a command that implements it, "" for one that reads its prompt from
	// standard input.
	Protocol string
	Args     []string // extra arguments, after all others
	Timeout  time.Duration
	Idle     time.Duration
	Env      []string          // names of variables to pass through
	Model    string            // "" leaves the choice to the agent
	Models   map[string]string // model for a profile (quality, balanced, budget), in place of Model
	Own      Own               // for a command that is not a preset
}

// Ask is one request to an agent.
type Ask struct {
	Role    Role
	Model   string // "" leaves the choice to the agent
	Dir     string // working directory
	Prompt  string
	Session spend.Session // session of an earlier call to continue, if the tool can; zero for a new one
	Keep    bool          // store the session so that it can be continued
	// Uninstructed keeps an implementer from the checkout's instructions to its tool, as far
	// as arguments can.
	Uninstructed bool
	Base         []string // the caller's environment; nil: os.Environ
}

// Invocation is the command line and environment of one call.
type Invocation struct {
	Args     []string
	ExtraEnv []string // KEY=VALUE, set over everything else
	PassEnv  []string // variables that the agent needs from the caller's environment

	preset  *preset
	own     bool   // preset comes from Spec.Own
	resumed bool   // it continues a session
	wrapped bool   // another program starts the preset's program, as npx does
	reader  reader // of standard output; nil: standard output is the answer
}

var (
	errReserved = errors.New("the name is reserved and is not a command")
	errNoModel  = errors.New(`the command contains {model}, but no model is configured`)
)

// Invocation returns the command of s for ask. The preset's arguments keep a reviewer from
// writing, and configuration in the repository from being run.
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
	if ask.Model == "" && s.namesModel() {
		return Invocation{}, errNoModel
	}
	command := fill(s.Command, "{model}", ask.Model)
	if !sessionWords().MatchString(ask.Session.ID) {
		ask.Session = spend.Session{} // an id from a tool or a run's record must not be read as an option
	}
	name := s.preset()
	if name == "" {
		p := s.Own.preset()
		inv := Invocation{Args: append(command, p.arguments(ask, s.Args)...), preset: p, own: true}
		if s.Protocol == ACP {
			inv.reader = newConversation(ask, s.namesModel(), acpForm{})
		}
		return inv, nil
	}
	p, err := s.form(name)
	if err != nil {
		return Invocation{}, err
	}
	if len(command) == 0 {
		command = []string{name}
	}
	inv := Invocation{
		Args: append(command, p.arguments(ask, s.Args)...), ExtraEnv: p.Set, PassEnv: p.passed(ask.Base),
		preset: p, resumed: ask.Session.ID != "" && p.Resume != nil, wrapped: len(command) > 1,
	}
	if ask.Role != Implementer {
		inv.ExtraEnv = slices.Concat(p.Set, p.SetReviewer)
	}
	if inv.reader = p.reader(); s.Protocol == ACP {
		inv.reader = newConversation(ask, p.Model != "", *p.ACP)
	}
	return inv, nil
}

var sessionWords = lazyre.Compile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)

// form returns the preset called name, in its form for s.Protocol.
func (s Spec) form(name string) (*preset, error) {
	p := presetCalled(name)
	switch {
	case p == nil:
		return nil, fmt.Errorf("no command and no preset %q; presets are %s", name, strings.Join(Presets(), ", "))
	case s.Protocol == ACP && p.ACP == nil:
		return nil, fmt.Errorf(
			"it is not known how %q speaks the Agent Client Protocol; leave out its preset and name the whole command", name)
	case s.Protocol == ACP:
		return p.byACP(), nil
	}
	return p, nil
}

// preset returns the name of the preset of s, "" for a custom command.
func (s Spec) preset() string {
	if s.Preset != "" || len(s.Command) > 0 {
		return s.Preset
	}
	return s.Name
}

// ReportsEdits reports whether the agent's events name the files that it edits. A custom
// command has no such events.
func (s Spec) ReportsEdits() bool {
	p := presetCalled(s.preset())
	return p != nil && p.Edits
}

// continuesReviews reports whether the tool stores every session and continues it with the arguments of a reviewer.
// Others get a new call: codex would continue a reviewer's session with the rights of an implementer.
func (s Spec) continuesReviews() bool {
	p := presetCalled(s.preset())
	return p != nil && p.Proven && s.Protocol != ACP && p.Resume != nil && p.Once == nil && p.Again == nil
}

// TakesModel reports whether the agent accepts the name of a model.
func (s Spec) TakesModel() bool {
	p := presetCalled(s.preset())
	return s.Protocol == ACP || s.namesModel() || p != nil && p.Model != ""
}

// namesModel reports whether the user's command has a place for the model.
func (s Spec) namesModel() bool {
	return slices.ContainsFunc(s.Command, func(arg string) bool { return strings.Contains(arg, "{model}") })
}

// checkModel rejects a name that an agent would read as an option.
func checkModel(model string) error {
	odd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
	if strings.HasPrefix(model, "-") || strings.ContainsFunc(model, odd) {
		return fmt.Errorf("%q is not the name of a model", model)
	}
	return nil
}

// ModelFor returns the model configured for profile (quality, balanced, budget; "" is
// balanced). "" leaves the choice to the agent's own configuration.
func (s Spec) ModelFor(profile string) string {
	if model, ok := s.Models[cmp.Or(profile, "balanced")]; ok {
		return model
	}
	return s.Model
}
