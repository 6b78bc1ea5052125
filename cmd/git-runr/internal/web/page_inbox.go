package web

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/pick"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// aPage is how many reviews or runs one page lists.
const aPage = 50

// inboxView is the list of reviews.
type inboxView struct {
	page
	Status     string
	Tabs       []tab
	Reviews    []record.ReviewSummary
	Total      int
	From, To   int // positions of the shown ones, from 1
	Prev, Next string
	Passed     []record.ReviewSummary // shown reviews that passed and wait for nobody in particular
	EmptyAtAll bool                   // there is no review of any status
	NotHere    string                 // why reviews may not be in this clone
	search
}

// inboxLine is a review in the list with the page that its times need.
type inboxLine struct {
	record.ReviewSummary
	Page page
}

// Wanted returns the first line of the request's message.
func (l inboxLine) Wanted() string { return firstLine(l.Message) }

// tab is one status of the inbox.
type tab struct {
	Name, Label, URL string
	Count            int
	Current          bool
}

// inboxTabs lists the statuses in the order of the work.
var inboxTabs = []struct{ name, label string }{
	{record.StatusWaiting, "Inbox"}, {"open", "Open"}, {"submitted", "Submitted"}, {"claimed", "Claimed"},
	{"resolved", "Resolved"}, {"cancelled", "Cancelled"}, {"all", "All"},
}

func (p *pages) inbox(w http.ResponseWriter, r *http.Request) error {
	v := inboxView{page: p.page(r, "Inbox", "inbox"), Status: cmp.Or(r.FormValue("status"), record.StatusWaiting)}
	v.Watched = "*"
	fits, err := record.StatusFilter(v.Status)
	if err != nil {
		return badRequest("%v", err)
	}
	if v.search, err = newSearch(r, p.Store); err != nil {
		return err
	}
	var wanted func(record.ReviewSummary) bool
	if wanted, err = v.search.test(r.Context(), p.Store, p.Actor); err != nil {
		return err
	}
	number := pageNumber(r)
	since, err := loop.ClosedSince(p.Store)
	if err != nil {
		return err
	}
	counts := map[string]int{}
	reviews, total, err := p.Store.Reviews(r.Context(),
		store.Filter{Skip: (number - 1) * aPage, Limit: aPage, Status: fits, ClosedSince: since, Counts: counts,
			Review: wanted, Carried: true})
	if err != nil {
		return err
	}
	v.Total, v.EmptyAtAll = total, len(counts) == 0 && !v.Narrows()
	ids := make([]string, len(reviews))
	for i, review := range reviews {
		ids[i] = review.ID
		if review.Outcome == record.OutcomePassed && v.Status == record.StatusWaiting && !v.Narrows() {
			v.Passed = append(v.Passed, review)
		} else {
			v.Reviews = append(v.Reviews, review)
		}
	}
	v.From, v.To = shownOf(len(reviews), number)
	v.Prev, v.Next = neighbours("/review", v.Status, v.values(), number, total)
	for _, t := range inboxTabs {
		fits, _ := record.StatusFilter(t.name) // cannot fail: the names are our own
		shown := tab{Name: t.name, Label: t.label, URL: listURL("/review", t.name, v.values(), 1),
			Current: t.name == v.Status}
		for status, n := range counts {
			if fits(status) {
				shown.Count += n
			}
		}
		v.Tabs = append(v.Tabs, shown)
	}
	if len(counts) == 0 {
		v.NotHere = p.NotHere(r.Context())
	}
	v.short = p.Store.ShortIDs(ids)
	return p.show(w, http.StatusOK, "inbox.html", v)
}

// pageNumber returns the requested page, from 1.
func pageNumber(r *http.Request) int {
	n, err := strconv.Atoi(r.FormValue("page"))
	if err != nil {
		return 1
	}
	return min(max(n, 1), 1_000_000)
}

// shownOf returns the positions of the first and last item on a page with n items.
func shownOf(n, number int) (from, to int) {
	if n == 0 {
		return 0, 0
	}
	return (number-1)*aPage + 1, (number-1)*aPage + n
}

// neighbours returns the addresses of the previous and next page, or "".
func neighbours(path, status string, q url.Values, number, total int) (prev, next string) {
	if number > 1 {
		prev = listURL(path, status, q, number-1)
	}
	if number*aPage < total {
		next = listURL(path, status, q, number+1)
	}
	return prev, next
}

// listURL returns the address of a page of a list that is filtered by q.
func listURL(path, status string, q url.Values, number int) string {
	q = maps.Clone(q)
	if status != "" && status != record.StatusWaiting {
		q.Set("status", status)
	}
	if number > 1 {
		q.Set("page", strconv.Itoa(number))
	}
	return (&url.URL{Path: path, RawQuery: q.Encode()}).String()
}

// runsView is the list of runs.
type runsView struct {
	page
	Runs       []runLine
	Total      int
	From, To   int
	Prev, Next string
}

// runState is the state of a run in the words of the terminal.
type runState struct{ Word, Why string }

func stateOf(run record.RunSummary) runState {
	word, why := render.RunWords(run)
	return runState{word, why}
}

type runLine struct {
	record.RunSummary
	Live bool
}

func (p *pages) runs(w http.ResponseWriter, r *http.Request) error {
	v := runsView{page: p.page(r, "Runs", "runs")}
	v.Watched = "*"
	number := pageNumber(r)
	runs, total, err := p.Store.Runs(r.Context(), store.Filter{Skip: (number - 1) * aPage, Limit: aPage})
	if err != nil {
		return err
	}
	v.From, v.To = shownOf(len(runs), number)
	v.Total = total
	ids := make([]string, len(runs))
	for i, run := range runs {
		ids[i] = run.ID
		run.Status = workspace.Status(p.Store, run)
		v.Runs = append(v.Runs, runLine{run, run.Status == record.RunRunning && workspace.Live(p.Store, run.ID)})
	}
	v.Prev, v.Next = neighbours("/runs", "", url.Values{}, number, total)
	v.short = p.Store.ShortIDs(ids)
	return p.show(w, http.StatusOK, "runs.html", v)
}

// metricsDays is how far back the page of metrics looks.
const metricsDays = 30

func (p *pages) metrics(w http.ResponseWriter, r *http.Request) error {
	m, err := p.Measure(r.Context(), p.Now().AddDate(0, 0, -metricsDays))
	if err != nil {
		return err
	}
	return p.show(w, http.StatusOK, "metrics.html", struct {
		page
		Days int
		diagnose.Metrics
	}{p.page(r, "Metrics", "metrics"), metricsDays, m})
}

// percent returns the count of a row in percent of the highest of its group, for the width of a bar.
func percent(of diagnose.MetricGroup, row diagnose.MetricRow) int {
	most := 1
	for _, r := range of.Rows {
		most = max(most, r.Count)
	}
	return 100 * row.Count / most
}

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
