package reply

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/internal/place"
)

// readJSON reads every object in the answer that has a known shape of a review. An object
// that passes counts only if it is the answer itself.
func readJSON(a *answer) []candidate {
	var found []candidate
	for _, span := range markdown.JSON(a.md) {
		shape, loose := shapeOf(span), []Finding(nil)
		if shape == nil {
			if loose = looseFindings([]byte(span.Data)); len(loose) == 0 {
				continue
			}
		}
		for i := span.From; i <= span.To; i++ {
			a.read = append(a.read, i)
		}
		if shape == nil {
			a.loose = append(a.loose, loose...)
			continue
		}
		report, err := shape.read([]byte(span.Data), a.log)
		if errors.Is(err, errPlaceholder) {
			a.log.Add("a JSON report is our own instructions said again: it was ignored")
			continue
		}
		if a.broken = err != nil; a.broken { // a readable report later resets it
			a.log.Add(fmt.Sprintf("a JSON report could not be read: %v", err))
			continue
		}
		if report.Verdict.Passed() && !shape.asked && (shape.key != "verdict" || a.nonce != "") {
			a.log.Add("a JSON report in a form that was not asked for passes: it was ignored")
			a.loose = append(a.loose, report.Findings...)
			continue
		}
		if report.Verdict.Passed() && !(span.Alone && a.isAnswer(span.From, span.To, false)) {
			a.log.Add("a JSON report in the middle of other words was ignored")
			continue
		}
		found = append(found, candidate{Report: report, from: span.From, to: span.To, unread: unreadList([]byte(span.Data))})
	}
	return found
}

// jsonShape is a kind of object that is a review. The object must have key and, unless it is
// the whole answer, one of beside, because prose may quote a short object.
type jsonShape struct {
	key    string
	beside []string
	asked  bool // a documented format, which may pass
	read   func([]byte, *markdown.Warnings) (Report, error)
}

var jsonShapes = []jsonShape{
	{"success", []string{"review_summary", "review_issues"}, true, readReviewJSON},
	{"overall_correctness", []string{"overall_correctness", "findings"}, false, readCodexJSON},
	{"verdict", []string{"findings", "summary"}, false, readVerdictJSON},
	{"status", []string{"changes"}, true, readChangesJSON},
}

// looseFindings reads an object that is a single finding with severity and place, as in JSON lines, or a SARIF log of
// findings.
func looseFindings(data []byte) []Finding {
	var log struct {
		Runs []struct{ Results []sarifResult }
	}
	if json.Unmarshal(data, &log) != nil {
		return nil
	}
	var findings []Finding
	for _, run := range log.Runs {
		findings = append(findings, each.Of(run.Results, sarifResult.finding)...)
	}
	f, err := readFindingJSON(data, &markdown.Warnings{})
	o := readObject(data)
	if _, known := readSeverity(o.first("severity", "level")); err == nil && known && f.File != "" && len(findings) == 0 {
		return []Finding{f}
	}
	return findings
}

// sarifResult is a finding in SARIF, whose levels are error, warning, note and none.
type sarifResult struct {
	Level     string
	Message   struct{ Text string }
	Locations []struct {
		PhysicalLocation struct {
			ArtifactLocation struct{ URI string }
			Region           struct{ StartLine, EndLine int }
		}
	}
}

func (s sarifResult) finding() Finding {
	f := Finding{Severity: Warning, Issue: cmp.Or(s.Message.Text, "(no description)")}
	switch s.Level {
	case "error":
		f.Severity = Critical
	case "note", "none":
		f.Severity = Note
	}
	if len(s.Locations) > 0 {
		at := s.Locations[0].PhysicalLocation
		f.At(place.New(at.ArtifactLocation.URI, at.Region.StartLine, at.Region.EndLine))
	}
	return f
}

// shapeOf returns the shape of an object by its keys; nil if it is not a review. Keys are
// compared without case here, so that "Success" is rejected later and not overlooked.
func shapeOf(span markdown.Span) *jsonShape {
	has := func(key string) bool { return strings.Contains(strings.ToLower(span.Data), `"`+key+`"`) }
	if span.Valid {
		fields := topFields([]byte(span.Data))
		keys := each.SetOf(slices.Collect(maps.Keys(fields)), strings.ToLower)
		has = func(key string) bool { return keys[key] }
	}
	for i, shape := range jsonShapes {
		if has(shape.key) && (span.Whole || slices.ContainsFunc(shape.beside, has)) {
			return &jsonShapes[i]
		}
	}
	return nil
}

// unreadList returns the key of a list that holds faults by its name and belongs to no
// shape; "" if there is none.
func unreadList(data []byte) string {
	fields := topFields(data)
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		words := strings.FieldsFunc(key, func(r rune) bool { return r == '_' || r == '-' })
		known := slices.ContainsFunc(jsonShapes, func(s jsonShape) bool { return slices.Contains(s.beside, key) })
		if list := string(fields[key]); len(words) > 0 && !known && len(list) > 2 && list[0] == '[' &&
			faultNouns.Has(strings.TrimSuffix(words[len(words)-1], "s")) {
			return key
		}
	}
	return ""
}

// topFields returns the fields of an object by their keys; none if data is no object.
func topFields(data []byte) (fields map[string]json.RawMessage) {
	if json.Unmarshal(data, &fields) != nil {
		return nil
	}
	return fields
}

// errPlaceholder reports that the verdict is the placeholder of our instructions.
var errPlaceholder = errors.New("its verdict is a placeholder")

// readVerdictJSON reads the object that ReviewOutputInstructions asks for.
func readVerdictJSON(data []byte, log *markdown.Warnings) (Report, error) {
	o := readObject(data)
	stated, summary := o.text("verdict"), o.text("summary")
	findings := o.findings("findings", "finding", readFindingJSON, log)
	if err := o.done(); err != nil {
		return Report{}, err
	}
	verdict, unclear := readVerdict(stated)
	if _, given := o.fields["findings"]; verdict.Passed() && !given {
		return Report{}, fmt.Errorf("field %q is missing", "findings")
	}
	if unclear {
		log.Add(unclearVerdict(stated))
	}
	if verdict == "" {
		return Report{}, errPlaceholder
	}
	return o.report(Report{Verdict: verdict, Format: formatVerdictJSON, Summary: summary, Findings: findings})
}

func readFindingJSON(data []byte, log *markdown.Warnings) (Finding, error) {
	o := readObject(data)
	f := Finding{
		Issue: o.first("issue", "issue_description", "description", "change", "message", "title", "body", "text"),
		Fix:   o.first("fix", "issue_resolution", "suggestion", "resolution"),
	}
	severity, file := o.first("severity", "issue_severity", "level"), o.first("file", "path", "location")
	line, end := o.number("line"), o.number("end_line")
	if err := o.done(); err != nil {
		return Finding{}, err
	}
	p := place.Read(file)
	if line > 0 && p.File != "" {
		p = place.New(p.File, line, end)
	} else if file == "" {
		p, f.Issue = place.Cut(f.Issue)
	}
	f.At(p)
	f.Severity = severityOf(severity, log)
	return described(f, string(data), log), nil
}

// readReviewJSON reads a report with success and review_issues. success is the stated
// verdict; a critical issue overrules it.
func readReviewJSON(data []byte, log *markdown.Warnings) (Report, error) {
	o := readObject(data)
	report := Report{Verdict: NeedsFix, Format: formatReviewJSON, Summary: o.text("review_summary")}
	if o.truth("success") {
		report.Verdict = Pass
	}
	report.Findings = o.findings("review_issues", "review issue", readFindingJSON, log)
	return o.report(report)
}

// readCodexJSON reads the answer of codex's review command.
func readCodexJSON(data []byte, log *markdown.Warnings) (Report, error) {
	o := readObject(data)
	report := Report{Format: formatCodexJSON, Summary: o.text("overall_explanation")}
	report.Verdict = o.stated("overall_correctness", "patch is correct, correct", "patch is incorrect, incorrect", log)
	report.Findings = o.findings("findings", "finding", readCodexFinding, log)
	return o.report(report)
}

func readCodexFinding(data []byte, log *markdown.Warnings) (Finding, error) {
	o := readObject(data)
	title := o.text("title")
	m, rest, marked := leadingMark(title)
	if marked {
		title = rest
	}
	f := Finding{Issue: strings.TrimSpace(title + "\n" + o.text("body")), Severity: m.severity}
	if raw := o.raw("priority"); raw != nil {
		f.Severity = severityOf("P"+string(raw), log)
	} else if !marked {
		f.Severity = severityOf("", log)
	}
	at := o.object("code_location")
	lines := at.object("line_range")
	f.At(place.New(at.text("absolute_file_path"), lines.number("start"), lines.number("end")))
	return described(f, "", log), cmp.Or(at.done(), lines.done(), o.done())
}

// readChangesJSON reads a report with status and changes. Each change is a finding, because
// the reviewer requests it.
func readChangesJSON(data []byte, log *markdown.Warnings) (Report, error) {
	o := readObject(data)
	report := Report{Format: formatChangesJSON, Summary: o.text("summary")}
	report.Verdict = o.stated("status", "approve, approved", "request_changes, changes_requested, reject, rejected", log)
	for _, raw := range o.list("changes") {
		findings, err := ReadChange(raw, log)
		if err != nil {
			return Report{}, fmt.Errorf("read finding: %w", err)
		}
		report.Findings = append(report.Findings, findings...)
	}
	return o.report(report)
}

// ReadChange reads one entry of a list of changes: an object with the fields of a finding, or
// a string. A string is one finding, a warning; an empty string is none. Any other value is
// an error.
func ReadChange(raw json.RawMessage, log *markdown.Warnings) ([]Finding, error) {
	if raw[0] == '{' {
		f, err := readFindingJSON(raw, log)
		return []Finding{f}, err
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil || strings.TrimSpace(text) == "" {
		return nil, err
	}
	p, issue := place.Cut(strings.TrimSpace(text))
	f := Finding{Severity: Warning, Issue: issue}
	f.At(p)
	return []Finding{f}, nil
}
