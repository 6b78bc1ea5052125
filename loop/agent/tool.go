package agent

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
)

// Tool is what is known of an agent without asking a model.
type Tool struct {
	Name      string   `json:"name"`
	Preset    string   `json:"preset,omitempty"` // "" for a custom command
	Protocol  string   `json:"protocol,omitempty"`
	Path      string   `json:"path,omitempty"` // of its program, "" if that is not installed
	Version   string   `json:"version,omitempty"`
	Model     string   `json:"model,omitempty"`        // configured here; "" leaves it to the tool
	Unused    string   `json:"model_unused,omitempty"` // the configured model, if the agent does not accept one
	SignedIn  SignedIn `json:"signed_in"`
	By        string   `json:"signed_in_by,omitempty"` // the variable or file that shows it
	Roles     []Role   `json:"roles"`
	Proven    bool     `json:"proven"`    // tested with the real tool
	Arguments string   `json:"arguments"` // where its arguments are from, in words
}

// SignedIn says whether a user is signed in, as far as variables and files show.
type SignedIn string

const (
	SignedInYes     SignedIn = "yes"
	SignedInNo      SignedIn = "no"
	SignedInUnknown SignedIn = "unknown"
)

// signIn lists the traces of a signed-in user.
type signIn struct {
	Vars   []string // one is enough
	Home   string   // variable that names the directory of files
	Root   string   // the directory if Home is not set, below HOME
	Files  []string // one is enough
	Unseen bool     // other ways leave no trace: a key chain, a setting
}

// Look returns what is known of the agent; base is the caller's environment. It runs the
// program to ask for its version.
func (s Spec) Look(ctx context.Context, base []string) Tool {
	t := Tool{
		Name: s.Name, Preset: s.preset(), Protocol: s.Protocol, Model: s.ModelFor(""), SignedIn: SignedInUnknown,
		Roles:     []Role{Reviewer, Implementer},
		Arguments: "as configured",
	}
	if !s.TakesModel() {
		t.Model, t.Unused = "", t.Model
	}
	if p, err := s.form(t.Preset); err == nil { // a configured command has no form
		t.Proven, t.Arguments = p.Proven, "from its documentation, "+p.Origin
		if p.Proven {
			t.Arguments = "tested with " + p.Origin
		}
		if s.Protocol == ACP {
			t.Arguments += ", by the Agent Client Protocol"
		}
		t.SignedIn, t.By = p.SignIn.look(base)
	}
	inv, err := s.Invocation(Ask{Role: Reviewer, Model: t.Model, Base: base})
	if err != nil {
		return t
	}
	c := s.command(inv, Ask{Base: base}, CallOptions{})
	if t.Path, err = lookup(c.Args, c.Env); err == nil && !inv.own && !inv.wrapped {
		t.Version = versionOf(ctx, c)
	}
	return t
}

func (s signIn) look(base []string) (SignedIn, string) {
	for _, name := range s.Vars {
		if lastValue(base, name) != "" {
			return SignedInYes, name
		}
	}
	dir := filepath.Join(lastValue(base, "HOME"), s.Root)
	if s.Home != "" {
		dir = cmp.Or(lastValue(base, s.Home), dir)
	}
	for _, name := range s.Files {
		file := filepath.Join(dir, name)
		if _, err := os.Stat(file); err == nil && filepath.IsAbs(file) {
			return SignedInYes, file
		}
	}
	if s.Unseen {
		return SignedInUnknown, ""
	}
	return SignedInNo, ""
}

// versionOf returns the version that a program prints, "" if it prints none.
func versionOf(ctx context.Context, c Command) string {
	args := []string{c.Args[0], "--version"}
	res, err := Run(ctx, Command{Args: args, Dir: os.TempDir(), Env: c.Env, Timeout: helpTimeout, Alone: true})
	if err != nil || res.ExitCode != 0 {
		return ""
	}
	for field := range strings.FieldsSeq(plain(cmp.Or(string(res.Stdout), string(res.Stderr)))) {
		if v := strings.TrimPrefix(strings.Trim(field, "(),."), "v"); v != "" && v[0] >= '0' && v[0] <= '9' {
			return visible(v)
		}
	}
	return ""
}
