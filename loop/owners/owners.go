// Package owners reads CODEOWNERS files: who owns a path, and whose approval a change to it needs.
//
// It follows GitHub's rules, or GitLab's if the file has sections or is below .gitlab: see
// https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
// and https://docs.gitlab.com/user/project/codeowners/reference/. In both, the last line that matches a path counts; in
// GitLab's, the last one of each section.
package owners

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/lazyre"
)

// Places lists the files that may name owners, in order of precedence. Only the first that exists counts.
var Places = []string{".github/CODEOWNERS", ".gitlab/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}

// Rules are the lines of a CODEOWNERS file.
type Rules struct {
	sections []section
	// Skipped lists the lines that a forge would ignore too, with the reason.
	Skipped []string
}

// section is a group of lines in which the last match counts. A file by GitHub's rules is one unnamed section.
type section struct {
	name     string
	need     int // required approvals; 0: optional
	defaults []string
	lines    []line
}

// line gives the owners of what a pattern matches. A line without owners removes the owners.
type line struct {
	match    gitstore.Globs
	owners   []string
	excluded bool // GitLab's "!pattern": the section has no owner for it, whatever other lines say
}

// Group is a set of owners, of whom Need have to approve. Owners are written as in the file: @user, @org/team or an
// email address.
type Group struct {
	Section string   `json:"section,omitempty"`
	Owners  []string `json:"owners"`
	Need    int      `json:"need"` // required approvals; 0: approval is optional
}

// header matches the first line of a GitLab section: "[Name]", "^[Name]" for an optional one, "[Name][2]" for two
// approvals, followed by the default owners.
var header = lazyre.Compile(`^(\^?)\[([^\]]+)\](?:\[(\d{1,3})\])?(?:\s+(.*))?$`)

// Parse parses a CODEOWNERS file. place is its path in the repository.
func Parse(place, text string) Rules {
	var r Rules
	lines := each.Of(strings.Split(text, "\n"), strings.TrimSpace)
	gitlab := strings.HasPrefix(place, ".gitlab/") ||
		!strings.HasPrefix(place, ".github/") && slices.ContainsFunc(lines, header().MatchString)
	at := r.section("", 1)
	for i, line := range lines {
		fields, err := fieldsOf(line)
		switch parts := header().FindStringSubmatch(line); {
		case len(fields) == 0:
		case gitlab && parts != nil:
			at = r.begin(parts)
		case err != nil:
			r.skip(i+1, err.Error())
		default:
			r.add(at, i+1, fields, gitlab)
		}
	}
	return r
}

// begin starts the section of a header, or continues one of the same name: GitLab merges them, ignoring case.
func (r *Rules) begin(parts []string) int {
	need, _ := strconv.Atoi(parts[3])
	if need = max(need, 1); parts[1] != "" {
		need = 0
	}
	at := r.section(parts[2], need)
	r.sections[at].defaults, _ = fieldsOf(parts[4])
	return at
}

// section returns the index of the section called name, and adds it if it is missing.
func (r *Rules) section(name string, need int) int {
	for i, s := range r.sections {
		if strings.EqualFold(s.name, name) {
			return i
		}
	}
	r.sections = append(r.sections, section{name: name, need: need})
	return len(r.sections) - 1
}

func (r *Rules) add(at, number int, fields []string, gitlab bool) {
	pattern, excluded := fields[0], false
	if name, negated := strings.CutPrefix(pattern, "!"); negated {
		if !gitlab {
			r.skip(number, "! is not allowed")
			return
		}
		pattern, excluded = name, true
	}
	if !gitlab && strings.Contains(pattern, "[") {
		r.skip(number, "[ ] is not allowed")
		return
	}
	owners := fields[1:]
	if len(owners) == 0 {
		owners = r.sections[at].defaults
	}
	for _, owner := range owners {
		if !strings.Contains(owner, "@") {
			r.skip(number, fmt.Sprintf("%q is neither @name nor an email address", owner))
			return
		}
	}
	match := gitstore.CompileGlobs([]string{pattern})
	r.sections[at].lines = append(r.sections[at].lines, line{match, owners, excluded})
}

func (r *Rules) skip(number int, why string) {
	r.Skipped = append(r.Skipped, fmt.Sprintf("line %d: %s", number, why))
}

// field matches a comment, or a field and the backslash after it that ends the line.
var field = lazyre.Compile(`#.*|(?:\\.|[^ \t\\])+(\\?)|(\\)`)

// fieldsOf splits a line at blanks, up to a comment. A backslash escapes a blank.
func fieldsOf(text string) (fields []string, err error) {
	plain := strings.NewReplacer(`\\`, `\\`, `\ `, " ", `\#`, "#")
	for _, match := range field().FindAllStringSubmatch(text, -1) {
		if match[0][0] == '#' {
			break
		}
		if match[1]+match[2] != "" {
			return fields, fmt.Errorf("a backslash ends the line")
		}
		fields = append(fields, plain.Replace(match[0]))
	}
	return fields, nil
}

// Of returns the groups that own a path, in the order of the file.
func (r Rules) Of(path string) []Group {
	var groups []Group
	for _, s := range r.sections {
		if owners := s.of(path); len(owners) > 0 {
			groups = append(groups, Group{s.name, owners, s.need})
		}
	}
	return groups
}

func (s section) of(path string) (owners []string) {
	for _, l := range s.lines {
		switch {
		case !l.match.Match(path):
		case l.excluded:
			return nil
		default:
			owners = l.owners
		}
	}
	return owners
}

// OfAll returns the groups that own any of the paths, each once.
func (r Rules) OfAll(paths []string) []Group {
	var groups []Group
	for _, path := range paths {
		for _, g := range r.Of(path) {
			if !slices.ContainsFunc(groups, g.equal) {
				groups = append(groups, g)
			}
		}
	}
	return groups
}

func (g Group) equal(o Group) bool {
	return g.Section == o.Section && g.Need == o.Need && slices.Equal(g.Owners, o.Owners)
}
