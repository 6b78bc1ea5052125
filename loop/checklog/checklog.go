// Package checklog reads what the output of a check says: "3 errors", "65%, need 80%". A
// tool is known by the form of its output, not by its name.
package checklog

// Said is what the output of a failed or passed check says in a few words: "3 errors",
// "2 of 12 tests failed", "65%, need 80%", and for one that passed its coverage; ""
// when nothing can be read. It is made of figures and of words of this program only,
// whatever the output holds, and is at most 40 characters long. command tells what
// some tools' bare lists mean.
func Said(command, output string, exitCode int) string {
	lines := outputLines(output)
	if exitCode == 0 {
		return saidOfPassed(lines)
	}
	for _, said := range []string{
		failedTests(lines),
		coverageShortfall(lines).String(),
		problems(command, lines),
		coverageFigure(lines),
	} {
		if said != "" && len(said) <= maxSaid {
			return said
		}
	}
	return ""
}

func saidOfPassed(lines []string) string {
	if said := coverageFigure(lines); said != "" {
		return said
	}
	return coverageShortfall(lines).is.String()
}
