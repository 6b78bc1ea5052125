package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
		var b strings.Builder
		writeSubmission(&b, sub)
		entries = append(entries, entry{key: "s" + strconv.Itoa(i+1), text: b.String(),
			said: said{Reviewer: line(sub.Reviewer, 200), Verdict: verdictOf(sub), At: sub.At}})
	}
	if text := together(r); text != "" {
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
		var extra strings.Builder
		writeSayers(&extra, f)
		e.open, e.extra = r.IsOpen(f.Finding), extra.String()
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
		*facts += fmt.Sprintf("%s settled in earlier rounds\n", prose.Count(doc.Settled, "finding"))
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

// byID is the finding as one of the list of ids.
func (e entry) byID() string {
	var b strings.Builder
	f := e.finding.Finding
	if e.comment == nil {
		f.Issue = e.text
	}
	writeFinding(&b, f)
	return b.String() + e.extra
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
	var b strings.Builder
	if len(r.Submissions) == 0 {
		fmt.Fprintf(&b, "Review %s has no submitted comments (status: %s).\n", r.ID, r.Status)
	} else {
		fmt.Fprintf(&b, "# Review %s\n", r.ID)
	}
	c.writeFacts(&b, r)
	return doc, bounded(b.String(), maxFacts)
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

// when writes as fmt.Fprintf does, if a condition holds.
func when(b *strings.Builder, holds bool, format string, args ...any) {
	if holds {
		fmt.Fprintf(b, format, args...)
	}
}

// writeFacts writes what was requested, and the state of the review.
func (c call) writeFacts(b *strings.Builder, r record.Review) {
	fmt.Fprintf(b, "\nstatus: %s\n", r.Status)
	when(b, r.Outcome() != "", "outcome: %s\n", r.Outcome())
	fmt.Fprintf(b, "applies to: %s\n", appliesTo(r.Request.Subject))
	if paths := r.Request.Subject.Paths; len(paths) > 0 {
		fmt.Fprintf(b, "files: %s\n", line(strings.Join(paths, ", "), maxString))
	}
	fmt.Fprintf(b, "asked for by: %s at %s\n", line(r.RequestedBy, 200), isoTime(r.CreatedAt))
	for _, h := range r.Handovers {
		fmt.Fprintf(b, "%s at %s\n", line(h.Words(), 500), isoTime(h.At))
	}
	for _, where := range r.Whereabouts() {
		fmt.Fprintf(b, "the code: %s\n", line(where, 500))
	}
	when(b, r.Audience != "", "%s\n", line(render.Audience(r.Audience), 200))
	when(b, r.Request.Follows != "", "follows: review %s, of the code as it was before\n", line(r.Request.Follows, 200))
	when(b, r.Request.Kind != "", "only this kind of fault was looked for: %s\n", line(r.Request.Kind, 200))
	if s := r.Summary(); len(s.Waiting) > 0 && r.ClosedAt.IsZero() {
		if words := s.ApprovedWords(); words != "" {
			fmt.Fprintln(b, words)
		}
		fmt.Fprintf(b, "waiting for: %s\n", line(strings.Join(s.WaitsFor(), ", "), 500))
	}
	for _, f := range r.Failures {
		fmt.Fprintf(b, "reviewer %s could not be run: %s\n", line(f.Reviewer, 200), line(f.Reason+" "+f.Detail, 500))
		if r.ClosedAt.IsZero() {
			next := f.Next()
			fmt.Fprintf(b, "%s the user can type %s\n", next.What, strings.Join(next.Commands, ", then "))
		}
	}
	c.writeClaim(b, r)
	when(b, r.ResolvedBy != "", "resolved by: %s\n", line(r.ResolvedBy, 200))
	when(b, r.Note != "", "note: %s\n", line(r.Note, maxString))
	if run := r.Request.Run; run != "" {
		fmt.Fprintf(b, "round %d of run %s, which goes on from the verdict: git runr resume %s\n", r.Request.Round, run, run)
	}
	for _, m := range r.Request.Subject.Messages {
		fmt.Fprintf(b, "message of commit %s:\n%s\n", m.Commit.Short(), safetext.Quote(m.Text))
	}
	when(b, r.Request.Subject.MoreCommits > 0, "and %s\n", prose.Count(r.Request.Subject.MoreCommits, "older commit"))
	when(b, r.Request.Message != "", "message of the request:\n%s\n", safetext.Quote(r.Request.Message))
}

func (c call) writeClaim(b *strings.Builder, r record.Review) {
	if r.Claim == nil || r.Status != record.ReviewClaimed {
		return
	}
	fmt.Fprintf(b, "claimed by: %s", line(r.Claim.By, 200))
	switch {
	case record.SameActor(r.Claim.By, c.actor):
		b.WriteString(" (you)")
	case r.Claim.Lapsed(c.Store.Now()):
		b.WriteString(" (lapsed: you may claim it)")
	}
	b.WriteString("\n")
}

// together summarises the opinions of several reviewers, and the judge's counts if there are any.
func together(r record.Review) string {
	var b strings.Builder
	if opinions := r.Opinions(); len(opinions) > 1 {
		fmt.Fprintf(&b, "together: %s, with a quorum of %d of %d who answered; they disagree: %t\n", r.Verdict(), r.Quorum(),
			len(opinions), r.Disagree())
		for _, j := range r.Requests() {
			fmt.Fprintf(&b, "also requested by %s: %s\n", line(strings.Join(j.SaidBy, ", "), 200), line(j.Text, 500))
		}
	}
	for _, j := range r.Judgements {
		fmt.Fprintf(&b, "judged by %s: %s\n", line(j.By, 200), j.Count())
	}
	return b.String()
}

// writeSubmission writes the result of one reviewer.
func writeSubmission(b *strings.Builder, sub record.Submission) {
	said := fmt.Sprintf("%s by %s", verdictOf(sub), line(sub.Of(sub.Reviewer), 400))
	if sub.Decision == "" && sub.Outcome != record.OutcomeNothing && len(sub.Checks) > 0 {
		said = fmt.Sprintf("by %s: %s", line(sub.Reviewer, 200), line(sub.Said(), 500))
	}
	if sub.Report.Effective == reply.Checked && sub.Outcome != record.OutcomeNothing {
		said = record.Says(line(sub.Reviewer, 200), string(reply.Checked), len(sub.Report.Findings))
	}
	fmt.Fprintf(b, "%s at %s, %s\n", said, isoTime(sub.At),
		prose.Count(len(sub.Comments)+len(sub.Report.Findings), "comment"))
	when(b, sub.Census.Left() != "", "not shown to the reviewer: %s\n", line(sub.Census.Left(), maxString))
	for _, said := range []string{sub.Report.Summary, sub.Report.Prose()} {
		if said = safetext.Quote(said); said != "" {
			b.WriteString(said + "\n\n")
		}
	}
	for _, check := range sub.Checks {
		if !check.OK() {
			did := ""
			if check.NotRun == "" {
				did = " did not pass"
			}
			fmt.Fprintf(b, "check %s%s: %s: %s\n", line(check.Name, 200), did, line(check.Command, 500),
				line(check.Why(), 500))
			log := check.LogCommand(sub.Event)
			when(b, log != "", "  whole output: %s\n", log)
		}
	}
	for _, why := range sub.SkippedBy {
		fmt.Fprintf(b, "checks not run: %s\n", line(why, 500))
	}
}

func verdictOf(sub record.Submission) string {
	if sub.Outcome == record.OutcomeNothing {
		return "nothing to review"
	}
	return cmp.Or(string(sub.Decision), sub.Report.Says())
}

// writeFinding writes one finding with its id. A comment is printed in full above, so only its beginning is repeated.
func writeFinding(b *strings.Builder, f reply.Finding) {
	most := maxText
	if strings.HasPrefix(f.ID, "c-") {
		most = 100
	}
	fmt.Fprintf(b, "- [%s] %s, %s: %s\n", f.ID, f.Severity, safetext.Line(cmp.Or(f.Place(), "general")),
		line(f.Issue, most))
	when(b, f.Fix != "", "  fix: %s\n", line(f.Fix, maxString))
}

// writeSayers writes which reviewers made a finding, and the judge's remark on it.
func writeSayers(b *strings.Builder, j record.Joined) {
	when(b, len(j.SaidBy) > 1, "  reported by: %s\n", line(strings.Join(j.SaidBy, ", "), 500))
	when(b, len(j.Similar) > 0, "  similar: %s\n", line(strings.Join(j.Similar, ", "), 500))
	if j.Disputed {
		b.WriteString("  disputed: fewer than the quorum reported it\n")
	}
	if j.Judged != nil && j.Judged.Kind == record.Confirmed {
		fmt.Fprintf(b, "  confirmed by the judge: %s\n", line(j.Judged.Reason, 500))
	}
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
