package agents

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/testdata/agents/model"
)

// TestInstructions lets each tool implement in a checkout with instructions of every kind. By default git-runr passes
// it AGENTS.md; with loop.instructions none it passes nothing. The tool reads as few other instructions as its
// arguments allow.
func TestInstructions(t *testing.T) {
	const ours = "from AGENTS.md at the commit where this run began"
	for setting, byItself := range map[string]map[string][]string{
		"base": {
			"codex":    {".agents/skills/of-agents/SKILL.md", ".codex/skills/of-codex/SKILL.md"},
			"gemini":   {".agents/skills/of-agents/SKILL.md", ".gemini/skills/of-gemini/SKILL.md", "GEMINI.md", "lib/GEMINI.md"},
			"opencode": {"lib/AGENTS.md"},
			"pi":       {".pi/APPEND_SYSTEM.md", ".pi/SYSTEM.md"},
			"kilo":     {".kilo/rules/rule.md", ".kilocoderules", "lib/AGENTS.md"},
			"qwen":     {".qwen/commands/planted.md"},
			"copilot": {
				".claude/rules/planted.md", ".github/copilot-instructions.md", ".github/instructions/planted.instructions.md",
				"CLAUDE.md", "GEMINI.md",
				"lib/AGENTS.md", "lib/CLAUDE.md", "lib/GEMINI.md",
			},
		},
		"none": {
			"gemini":   {".agents/skills/of-agents/SKILL.md", ".gemini/skills/of-gemini/SKILL.md", "GEMINI.md", "lib/GEMINI.md"},
			"opencode": {"lib/AGENTS.md"},
			"kilo":     {".kilo/rules/rule.md", ".kilocoderules", "lib/AGENTS.md"},
			"qwen":     {".qwen/commands/planted.md"},
		},
	} {
		t.Run(setting, func(t *testing.T) {
			each(t, func(t *testing.T, a tool) {
				h := newHostile(t, a, harmless(a))
				h.git("config", "runr.loop.instructions", setting)
				h.workBeside("implementer")
				var told []string
				for _, line := range h.happened() {
					if name, is := strings.CutPrefix(line, "told: "); is && name != "AGENTS.md" {
						told = append(told, name)
					}
				}
				if !slices.Equal(told, byItself[a.name]) {
					t.Errorf("%s reads %v by itself, want %v", a.name, told, byItself[a.name])
				}
				n := 0
				h.asked(func(r model.Request) {
					if reviews(r) {
						return
					}
					n = max(n, strings.Count(r.Body, "planted in AGENTS.md,"))
					if r.Told(ours) != (setting == "base") {
						t.Errorf("it is told what the base says: %v", setting != "base")
					}
				})
				t.Logf("%-9s %s: AGENTS.md %d times, by itself %v", a.name, setting, n, told)
				if (n > 0) != (setting == "base") {
					t.Errorf("AGENTS.md is told %d times", n)
				}
			})
		})
	}
}
