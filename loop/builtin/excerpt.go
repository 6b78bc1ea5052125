package builtin

import "strings"

// Limits of an excerpt.
const (
	excerptLines = 40
	excerptBytes = 3 << 10
	longestLine  = 500 // bytes of one line
)

// failureWords match a line about a failure, in output from which no failure could be read.
var failureWords = lazy(
	`^\s*(?:[✖✕✗✘×] |\(fail\) |1\) )|^\s*(?:\S+: )?(?i:fatal|error|panic|exception|traceback|assert\w*|failed|failure|not ok)\b|\b(?:FAIL|FAILED|ERROR|Error:|error:)(?:\W|$)`)

// excerpt returns the lines from the earliest of failures on, or else from the first line
// about a failure, or else the last lines. "" for empty output.
func excerpt(lines []string, failures []failure) string {
	start := -1
	for _, f := range failures {
		if start < 0 || f.at < start {
			start = f.at
		}
	}
	for i := 0; start < 0 && i < len(lines); i++ {
		if len(lines[i]) <= 2000 && failureWords().MatchString(lines[i]) {
			start = i
		}
	}
	if start < 0 {
		lines = nonBlank(lines)
		start = max(len(lines)-excerptLines, 0)
	}
	var b strings.Builder
	for _, line := range lines[start:min(start+excerptLines, len(lines))] {
		line = clip(strings.TrimRight(line, " \t"), longestLine)
		if b.Len()+len(line) >= excerptBytes {
			break
		}
		b.WriteString(line + "\n")
	}
	return strings.Trim(b.String(), "\n")
}
