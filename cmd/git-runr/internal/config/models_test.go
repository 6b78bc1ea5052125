package config

import (
	"slices"
	"testing"

	"github.com/git-runr/git-runr/loop/agent"
)

// An agent's model comes from the part of its name after "@", git config, the agent's table for the profile, or the
// agent's table, in this order. Otherwise the tool chooses.
func TestConfigModel(t *testing.T) {
	const table = "[agents.codex]\nmodel = \"table\"\nmodels.quality = \"best\"\n"
	for _, tt := range []struct {
		name, file, profile, agent, git, want string
	}{
		{"nobody", "", "balanced", "codex", "", ""},
		{"the table", table, "balanced", "codex", "", "table"},
		{"the profile", table, "quality", "codex", "", "best"},
		{"git config", table, "quality", "codex", "mine", "mine"},
		{"git config of a preset without a table", "", "balanced", "codex", "mine", "mine"},
		{"the name", table, "quality", "codex@o3/mini:high", "mine", "o3/mini:high"},
		{"of another agent", table, "quality", "pi", "mine", ""},
	} {
		settings := map[string][]string{}
		if tt.git != "" {
			settings["runr.agents.codex.model"] = []string{tt.git}
		}
		c, err := load(input{RepoFile: []byte(tt.file), RepoPath: FileName, Git: settings})
		if err != nil {
			t.Fatal(err)
		}
		c.Loop.Profile = tt.profile
		caller, _ := c.caller(tt.agent, agent.Reviewer)
		model := caller.Model
		if model == "" {
			model = caller.Spec.ModelFor(tt.profile)
		}
		if model != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, model, tt.want)
		}
	}
}

func TestConfigModelNames(t *testing.T) {
	c := repoConfig(t,
		"[agents.mine]\ncommand = [\"x\", \"{model}\"]\n[agents.plain]\ncommand = [\"x\"]\n[agents.talks]\n"+
			"command = [\"x\"]\nprotocol = \"acp\"\n")
	for name, known := range map[string]bool{
		"codex@gpt-5": true, "mine@a/b": true, "claude@opus[1m]": true, "codex@": false, "codex@--yolo": false,
		"codex@a b": false,
		"human@x":   false, "builtin@x": false, "nobody@x": false, "@x": false,
		"plain": true, "plain@x": false, "amp@x": false, "talks@x": true,
	} {
		if err := c.KnownAgent("reviewer", name); (err == nil) != known {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, tt := range [][3]string{{"codex", "m", "codex@m"}, {"codex@a", "m", "codex@a"}, {"codex", "", "codex"},
		{"human", "", "human"}, {"builtin", "m", ""}, {"human", "m", ""}} {
		if got, err := WithModel(tt[0], tt[1]); got != tt[2] || (err == nil) != (got != "") {
			t.Errorf("%v: %q, %v", tt, got, err)
		}
	}
	if CheckModel("--model", "--yolo") == nil || CheckModel("--model", "") != nil ||
		CheckModel("--model", "p/m:high") != nil {
		t.Error("names of models")
	}
}

// Arguments in the repository's file need trust because they are executed; a model needs none.
func TestConfigArgsNeedTrust(t *testing.T) {
	for file, want := range map[string]bool{
		"[agents.codex]\nargs = [\"-c\", \"x=1\"]\n": true, "[agents.codex]\nargs = []\n": true,
		"[agents.codex]\nmodel = \"m\"\n": false,
	} {
		c := repoConfig(t, file)
		spec, fromRepository, known := c.agent("codex")
		if fromRepository != want || !known {
			t.Errorf("%q: from the repository %v, %+v", file, fromRepository, spec)
		}
	}
	c := repoConfig(t, "[agents.codex]\nargs = [\"-c\", \"x=1\"]\n")
	if spec, _, _ := c.agent("codex"); !slices.Equal(spec.Args, []string{"-c", "x=1"}) || !c.Executes() {
		t.Errorf("%+v", spec)
	}
}

func TestConfigGitModelErrors(t *testing.T) {
	if _, err := load(input{Git: map[string][]string{"runr.agents.codex.model": {"--yolo"}}}); err == nil {
		t.Error("an option is no model")
	}
	for _, name := range []string{"runr.agents.nobody.model", "runr.agents.codex@x.model", "runr.agents.codex.command",
		"runr.agents.human.model"} {
		c, err := load(input{Git: map[string][]string{name: {"m"}}})
		if err != nil || len(c.Warnings) != 1 {
			t.Errorf("%s: %v, %q", name, err, c.Warnings)
		}
	}
}
