package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/pick"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// search holds the filters of the list of reviews, as entered in its form.
type search struct {
	Query, Verdict, OnBranch string
	Verdicts                 []string // to choose from
	Branches                 []string // to choose from
}

func newSearch(r *http.Request, store *store.Store) (search, error) {
	s := search{
		Query: strings.TrimSpace(r.FormValue("q")), Verdict: r.FormValue("verdict"), OnBranch: r.FormValue("branch"),
		Verdicts: render.VerdictNames,
	}
	var err error
	s.Branches, err = store.ReviewBranches(r.Context())
	if s.OnBranch != "" && !slices.Contains(s.Branches, s.OnBranch) {
		s.Branches = append(s.Branches, s.OnBranch)
	}
	return s, err
}

// Narrows reports whether any filter is set.
func (s search) Narrows() bool { return s.Query+s.Verdict+s.OnBranch != "" }

// values returns the query parameters of the same search.
func (s search) values() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{"q": s.Query, "verdict": s.Verdict, "branch": s.OnBranch} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// test returns a function that reports whether a review matches, or nil if all do; then only the summaries of shown
// reviews are read.
func (s search) test(ctx context.Context, store *store.Store, me string) (func(record.ReviewSummary) bool, error) {
	tests, wish, err := s.words(me)
	if err != nil {
		return nil, err
	}
	fits, err := wish.Test(ctx, store)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	if fits == nil && len(tests) == 0 {
		return nil, nil
	}
	return func(r record.ReviewSummary) bool {
		return (fits == nil || fits(r)) && !slices.ContainsFunc(tests, func(test func(record.ReviewSummary) bool) bool {
			return !test(r)
		})
	}, nil
}

// split splits the query at spaces outside double quotes. phrase says for each word whether it begins with a quote.
func (s search) split() (words []string, phrase []bool) {
	open := false
	for _, word := range strings.FieldsFunc(s.Query, func(c rune) bool {
		open = open != (c == '"')
		return c == ' ' && !open
	}) {
		words, phrase = append(words, strings.ReplaceAll(word, `"`, "")), append(phrase, strings.HasPrefix(word, `"`))
	}
	return words, phrase
}

// minID is the minimum number of characters of an id to match.
const minID = 4

// holds reports whether the title or message of a review contains words, or its id, its commit or a part of its
// revision begins with words.
func holds(r record.ReviewSummary, words string) bool {
	if strings.Contains(strings.ToLower(r.Title+"\n"+r.Message), words) {
		return true
	}
	_, letters, _ := strings.Cut(r.ID, "-")
	named := strings.FieldsFunc(r.Spec, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	return slices.ContainsFunc(append(named, r.Spec, r.ID, letters, string(r.Commit)), func(name string) bool {
		name = strings.ToLower(name)
		return name == words || len(words) >= minID && strings.HasPrefix(name, words)
	})
}

// words parses the query. It consists of NAME:VALUE, of words and quoted phrases that title or message must contain,
// and of ids.
func (s search) words(me string) ([]func(record.ReviewSummary) bool, pick.Wish, error) {
	wish := pick.Wish{Verdict: s.Verdict, Branch: s.OnBranch}
	plain := map[string]*string{"reviewer": &wish.Reviewer, "claimed": &wish.ClaimedBy, "verdict": &wish.Verdict,
		"branch": &wish.Branch, "since": &wish.Since, "author": &wish.Author, "file": &wish.File}
	var tests []func(record.ReviewSummary) bool
	words, phrase := s.split()
	for i, word := range words {
		name, value, named := strings.Cut(word, ":")
		var test func(record.ReviewSummary) bool
		switch field := plain[name]; {
		case !named || phrase[i]:
			test = func(r record.ReviewSummary) bool { return holds(r, strings.ToLower(word)) }
		case field != nil:
			*field = value
			continue
		case name == "is":
			test = isState(value)
		case name == "severity":
			test = hasSeverity(value)
		case name == "by":
			if value == "me" {
				value = me
			}
			test = func(r record.ReviewSummary) bool {
				return strings.Contains(strings.ToLower(r.RequestedBy), strings.ToLower(value))
			}
		}
		if test == nil {
			return nil, wish,
				badRequest("cannot search for %q; type words, or is:failed severity:critical by:me file:PATH verdict:NAME "+
					"branch:NAME reviewer:NAME claimed:NAME author:NAME since:2d", word)
		}
		tests = append(tests, test)
	}
	return tests, wish, nil
}

func isState(value string) func(record.ReviewSummary) bool {
	outcome := record.Outcome(value)
	if slices.Contains([]record.Outcome{record.OutcomePassed, record.OutcomeFailed, record.OutcomePartial,
		record.OutcomeCommented, record.OutcomeNothing}, outcome) {
		return func(r record.ReviewSummary) bool { return r.Outcome == outcome }
	}
	if fits, err := record.StatusFilter(value); err == nil {
		return func(r record.ReviewSummary) bool { return fits(string(r.Status)) }
	}
	return nil
}

func hasSeverity(value string) func(record.ReviewSummary) bool {
	count := map[string]func(record.ReviewSummary) int{
		"critical": func(r record.ReviewSummary) int { return r.Critical },
		"warning":  func(r record.ReviewSummary) int { return r.Warnings },
		"note":     func(r record.ReviewSummary) int { return r.Notes },
	}[value]
	if count == nil {
		return nil
	}
	return func(r record.ReviewSummary) bool { return count(r) > 0 }
}

// maxBulk is how many reviews one form may change.
const maxBulk = aPage

// postBulk does the same to all selected reviews. Those that do not allow it are reported and do not stop the others.
func (p *pages) postBulk(w http.ResponseWriter, r *http.Request) error {
	ids, do := r.PostForm["id"], r.PostForm.Get("do")
	if len(ids) == 0 || len(ids) > maxBulk {
		return badRequest("tick 1 to %d reviews; there are %d", maxBulk, len(ids))
	}
	hold := record.Hold{Actor: p.Actor, Lease: p.Lease}
	var failed []string
	for _, id := range ids {
		var err error
		switch do {
		case "claim":
			_, _, err = p.Claim(r.Context(), id, hold)
		case "resolve":
			_, err = p.Resolve(r.Context(), id, hold, "")
		case "cancel":
			_, err = p.Store.CancelReview(r.Context(), id, p.Actor, "")
		default:
			return badRequest("unknown action %q", do)
		}
		if err != nil {
			failed = append(failed, err.Error())
		}
	}
	if len(failed) > 0 {
		return &requestError{status: http.StatusConflict,
			message: strconv.Itoa(len(ids)-len(failed)) + " of " + strconv.Itoa(len(ids)) + " done. " +
				strings.Join(failed, "; ")}
	}
	http.Redirect(w, r, "/review", http.StatusSeeOther)
	return nil
}
