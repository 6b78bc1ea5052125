package config

import (
	"strings"

	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
)

// Initial is the text of the .runr.toml that a repository with these checks and worktrees begins with.
func Initial(checks []runplan.Check, given runplan.Worktree) string {
	var b strings.Builder
	b.WriteString("# The review loop of this repository. git runr help config lists every key.\n\n[review]\nreviewer = \"builtin\"\n")
	if given.Setup != "" || len(given.Copy) > 0 {
		b.WriteString("\n[worktree]\n")
	}
	if given.Setup != "" {
		safetext.Fprintf(&b, "setup = %s\n", tomlString(given.Setup))
	}
	if len(given.Copy) > 0 {
		safetext.Fprintf(&b, "copy = [\"%s\"]\n", strings.Join(given.Copy, `", "`))
	}
	for _, c := range checks {
		safetext.Fprintf(&b, "\n[checks.%s]\ncommand = %s\n", tomlKey(c.Name), tomlString(c.Command))
	}
	return b.String()
}

// tomlKey is name as a TOML key: bare where it can be.
func tomlKey(name string) string {
	if name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" {
		return name
	}
	return tomlString(name)
}

func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			safetext.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
