package agent

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/lazyre"
)

// usageWords matches a tool's message about an unknown option, before a help text.
var usageWords = lazyre.Compile(
	`(?im)^.*?((?:unknown|unrecogni[sz]ed|unexpected|invalid|no such) (?:option|argument|flag|command)s?\b.*)$`)

// helpWords matches a help text; some tools print only that for an unknown option.
var helpWords = lazyre.Compile(`(?m)^Options:\s*$[^\x00]*^\s+-h, --help\b`)

// triedWords matches lines about a retry, with the cause in a group. Such a line counts if
// no other line follows it.
var triedWords = lazyre.Compile(`^(Attempt \d+ failed with status .*)$|\berror\.error="((?:[^"\\]|\\.)*)"`)

// frameWords matches lines of a stack trace.
var frameWords = lazyre.Compile(`^\s+at `)

// Words of lines that only warn or inform, and of error lines. The first match in a line
// decides.
var (
	warningWords = lazyre.Compile(
		`(?i:warn(?:ing)?\b|\bdeprecat|\blevel="?(?:info|debug|trace)\b)|\b(?:INFO|DEBUG|TRACE|NOTICE)\b`)
	faultWords = lazyre.Compile(`(?i)error\b|\bfatal\b|\bfailed\b|\bpanic\b`)
)

// warns reports whether a line only warns or informs, so it is not the cause of a failure.
func warns(line string) bool {
	warning, failure := warningWords().FindStringIndex(line), faultWords().FindStringIndex(line)
	return warning != nil && (failure == nil || warning[0] < failure[0])
}

// lastWords returns what a failed command wrote last: to standard error, else to standard
// output without the events of a preset.
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
	errs := ending(res.Stderr)
	out = ending(out)
	for _, stream := range [][]byte{errs, out} {
		if all := usageWords().FindAllStringSubmatch(plain(string(stream)), -1); len(all) > 0 {
			return excerpt(all[len(all)-1][1])
		}
		if helpWords().Match(stream) {
			return "unknown option: it printed its help"
		}
	}
	return cmp.Or(lastLines(errs, prompt), lastLines(out, prompt))
}

// ending returns the end of a long stream, from a line's beginning if it has one there.
func ending(stream []byte) []byte {
	const most = 64 << 10
	if len(stream) <= most {
		return stream
	}
	stream = stream[len(stream)-most:]
	if _, rest, found := bytes.Cut(stream, []byte{'\n'}); found && len(rest) > 0 {
		return rest
	}
	return stream
}

// lastLines returns the end of a stream as one line, without lines of the prompt, and
// without warnings if there is anything else.
func lastLines(stream []byte, prompt string) string {
	const most = 3
	asked := strings.Split(plain(prompt), "\n")
	var last, warned []string
	tried := "" // the newest retry that no other line follows
	for raw := range bytes.Lines(stream) {
		line := strings.TrimRight(plain(string(raw)), "\r\n")
		text := visible(line)
		m := triedWords().FindStringSubmatch(line)
		switch {
		case text == "" || slices.Contains(asked, line):
		case m != nil:
			tried = cmp.Or(m[1:]...)
		case frameWords().MatchString(line), tried != "" && strings.ContainsAny(line[:1], " {}[]"):
			// printed with a stack trace
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
