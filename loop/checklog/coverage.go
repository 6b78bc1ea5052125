package checklog

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/loop/prose"
)

// percent is a coverage figure in hundredths of a per cent. It is never rounded up: 79.99 is not 80.
type percent int

// String returns "65%" or "65.5%".
func (p percent) String() string { return strconv.FormatFloat(float64(p)/100, 'f', -1, 64) + "%" }

// percents parses shares of a whole: "65", "65.00" and "65.123" (65.12) of 100, "0.65" of 1. It leaves out anything
// outside 0 to 100.
func percents(whole float64, shares ...string) []percent {
	var list []percent
	for _, share := range shares {
		if f, err := strconv.ParseFloat(share, 64); err == nil && f >= 0 && f < whole*1.01 {
			list = append(list, percent(math.Floor(f/whole*1e4+1e-6)))
		}
	}
	return list
}

var percentPattern = pattern(`(?:^|[^\d.\-])(\d{1,3}(?:\.\d+)?) ?%`)

// percentsIn returns the percents in a line, in order.
func percentsIn(line string) []percent {
	if !strings.Contains(line, "%") {
		return nil
	}
	var list []percent
	for _, m := range percentPattern().FindAllStringSubmatch(line, -1) {
		list = append(list, percents(100, m[1])...)
	}
	return list
}

// shortWords say that a threshold was missed.
var shortWords = []string{"not met", "not meet", "not reached", "is below", "less than", "lower than"}

// coverageShortfall returns the coverage and the first threshold that it missed, preferably that of lines; nil if none
// was missed: jest, nyc, c8, vitest, pytest-cov, coverage.py, SimpleCov, JaCoCo.
func coverageShortfall(lines []string) []percent {
	var first []percent
	for _, line := range lines {
		lower := strings.ToLower(line)
		if !strings.Contains(lower, "cover") {
			continue
		}
		short := shortfallIn(lower)
		if short != nil && (strings.Contains(lower, "for lines") || strings.Contains(lower, "lines covered")) {
			return short
		}
		if first == nil {
			first = short
		}
	}
	return first
}

var (
	ratioPattern     = pattern(`covered ratio is ([01](?:\.\d+)?), but expected minimum is ([01](?:\.\d+)?)`)
	failUnderPattern = pattern(`total of (\d+(?:\.\d+)?) is less than fail-under=(\d+(?:\.\d+)?)`)
)

// shortfallIn reads one line in lower case. Tools print the two figures in different order;
// the smaller one is the coverage.
func shortfallIn(line string) []percent {
	found := percentsIn(line)
	if m := ratioPattern().FindStringSubmatch(line); m != nil {
		found = percents(1, m[1:]...)
	} else if m := failUnderPattern().FindStringSubmatch(line); m != nil {
		found = percents(100, m[1:]...)
	} else if !prose.ContainsAny(line, shortWords) {
		return nil
	}
	if len(found) != 2 || found[0] == found[1] {
		return nil
	}
	return []percent{min(found[0], found[1]), max(found[0], found[1])}
}

// coverageFigure returns the coverage of lines, or of statements, that a tool printed.
func coverageFigure(lines []string) string {
	return firstSaid(lines, coverageTable, coverageTotal, goCoverage)
}

// coverageTable reads the "All files" row of istanbul's table; the heading names the columns.
func coverageTable(lines []string) string {
	column := -1
	for _, line := range lines {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for i, cell := range cells {
			if strings.TrimSpace(cell) == "% Lines" {
				column = i
			}
		}
		if strings.TrimSpace(cells[0]) == "All files" && column > 0 && column < len(cells) {
			if p := percents(100, strings.TrimSpace(cells[column])); len(p) > 0 {
				return p[0].String()
			}
		}
	}
	return ""
}

// totalPattern matches a line with one total figure: istanbul's and PHPUnit's "Lines", go
// tool cover's "total:", coverage.py's "TOTAL", SimpleCov's, tarpaulin's, and coverlet's
// table.
var totalPattern = pattern(
	`^\s*Lines\s*: +\d|^total:\s+\(statements\)\s|^TOTAL\s|(?i:\b(?:total|line) coverage: *\d)|^\d+(?:\.\d+)?% coverage, |^\| Total +\| `)

// coverageTotal returns the figure of the last such line.
func coverageTotal(lines []string) string {
	said := ""
	for line := range matches(lines, "%", totalPattern()) {
		found := percentsIn(line)
		if many := strings.HasPrefix(line, "TOTAL") && len(found) > 1; len(found) > 0 && !many {
			said = found[0].String()
			if strings.Contains(line, "Total coverage:") {
				said = found[len(found)-1].String() // pytest-cov prints the threshold first
			}
		}
	}
	return said
}

var goCoveragePattern = pattern(`\bcoverage: (\d+(?:\.\d+)?)% of statements`)

// goCoverage returns the coverage that go test printed; for several packages the lowest and the highest.
func goCoverage(lines []string) string {
	var found []percent
	for _, m := range matches(lines, "coverage: ", goCoveragePattern()) {
		found = append(found, percents(100, m[1])...)
	}
	if len(found) == 0 {
		return ""
	}
	low, high := slices.Min(found), slices.Max(found)
	if low == high {
		return low.String()
	}
	return low.String() + " to " + high.String()
}
