package agent

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"git-runr/loop/role"
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
	Command []string // argv; "{model}" in an argument is replaced by the model
	Preset  string   // one of Presets; "" with no Command: the preset called Name
	Timeout time.Duration
	Idle    time.Duration
	Env     []string          // names of variables to pass through
	Models  map[string]string // profile (quality, balanced, budget) to model
}

var (
	errReserved = errors.New("the name is reserved and is not a command")
	errNoModel  = errors.New(`the command asks for {model} and the profile gives none`)
)

// Invocation gives the command of s for role. An empty model leaves the choice
// to the agent. The preset's arguments keep a reviewer from writing and keep
// configuration that comes with the repository from being run.
func (s Spec) Invocation(as Role, model string, dir string) (_ Invocation, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("agent %q: %w", s.Name, err)
		}
	}()
	if len(s.Command) == 0 && role.Reserved(cmp.Or(s.Preset, s.Name)) {
		return Invocation{}, errReserved
	}
	if err := checkModel(model); err != nil {
		return Invocation{}, err
	}
	command, err := withModel(s.Command, model)
	if err != nil {
		return Invocation{}, err
	}
	name := s.preset()
	if name == "" {
		return Invocation{Args: command}, nil
	}
	build, ok := presets[name]
	if !ok {
		return Invocation{}, fmt.Errorf("no command and no preset %q; presets are %s", name, strings.Join(Presets(), ", "))
	}
	inv := build(as, model, dir)
	inv.PassEnv = append(inv.PassEnv, network...)
	if len(command) > 0 {
		inv.Args = append(command, inv.Args[1:]...)
	}
	return inv, nil
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
func (s Spec) ReportsEdits() bool { return s.preset() != "" }

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

// Model chooses the model for role under profile (quality, balanced, budget; ""
// is balanced): what spec.Models says, else the default table for the claude
// preset, else "", which leaves the choice to the agent.
func Model(role Role, profile string, spec Spec) string {
	profile = cmp.Or(profile, "balanced")
	if model, ok := spec.Models[profile]; ok {
		return model
	}
	if spec.preset() != "claude" {
		return ""
	}
	switch {
	case profile == "quality":
		return "opus"
	case profile == "budget" && role == Reviewer:
		return "haiku"
	case profile == "budget", profile == "balanced":
		return "sonnet"
	}
	return ""
}
