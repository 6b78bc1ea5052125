package agent

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// usageWords are what a tool says that does not know an option, before a help text.
var usageWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?im)^.*?((?:unknown|unrecogni[sz]ed|unexpected|invalid|no such) (?:option|argument|flag|command)s?\b.*)$`)
})

// helpWords are of a help text, which some print without a word when they do not know an
// option.
var helpWords = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^Options:\s*$[^\x00]*^\s+-h, --help\b`) })

// triedWords are lines of tools that try again, with what they say of the cause in a group:
// they count while nothing else was said after them.
var triedWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(Attempt \d+ failed with status .*)$|\berror\.error="((?:[^"\\]|\\.)*)"`)
})

// frameWords are lines of a stack.
var frameWords = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s+at `) })

// Lines that only warn or tell what goes on, and lines of errors. What stands first in a
// line decides.
var (
	warningWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i:warn(?:ing)?\b|\bdeprecat|\blevel="?(?:info|debug|trace)\b)|\b(?:INFO|DEBUG|TRACE|NOTICE)\b`)
	})
	faultWords = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)error\b|\bfatal\b|\bfailed\b|\bpanic\b`) })
)

// warns reports whether a line is no cause of anything.
func warns(line string) bool {
	warning, failure := warningWords().FindStringIndex(line), faultWords().FindStringIndex(line)
	return warning != nil && (failure == nil || warning[0] < failure[0])
}

// lastWords are what a command that failed wrote last: to standard error, else to
// standard output, without the events of a preset.
func lastWords(res Result, c Command, prompt string) string {
	out := res.Stdout
	if c.event != nil {
		out = nil
		for line := range bytes.Lines(res.Stdout) {
			if !bytes.HasPrefix(line, []byte("{")) {
				out = append(out, line...)
			}
		}
	}
	for _, stream := range [][]byte{res.Stderr, out} {
		if all := usageWords().FindAllStringSubmatch(plain(string(stream)), -1); len(all) > 0 {
			return excerpt(all[len(all)-1][1])
		}
		if helpWords().Match(stream) {
			return "unknown option: it printed its help"
		}
	}
	return cmp.Or(lastLines(res.Stderr, prompt), lastLines(out, prompt))
}

// lastLines is the end of a stream on one line, without what the prompt holds as well, and
// without warnings where there is anything else.
func lastLines(stream []byte, prompt string) string {
	const most = 3
	asked := strings.Split(plain(prompt), "\n")
	var last, warned []string
	tried := "" // the newest that is followed by nothing else
	for raw := range bytes.Lines(stream) {
		line := strings.TrimRight(plain(string(raw)), "\r\n")
		text := visible(line)
		m := triedWords().FindStringSubmatch(line)
		switch {
		case text == "" || slices.Contains(asked, line):
		case m != nil:
			tried = cmp.Or(m[1:]...)
		case frameWords().MatchString(line), tried != "" && strings.ContainsAny(line[:1], " {}[]"): // what is printed with a stack
		case warns(line):
			warned = append(warned, text)
		default:
			last, tried = append(last, text), ""
		}
	}
	switch {
	case tried != "":
		return excerpt(tried)
	case last == nil:
		last = warned
	}
	return excerpt(strings.Join(last[max(0, len(last)-most):], "; "))
}
