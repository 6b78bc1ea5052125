package agent

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/lazyre"
)

var authWords = lazyre.Compile(
	`(?i)\b40[13]\b|unauthori[sz]ed|forbidden|authenti|api[ _-]?key|credential|not (?:logged|signed) in|log ?in\b|sign ?in\b|access denied|could not load`)

// notPassed returns a hint about credentials that are set in base but were not passed to the
// agent: those of its tool, or for a custom command those of any tool. "" if there are none.
func notPassed(p *preset, name string, base, env []string) string {
	names, clouds := withGroups("@providers", "@amazon", "@google", "@azure"), []cloud(nil)
	if p != nil {
		names, clouds = nil, p.Clouds
	}
	for _, c := range clouds {
		names = append(names, c.Vars...)
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(v string) bool {
		return lastValue(base, v) == "" || lastValue(env, v) != ""
	})
	if len(names) == 0 {
		return ""
	}
	said := "; set here, but not passed on to it: " + strings.Join(names, ", ") + " (name them in env under [agents." +
		name + "]"
	for _, c := range clouds {
		if c.On != "" && slices.ContainsFunc(c.Vars, func(v string) bool { return slices.Contains(names, v) }) {
			said += ", or set " + c.On
		}
	}
	return said + ")"
}
