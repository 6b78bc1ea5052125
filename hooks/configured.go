package hooks

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// Git 2.54 and later also runs hooks from its configuration, independent of hook files and of core.hooksPath. Each gets
// the input for itself:
//
//	hook.git-runr-post-commit.event = post-commit
//	hook.git-runr-post-commit.command = …
const configPrefix = "hook.git-runr-"

// command returns the shell command for git's configuration; git appends the arguments of the hook.
func command(hook, program string) string {
	if !isFed(hook) {
		return "f() { " + strings.ReplaceAll(strings.TrimSuffix(unfedCall(hook, program), "\n"), "\n ", "; ") + "; }; f"
	}
	otherwise, tail := "", " 2>/dev/null || :"
	if hook == PrePush {
		otherwise, tail = closedGate, orRefuse
	}
	return "f() { ( p=" + quote(program) + `; [ -x "$p" ] || p=$(command -v git-runr); case $p in /*) "$p" hooks run ` +
		hook + argument(hook) +
		" ;;" + otherwise + " esac )" + tail + "; }; f"
}

// lookConfig corrects the state of p according to git's configuration.
func (s *site) lookConfig(p *place) {
	name := configPrefix + p.Hook
	text := s.repo.Config.Get(name + ".command")
	there := text != "" && s.repo.Config.Get(name+".event") == p.Hook
	file := p.State == Installed || p.State == Outdated && p.works
	switch {
	case there && s.byConfig():
		p.inConfig(s, name, text)
	case there && !file:
		p.State, p.Detail, p.Snippet = Dead, "git's configuration has it, but this git runs no hooks of its configuration", ""
	case !file && !p.Idle && (p.State != Absent || p.Detail+p.Snippet+p.Repair != "") && s.byConfig():
		p.State, p.Detail, p.Snippet, p.Repair = Absent, "", "", ""
	}
}

// inConfig sets the state of a hook in git's configuration.
func (p *place) inConfig(s *site, name, text string) {
	p.State, p.Path, p.Detail, p.Snippet, p.Manager, p.Repair = Installed, name, "", "", "", ""
	program := calledIn(p.Hook, text)
	switch {
	case s.switchedOff(name + ".enabled"):
		p.State, p.Detail = Dead, name+".enabled is false"
	case s.switchedOff("hook." + p.Hook + ".enabled"):
		p.State, p.Detail = Dead, "hook."+p.Hook+".enabled is false"
	case text != command(p.Hook, program):
		p.State, p.works, p.Detail = Outdated, true, "the command was written by another version of git-runr, or changed"
	case !runnable(program) && !OnPath(os.Getenv("PATH"), "git-runr"):
		p.State, p.Detail = Outdated, fmt.Sprintf("%q is gone and git-runr is not on PATH, so the hook does nothing", program)
	}
}

// switchedOff reports whether a boolean setting exists and is false.
func (s *site) switchedOff(key string) bool {
	return s.repo.Config.Get(key) != "" && !s.repo.Config.Bool(key)
}

// configure writes the hook into git's configuration, and removes our block from the hook file, so that it runs once.
func (s *site) configure(ctx context.Context, p place, program string) error {
	if p.State == Installed && !p.editable && p.Path != configPrefix+p.Hook {
		return nil // a line that a person added calls us
	}
	name := configPrefix + p.Hook
	if err := s.repo.UnsetConfig(ctx, name); err != nil {
		return err
	}
	if err := s.repo.SetConfig(ctx, name+".event", p.Hook); err != nil {
		return err
	}
	if err := s.repo.SetConfig(ctx, name+".command", command(p.Hook, program)); err != nil {
		return err
	}
	return p.uninstall(s.repo)
}

// unconfigure removes the hook from git's configuration.
func (s *site) unconfigure(ctx context.Context, hook string) error {
	return s.repo.UnsetConfig(ctx, configPrefix+hook)
}
