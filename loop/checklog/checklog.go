// Package checklog summarises the output of a check: "3 errors", "65%, need 80%". It
// recognises a tool by the form of its output, not by its name.
package checklog

// Said returns a short summary of a check's output: "3 errors", "2 of 12 tests failed", "65%,
// need 80%", or the coverage of a passed check; "" if nothing can be read. It consists only of
// figures and of words of this program, whatever the output contains, and is at most 40
// characters long. command tells what the bare lists of some tools mean.
func Said(command, output string, exitCode int) string {
	lines := outputLines(output)
	figure, short := coverageFigure(lines), coverageShortfall(lines)
	missed := ""
	if short != nil {
		missed = short[0].String() + ", need " + short[1].String()
	}
	switch {
	case exitCode == 0 && figure == "" && short != nil:
		return short[0].String()
	case exitCode == 0:
		return figure
	}
	for _, said := range []string{
		firstSaid(lines, failedGoTests, summedTests, failedTAP, failedTestFiles),
		missed,
		problems(command, lines),
		figure,
	} {
		if said != "" && len(said) <= maxSaid {
			return said
		}
	}
	return ""
}
