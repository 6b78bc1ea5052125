package agent

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

var authWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b40[13]\b|unauthori[sz]ed|forbidden|authenti|api[ _-]?key|credential|not (?:logged|signed) in|log ?in\b|sign ?in\b|access denied|could not load`)
})

// unauthorised reports whether the agent says that it was not let in.
func (a Answer) unauthorised() bool { return a.Problem != "" && authWords().MatchString(a.Detail) }

// notPassed says which variables that open models are set in base and were kept from the
// agent: those that its tool knows, or of a custom command those that any does.
func notPassed(p *preset, name string, base, env []string) string {
	var names []string
	if p == nil {
		names = append(names, providers...)
		for _, c := range allClouds {
			names = append(names, c.vars...)
		}
	} else {
		for _, c := range p.clouds {
			names = append(names, c.vars...)
		}
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(v string) bool {
		return lastValue(base, v) == "" || lastValue(env, v) != ""
	})
	if len(names) == 0 {
		return ""
	}
	said := "; set here, but not passed on to it: " + strings.Join(names, ", ") + " (name them in env under [agents." + name + "]"
	if p != nil {
		for _, c := range p.clouds {
			if c.on != "" && slices.ContainsFunc(c.vars, func(v string) bool { return slices.Contains(names, v) }) {
				said += ", or set " + c.on
			}
		}
	}
	return said + ")"
}
