package checklog

import (
	"math"
	"strconv"
	"strings"
)

// percent is a coverage figure as printed, without the sign; "" is none. It is never rounded
// up: 79.99 is not 80.
type percent string

// String returns "65%", "65.5%" or "".
func (p percent) String() string {
	if p == "" {
		return ""
	}
	return string(p) + "%"
}

func (p percent) value() float64 {
	f, _ := strconv.ParseFloat(string(p), 64)
	return f
}

// newPercent parses a share of a whole: "65", "65.00" and "65.123" (65.12) of 100, "0.65" of 1. It returns "" for
// anything outside 0 to 100.
func newPercent(s string, whole float64) percent {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0 && f < whole*1.01) {
		return ""
	}
	return percent(strconv.FormatFloat(math.Floor(f/whole*1e4+1e-6)/100, 'f', -1, 64))
}

var percentPattern = pattern(`(?:^|[^\d.\-])(\d{1,3}(?:\.\d+)?) ?%`)

// percentsIn returns the percents in a line, in order.
func percentsIn(line string) []percent {
	if !strings.Contains(line, "%") {
		return nil
	}
	var list []percent
	for _, m := range percentPattern().FindAllStringSubmatch(line, -1) {
		if p := newPercent(m[1], 100); p != "" {
			list = append(list, p)
		}
	}
	return list
}

// shortfall is coverage below a check's threshold.
type shortfall struct{ is, need percent }

// String returns "65%, need 80%", or "".
func (s shortfall) String() string {
	if s.is == "" {
		return ""
	}
	return s.is.String() + ", need " + s.need.String()
}

// shortWords say that a threshold was missed.
var shortWords = []string{"not met", "not meet", "not reached", "is below", "less than", "lower than"}

// coverageShortfall returns the first missed threshold, preferably that of lines: jest, nyc,
// c8, vitest, pytest-cov, coverage.py, SimpleCov, JaCoCo.
func coverageShortfall(lines []string) shortfall {
	var first shortfall
	for _, line := range lines {
		lower := strings.ToLower(line)
		if !strings.Contains(lower, "cover") {
			continue
		}
		s := shortfallIn(lower)
		if s.is != "" && (strings.Contains(lower, "for lines") || strings.Contains(lower, "lines covered")) {
			return s
		}
		if first.is == "" {
			first = s
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
func shortfallIn(line string) shortfall {
	found := percentsIn(line)
	if m := ratioPattern().FindStringSubmatch(line); m != nil {
		found = []percent{newPercent(m[1], 1), newPercent(m[2], 1)}
	} else if m := failUnderPattern().FindStringSubmatch(line); m != nil {
		found = []percent{newPercent(m[1], 100), newPercent(m[2], 100)}
	} else if !containsAny(line, shortWords) {
		return shortfall{}
	}
	if len(found) != 2 || found[0] == "" || found[1] == "" || found[0].value() == found[1].value() {
		return shortfall{}
	}
	if found[0].value() > found[1].value() {
		found[0], found[1] = found[1], found[0]
	}
	return shortfall{is: found[0], need: found[1]}
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
			return newPercent(strings.TrimSpace(cells[column]), 100).String()
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
	var low, high percent
	for _, m := range matches(lines, "coverage: ", goCoveragePattern()) {
		p := newPercent(m[1], 100)
		if p == "" {
			continue
		}
		if low == "" || p.value() < low.value() {
			low = p
		}
		if high == "" || p.value() > high.value() {
			high = p
		}
	}
	if low == high {
		return low.String()
	}
	return low.String() + " to " + high.String()
}
