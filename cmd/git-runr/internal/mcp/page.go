package mcp

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/shown"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/comment"
	"github.com/git-runr/git-runr/loop/locate"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// gotten is the document of review_get: the facts of a review, and the content of this page.
type gotten struct {
	ID          string              `json:"review_id"`
	Status      record.ReviewStatus `json:"status"`
	Outcome     record.Outcome      `json:"outcome,omitempty"`
	Verdict     reply.Verdict       `json:"verdict,omitempty"`
	Looked      record.Looked       `json:"looked,omitempty"`
	AppliesTo   string              `json:"applies_to"`
	RequestedBy string              `json:"requested_by"`
	CreatedAt   time.Time           `json:"created_at"`
	Message     string              `json:"message,omitempty"` // the message of the request
	WaitingFor  []string            `json:"waiting_for"`
	ClaimedBy   string              `json:"claimed_by,omitempty"`
	ResolvedBy  string              `json:"resolved_by,omitempty"`
	Submissions []said              `json:"submissions"` // on this page
	Findings    []found             `json:"findings"`    // on this page
	Round       int                 `json:"round,omitempty"`
	Since       *store.Since        `json:"since_previous,omitempty"` // what the author changed since the round before
	Settled     int                 `json:"settled_before,omitempty"` // settled findings of earlier rounds
	Total       int                 `json:"total"`                    // findings, on all pages
	Open        int                 `json:"open_findings"`            // of them, without an answer
	More        string              `json:"more,omitempty"`
	Next        string              `json:"next_cursor,omitempty"`
	Done        *bool               `json:"done,omitempty"` // of review_wait: it waits for nobody, not even a person
}

// said is the overall statement of one reviewer, or of several together.
type said struct {
	Reviewer string    `json:"reviewer,omitempty"` // "" for several
	Verdict  string    `json:"verdict,omitempty"`
	At       time.Time `json:"at,omitzero"`
	Text     string    `json:"text"` // Markdown
}

// found is a finding, or a comment of a person.
type found struct {
	ID       string         `json:"id"`
	Severity reply.Severity `json:"severity"`
	File     string         `json:"file,omitempty"`
	Line     int            `json:"line,omitempty"`
	EndLine  int            `json:"end_line,omitempty"`
	Side     record.Side    `json:"side,omitempty"`
	Quoted   string         `json:"selected_text,omitempty"`
	Issue    string         `json:"issue"`
	Fix      string         `json:"fix,omitempty"`
	SaidBy   []string       `json:"said_by"`
	Now      string         `json:"now,omitempty"`    // where its lines are in the newest version, when they moved
	Answer   string         `json:"answer,omitempty"` // what became of it: a line of each who answered
	Round    int            `json:"round,omitempty"`  // the earlier round that it is from
	Replies  []string       `json:"replies,omitempty"`
}

// entry is a part of a review that pages consist of: a reviewer's overall statement, or a finding. Its text may be cut
// and continue on the next page.
type entry struct {
	key     string // "s1", "s2", … or the id of a finding
	text    string // safe to show
	said    said
	finding *record.Joined
	comment *record.Comment // the finding, if a person made it
	open    bool            // nobody has answered it
	skip    bool            // not requested
	extra   string          // lines below the finding
	doc     found
}

// maxQuoted is how much of the lines under a comment is quoted with it, in characters.
const maxQuoted = 2000

// entries returns the parts of a review in order.
func (c call) entries(ctx context.Context, r record.Review) ([]entry, error) {
	comments := map[string]record.Comment{}
	all := r.Comments()
	for _, comment := range all {
		comments[comment.ID] = comment
	}
	now, err := shown.WhereNow(ctx, c.Store, r, all)
	if err != nil {
		return nil, err
	}
	var entries []entry
	for i, sub := range r.Submissions {
		entries = append(entries, entry{key: "s" + strconv.Itoa(i+1), text: textOf("submission", sub),
			said: said{Reviewer: line(sub.Reviewer, 200), Verdict: verdictOf(sub), At: sub.At}})
	}
	if text := textOf("together", r); text != "" {
		entries = append(entries, entry{key: "together", text: text})
	}
	for i, p := range r.RepliesTo("") {
		entries = append(entries, entry{key: "r" + strconv.Itoa(i+1), text: replied(p) + "\n",
			said: said{Reviewer: line(p.Actor, 200), At: p.At}})
	}
	for _, f := range r.Joined() {
		e := entry{key: f.ID, finding: &f, doc: found{
			ID: f.ID, Severity: f.Severity, File: fileName(f.File), Line: f.Line, EndLine: f.EndLine,
			Fix:    clip(safetext.Text(f.Fix), maxString),
			SaidBy: lines(f.SaidBy),
		}}
		if comment, ok := comments[f.ID]; ok {
			comment.SelectedText = clip(safetext.Text(comment.SelectedText), maxQuoted)
			e.comment, e.text, e.doc.Side, e.doc.Quoted = &comment, safetext.Text(comment.Comment), comment.Side,
				comment.SelectedText
		} else {
			e.text = safetext.Text(f.Issue)
		}
		e.open, e.extra = r.IsOpen(f.Finding), textOf("sayers", f)
		e.thread(shown.Later(now[f.ID]), r.LastAnswers(f.ID), r.RepliesTo(f.ID))
		entries = append(entries, e)
	}
	return entries, nil
}

// thread adds where the lines of a finding are now, the newest answer of each who answered, and the replies.
func (e *entry) thread(now string, answers []record.Answer, replies []record.Reply) {
	if e.doc.Now = line(now, 500); now != "" {
		e.extra += "  " + e.doc.Now + "\n"
	}
	if len(answers) > 0 {
		said := each.Of(answers, answered)
		e.doc.Answer = strings.Join(said, "\n")
		e.extra += "  " + strings.Join(said, "\n  ") + "\n"
	}
	for _, p := range replies {
		e.doc.Replies = append(e.doc.Replies, replied(p))
		e.extra += "  " + replied(p) + "\n"
	}
}

// carried returns what is carried into a review from earlier rounds and what they left unsettled, and fills in what doc
// and facts say of the rounds.
func (c call) carried(ctx context.Context, r record.Review, doc *gotten, facts *string) (entries []entry, err error) {
	earlier, err := shown.EarlierThan(ctx, c.Store, r)
	if err != nil || earlier.Before == 0 {
		return nil, err
	}
	doc.Round, doc.Since = earlier.Before+1, earlier.Since
	*facts += fmt.Sprintf("round: %d, after review %s\n", doc.Round, earlier.Rounds[earlier.Before-1].ID)
	if doc.Since != nil {
		*facts += fmt.Sprintf("since then %s\n", doc.Since)
	}
	for _, m := range earlier.Carried {
		what := "answer it here"
		if !m.Open {
			what = "answered; who reported it has not agreed"
		}
		entries = append(entries, fromRound(m, what, m.Open))
	}
	for _, m := range earlier.Left {
		entries = append(entries, fromRound(m, "answered, but not settled", false))
	}
	if doc.Settled = earlier.Settled; doc.Settled > 0 {
		*facts += fmt.Sprintf("%s closed in earlier rounds\n", prose.Count(doc.Settled, "finding"))
	}
	return entries, nil
}

// fromRound returns the entry of a remark of an earlier round. what says how far it has been dealt with.
func fromRound(m *shown.Remark, what string, open bool) entry {
	e := entry{key: m.ID, text: safetext.Text(m.Text), open: open, doc: found{
		ID: m.ID, Severity: m.Severity, File: fileName(m.File), Line: m.Start, EndLine: m.End,
		SaidBy: lines([]string{m.Author}), Round: m.Round,
	}}
	e.extra = fmt.Sprintf("  from round %d, by %s; %s\n", m.Round, line(m.Author, 200), what)
	e.finding = &record.Joined{Finding: reply.Finding{ID: m.ID, Severity: m.Severity, File: m.File, Line: m.Start,
		EndLine: m.End, Issue: m.Text}}
	e.thread(shown.Later(&locate.Placed{Outdated: m.Outdated, Why: m.Why}), record.LastOfEach(m.Answers), m.Replies)
	return e
}

// byID is the finding as one of the list of ids. A comment is printed in full above, so only its beginning is repeated.
func (e entry) byID() string {
	f, issue := e.finding.Finding, line(e.text, maxText)
	if e.comment != nil {
		issue = line(f.Issue, 100)
	}
	text := fmt.Sprintf("- [%s] %s, %s: %s\n", f.ID, f.Severity, safetext.Line(cmp.Or(f.Place(), "general")), issue)
	if f.Fix != "" {
		text += fmt.Sprintf("  fix: %s\n", line(f.Fix, maxString))
	}
	return text + e.extra
}

// size returns how many tokens the entry needs on a page, as text and in the document.
func (e entry) size() int {
	if e.finding == nil {
		e.said.Text = e.text
		return tokens(e.text) + jsonSize(e.said) + 2
	}
	e.doc.Issue = e.text
	n := tokens(e.byID()) + tokens(e.key) + 2 + jsonSize(e.doc) + 2
	if e.comment != nil {
		n += tokens(strings.Join(comment.Blocks([]record.Comment{e.shown()}), "\n\n")) + 2
	}
	return n
}

// shown returns the comment with the part of its text that is on the page.
func (e entry) shown() record.Comment {
	comment := *e.comment
	comment.Comment = e.text
	return comment
}

// pageOf returns the entries from cursor on that fit into room tokens, at most limit findings (0: any number), and the
// cursor of the next page, "" at the end. It cuts a text that does not fit, unless the text fits on the next page.
func pageOf(entries []entry, cursor string, limit, room int) (page []entry, next string, err error) {
	at, from, err := findCursor(entries, cursor)
	if err != nil {
		return nil, "", err
	}
	whole, findings := room, 0
	for _, e := range entries[at:] {
		if e.skip {
			from = 0
			continue
		}
		if e.finding != nil && findings == limit && limit > 0 {
			return page, e.key, nil
		}
		e.text = e.text[from:]
		size := e.size()
		if size > room && (len(page) > 0 || len(e.text) > leastPart) {
			part := ""
			if len(page) == 0 || size > whole/2 {
				part = fitting(e, room)
			}
			if part == "" {
				return page, cursorAt(e.key, from), nil
			}
			next = cursorAt(e.key, from+len(part))
			e.text = part + fmt.Sprintf(cutMark, len(e.text)-len(part))
			return append(page, e), next, nil
		}
		room -= size
		page, from = append(page, e), 0
		if e.finding != nil {
			findings++
		}
	}
	return page, "", nil
}

// cutMark marks where a text continues on the next page.
const cutMark = "[…] [%d bytes more of it on the next page]"

// leastPart is the shortest beginning of a text that is worth showing, in bytes.
const leastPart = 1000

// fitting returns the beginning of an entry's text that fits into room tokens, or "" if that is too little.
func fitting(e entry, room int) string {
	text := e.text
	part := longest(text, func(part string) bool {
		e.text = part + fmt.Sprintf(cutMark, len(text))
		return len(part) < leastPart || e.size() <= room
	})
	if len(part) < leastPart {
		return ""
	}
	return part
}

// cursorAt returns the cursor of an entry, from a byte of its text on.
func cursorAt(key string, from int) string {
	if from == 0 {
		return key
	}
	return key + "@" + strconv.Itoa(from)
}

// findCursor returns the entry and the byte of its text that a cursor points to.
func findCursor(entries []entry, cursor string) (at, from int, err error) {
	if cursor == "" {
		return 0, 0, nil
	}
	key, offset, cut := strings.Cut(cursor, "@")
	at = slices.IndexFunc(entries, func(e entry) bool { return e.key == key })
	if cut {
		from, err = strconv.Atoi(offset)
	}
	if at < 0 || err != nil || from < 0 || from > len(entries[at].text) {
		return 0, 0, refusef("Error: %s is not a cursor of this review: leave it out to start again.", line(cursor, 100))
	}
	return at, from, nil
}

// maxFacts is the most tokens of the facts about the request.
const maxFacts = 2500

// aroundPage is how many tokens surround the entries of a page, in text and document.
const aroundPage = 600

func (s *Server) get(ctx context.Context, c call, review record.Review, in getArgs) (outcome, error) {
	review, err := c.Store.Carrying(ctx, review)
	if err != nil {
		return outcome{}, err
	}
	doc, text, err := s.page(ctx, c, review, in)
	return outcome{text: text, doc: doc}, err
}

// page returns a page of a review as document and as text.
func (s *Server) page(ctx context.Context, c call, review record.Review,
	in getArgs) (doc gotten, text string, err error) {
	entries, err := c.entries(ctx, review)
	if err != nil {
		return doc, "", err
	}
	doc, facts := c.facts(review, in.Cursor == "")
	carried, err := c.carried(ctx, review, &doc, &facts)
	if err != nil {
		return doc, "", err
	}
	entries = append(entries, carried...)
	for i := range entries {
		entries[i].skip = in.Unanswered && !entries[i].open
	}
	page, next, err := pageOf(entries, in.Cursor, in.Limit, maxAnswer-aroundPage-tokens(facts)-jsonSize(doc))
	if err != nil {
		return doc, "", err
	}
	if doc.Next = next; next != "" {
		doc.More = moreOf(entries, review.ID, next, in)
	}
	var open []string // unanswered findings
	for _, e := range page {
		if e.open {
			open = append(open, e.key)
		}
		if e.finding == nil {
			e.said.Text = e.text
			doc.Submissions = append(doc.Submissions, e.said)
			continue
		}
		e.doc.Issue = e.text
		doc.Findings = append(doc.Findings, e.doc)
	}
	text = pageText(facts, page)
	if len(open) > 0 && review.Status != record.ReviewResolved && !s.ReadOnly {
		text += fmt.Sprintf(
			"\nTo answer, all in one review_answer (fixed with the commit, refuted with the reason, or deferred): %s\n",
			strings.Join(open, ", "))
	}
	if doc.More != "" {
		text += "\n" + doc.More
	}
	return doc, strings.TrimRight(text, "\n"), nil
}

// facts returns the facts of a review that every page has, as document and as text; the first page also has all about
// the request.
func (c call) facts(r record.Review, first bool) (doc gotten, text string) {
	doc = gotten{
		ID: r.ID, Status: r.Status, Outcome: r.Outcome(), Verdict: r.Verdict(), Looked: r.Looked(),
		AppliesTo: appliesTo(r.Request.Subject), RequestedBy: line(r.RequestedBy, 200),
		CreatedAt: r.CreatedAt, WaitingFor: []string{}, Submissions: []said{}, Findings: []found{}, Total: len(r.Joined()),
		Open: len(r.Unanswered()),
	}
	if r.ClosedAt.IsZero() {
		doc.WaitingFor = lines(r.Waiting())
	}
	if r.Claim != nil && r.Status == record.ReviewClaimed {
		doc.ClaimedBy = line(r.Claim.By, 200)
	}
	doc.ResolvedBy = line(r.ResolvedBy, 200)
	if !first {
		return doc, fmt.Sprintf("# Review %s, continued\n", r.ID)
	}
	doc.Message = clip(safetext.Text(r.Request.Message), maxString)
	return doc, bounded(textOf("facts", struct {
		record.Review
		Me  string
		Now time.Time
	}{r, c.actor, c.Store.Now()}), maxFacts)
}

// lines makes foreign names safe, each on one line; the result is not nil.
func lines(names []string) []string {
	return each.Of(names, func(name string) string { return line(name, 200) })
}

// pageText returns a page as text: overall statements, the comments of people in the form that agents know, then every
// finding with its id.
func pageText(facts string, page []entry) string {
	var words, ids strings.Builder
	var comments []record.Comment
	for _, e := range page {
		if e.finding == nil {
			words.WriteString(e.text)
			continue
		}
		if e.comment != nil {
			comments = append(comments, e.shown())
		}
		ids.WriteString(e.byID())
	}
	if len(comments) > 0 {
		words.WriteString("\n" + record.FormatReviewMessage(comments) + "\n")
	}
	if ids.Len() > 0 {
		words.WriteString("\n## By id\n\n" + ids.String())
	}
	if words.Len() == 0 {
		return facts
	}
	return facts + "\n" + safetext.Fence(words.String())
}

// moreOf says what remains from the cursor next on, and how to get it.
func moreOf(entries []entry, id, next string, in getArgs) string {
	at, _, _ := findCursor(entries, next)
	left := 0
	for _, e := range entries[at:] {
		if e.finding != nil && !e.skip {
			left++
		}
	}
	in.ID, in.Cursor = id, next
	what := prose.Count(left, "finding")
	if left == 0 {
		what = "more of what was said"
	}
	return fmt.Sprintf("[%s left. To read on: review_get %s]", what, jsonOf(in))
}

//go:embed review.tmpl
var reviewTexts string

// texts parses the texts on first use.
var texts = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"line": func(text any) string { return line(fmt.Sprint(text), maxString) }, "quote": safetext.Quote,
		"iso": isoTime, "join": strings.Join, "count": prose.Count, "add": func(a, b int) int { return a + b },
		"appliesTo": appliesTo, "audience": render.Audience, "same": record.SameActor, "result": resultOf,
	}).Parse(reviewTexts))
})

// textOf returns one of the texts of review.tmpl.
func textOf(name string, about any) string {
	var b strings.Builder
	if err := texts().ExecuteTemplate(&b, name, about); err != nil {
		panic(fmt.Sprintf("mcp: text of a review: %v", err)) // a fault of this package
	}
	return b.String()
}

// resultOf returns the result of one reviewer.
func resultOf(sub record.Submission) string {
	switch {
	case sub.Outcome == record.OutcomeNothing:
	case sub.Report.Effective == reply.Checked:
		return record.Says(line(sub.Reviewer, 200), string(reply.Checked), len(sub.Report.Findings))
	case sub.Decision == "" && len(sub.Checks) > 0:
		return fmt.Sprintf("by %s: %s", line(sub.Reviewer, 200), line(sub.Said(), 500))
	}
	return fmt.Sprintf("%s by %s", verdictOf(sub), line(sub.Of(sub.Reviewer), 400))
}

func verdictOf(sub record.Submission) string {
	if sub.Outcome == record.OutcomeNothing {
		return "nothing to review"
	}
	return cmp.Or(string(sub.Decision), sub.Report.Says())
}

// answered describes in one line how a finding was answered.
func answered(a record.Answer) string {
	text := "answered: " + a.What()
	if a.Reason != "" {
		text += ", " + line(a.Reason, 500)
	}
	return text + "; by " + line(a.Of(a.Actor), 400)
}

// replied describes a reply in a thread in one line.
func replied(p record.Reply) string {
	return fmt.Sprintf("reply by %s at %s: %s", line(p.Of(p.Actor), 400), isoTime(p.At), line(p.Text, maxString))
}
