package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/shown"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/locate"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/store"
)

// reviewed is a review on the screen, with its diff and the reader's draft.
type reviewed struct {
	review  record.Review
	draft   store.Draft
	diff    diff
	read    change
	missing string // why there is no diff
	said    *shown.Review
	files   map[string]int                         // index of each file in the diff, from 1, by both of its names
	on      map[int]map[shown.Line][]*shown.Remark // by the index of the file, from 1, and the line above the remark
	typed   []typed                                // comments that are not in the draft yet
	ascii   bool
}

// change identifies a diff that was read: its new side, and the number of context lines.
type change struct {
	tree    gitstore.ID
	context int
}

func (m *model) reviewPage(id string) *page {
	v := &reviewed{ascii: m.ASCII, diff: diff{ascii: m.ASCII}}
	p := &page{title: "Review " + screen.Suffix(id)}
	p.load = func() loader {
		files, cut, missing, was, lines := v.diff.files, v.diff.cut, v.missing, v.read, v.diff.context
		return func(ctx context.Context) (func(), error) {
			review, err := m.Store.Review(ctx, id)
			if err == nil {
				review, err = m.Store.Carrying(ctx, review)
			}
			if err != nil {
				return nil, err
			}
			draft, err := m.Store.Draft(review, m.Actor)
			if err != nil {
				return nil, err
			}
			now := change{review.Request.Subject.Tree, lines}
			if was != now || missing != "" {
				subject, spec := review.Request.Subject, gitstore.DiffSpec{Context: lines}
				spec.To, spec.Paths, missing = subject.Tree, subject.Paths, ""
				if spec.From, err = m.Store.ComparedWith(ctx, subject); err == nil {
					files, cut, err = readDiff(ctx, m.Store, spec)
				}
				if object := new(gitstore.MissingError); errors.Is(err, gitstore.ErrNotFound) || errors.As(err, &object) {
					missing, err = "The change is not in this clone: git runr sync or git fetch brings it.", nil
				}
			}
			said := shown.New(review, draft)
			if said.Settle(ctx, m.Store) == nil { // remarks that cannot be moved stay at their original place
				_ = said.Locate(ctx, m.Store)
			}
			typed := m.unfinished(review.ID)
			return func() {
				v.typed, v.read, v.missing = typed, now, missing
				v.diff.put(files, cut)
				v.put(said)
				p.title = fmt.Sprintf("%s  %s  %s", screen.Suffix(id), v.state(), shown.Title(v.review))
				p.keys = v.keys()
			}, err
		}
	}
	p.build = v.rows
	return p
}

func (v *reviewed) put(said *shown.Review) {
	v.said, v.review, v.draft = said, said.Review, said.Draft
	for _, name := range v.draft.Viewed {
		if _, seen := v.diff.folded["viewed "+name]; !seen {
			v.diff.folded["viewed "+name], v.diff.folded[name] = true, true
		}
	}
	v.settle()
}

// state describes the result of the review, and who holds it.
func (v *reviewed) state() string {
	state := string(v.review.Status)
	switch verdict := v.review.Verdict(); {
	case v.review.Unreadable():
		state = "unreadable, " + state
	case verdict != "":
		state = string(verdict) + ", " + state
	}
	return state
}

// rows returns the review's head, the remarks on the whole, and the diff with the other remarks.
func (v *reviewed) rows(width int) []row {
	var b strings.Builder
	subject := v.review.Request.Subject
	rows := []row{{text: styled(bold, shown.Title(v.review)), id: "head"}}
	line := fmt.Sprintf("%s  %s  asked of %s", subject.Commit.Short(), v.state(),
		strings.Join(v.review.Request.Reviewers(), ", "))
	if c := v.review.Claim; c != nil && v.review.Status == record.ReviewClaimed {
		line += ", claimed by " + c.By + render.Until(c)
	}
	rows = append(rows, textRows(strings.TrimSpace(line), width)...)
	if audience := v.review.Audience; audience != "" {
		rows = append(rows, textRows(render.Audience(audience), width)...)
	}
	if message := v.review.Request.Message; message != "" {
		rows = append(rows, textRows(message, width)...)
	}
	for _, sub := range v.review.Submissions {
		fmt.Fprintf(&b, "%s: %s  %s\n", sub.Reviewer, cmp.Or(sub.Decided(), sub.Said()), sub.Report.Summary)
	}
	for _, f := range v.review.Failures {
		fmt.Fprintf(&b, "Not reviewed by %s: %s\n", f.Reviewer, f.Detail)
		for _, cmd := range f.Next().Commands {
			fmt.Fprintf(&b, "  %s\n", cmd)
		}
	}
	for _, r := range v.review.Requests() {
		fmt.Fprintf(&b, "asked for: %s\n", r.Text)
	}
	if b.Len() > 0 {
		rows = append(rows, textRows(b.String(), width)...)
	}
	for i, t := range v.typed {
		first, _, _ := strings.Cut(t.Text, "\n")
		rows = append(rows, row{text: styled(cyan, "Not finished: comment on "+cmp.Or(t.On.Place(), "the whole")+": "+first),
			id: fmt.Sprintf("typed %d", i), open: fmt.Sprintf("typed %d", i)})
	}
	rows = append(rows, v.overview(width)...)
	if v.missing != "" {
		rows = append(rows, textRows(v.missing, width)...)
	}
	rows = append(rows, row{})
	return append(rows, v.diff.rows(width, v)...)
}

// overview returns a line for each remark; remarks on the whole are shown in full.
func (v *reviewed) overview(width int) []row {
	said := v.said.Remarks
	if len(said) == 0 {
		return nil
	}
	count := fmt.Sprintf("%s, %d open", prose.Count(len(said), "remark"), v.said.Unsettled())
	rows := []row{{}, {text: styled(bold, count), id: "remarks"}}
	for _, r := range said {
		if _, here := v.index(r.File); !here {
			rows = append(rows, v.remarkRows(r, 0, width)...)
			continue
		}
		first, _, _ := strings.Cut(strings.TrimSpace(r.Text), "\n")
		colour, sign := look(r, v.ascii)
		text := styled(colour, sign+" "+r.Place()) + "  " + styled("", first)
		rows = append(rows, row{text: text, id: "to " + r.ID, open: "remark " + r.ID, about: r.ID, draft: r.Draft})
	}
	return rows
}

// index returns the index of a file in the diff, from 1, by its new name or its old one.
func (v *reviewed) index(name string) (int, bool) {
	at, here := v.files[name]
	return at, here
}

// settle attaches the remarks to the lines of the diff: each to its last line, or to the name of its file if the diff
// does not show that line.
func (v *reviewed) settle() {
	v.files = map[string]int{}
	for i, f := range v.diff.files {
		if f.Old != "" {
			v.files[f.Old] = i + 1
		}
	}
	for i, f := range v.diff.files {
		v.files[f.Path()] = i + 1
	}
	v.on = shown.ByFile(v.said.Remarks, v.index)
	for index, bound := range v.on {
		there := map[shown.Line]bool{}
		for _, h := range v.diff.files[index-1].Hunks {
			for _, l := range h.Lines {
				if l.Kind == '-' {
					there[shown.Line{Side: record.SideOld, Line: l.Old}] = true
				} else {
					there[shown.Line{Side: record.SideNew, Line: l.New}] = true
				}
			}
		}
		var file []*shown.Remark
		for _, line := range shown.Lines(bound) {
			if !there[line] {
				file = append(file, bound[line]...)
				delete(bound, line)
			}
		}
		bound[shown.Line{}] = file
	}
}

// look returns the colour and sign of a remark: those of its severity, as in the inbox, a pen for a draft, a tick if it
// is answered.
func look(r *shown.Remark, ascii bool) (colour, sign string) {
	signs := []string{"✓", "✎", "✗", "·", "!"}
	if ascii {
		signs = []string{"v", "*", "x", ".", "!"}
	}
	switch {
	case len(r.Answers) > 0:
		return faint, signs[0]
	case r.Draft:
		return cyan, signs[1]
	case r.Severity == reply.Critical:
		return red, signs[2]
	case r.Severity == reply.Note:
		return "", signs[3]
	}
	return yellow, signs[4]
}

// remarkRows shows a remark in full.
func (v *reviewed) remarkRows(r *shown.Remark, file, width int) []row {
	bar := "│ "
	if v.ascii {
		bar = "| "
	}
	colour, sign := look(r, v.ascii)
	head := fmt.Sprintf("%s %s", sign, cmp.Or(string(r.Severity), "comment"))
	switch {
	case r.Draft:
		head += " by your draft"
	case r.Author != "":
		head += " by " + r.Author
	}
	if file == 0 && r.Place() != "" {
		head += " on " + r.Place()
	}
	if r.Side == record.SideOld {
		head += " (old side)"
	}
	if later := shown.Later(r.Now); later != "" {
		head += "  (" + later + ")"
	}
	texts := append([]string{head}, wrapped(r.Text, width-3)...)
	if r.Fix != "" {
		texts = append(texts, wrapped("fix: "+r.Fix, width-3)...)
	}
	answer, answered := r.Last()
	if answered {
		texts = append(texts, wrapped("answered: "+answer.What()+" "+answer.Reason, width-3)...)
	}
	var rows []row
	for i, text := range texts {
		attributes := ""
		if i == 0 || answered {
			attributes = colour
		}
		rows = append(rows, row{
			text: styled(colour, bar) + styled(attributes, text), id: fmt.Sprintf("said %s %d", r.ID, i),
			file: file, about: r.ID, draft: r.Draft, head: i == 0,
		})
	}
	return rows
}

// beside implements remarks: it returns the note on a file's line.
func (v *reviewed) beside(index int) string {
	text, n := "", 0
	for _, said := range v.on[index] {
		n += len(said)
	}
	if n > 0 {
		text = "  " + prose.Count(n, "remark")
	}
	if v.draft.HasViewed(v.diff.files[index-1].Path()) {
		text += "  viewed"
	}
	return text
}

// at implements remarks.
func (v *reviewed) at(index int, side record.Side, line, width int) []row {
	var rows []row
	for _, r := range v.on[index][shown.Line{Side: side, Line: line}] {
		rows = append(rows, v.remarkRows(r, index, width)...)
	}
	return rows
}

// find returns the remark to which the current row belongs.
func (v *reviewed) find(p *page) (*shown.Remark, bool) {
	if len(p.rows) == 0 || p.rows[p.cur].about == "" {
		return nil, false
	}
	at := slices.IndexFunc(v.said.Remarks, func(r *shown.Remark) bool { return r.ID == p.rows[p.cur].about })
	if at < 0 {
		return nil, false
	}
	return v.said.Remarks[at], true
}

// keys returns the actions that the state of the review allows.
func (v *reviewed) keys() []key {
	id := v.review.ID
	status := v.review.Status
	isRemark := func(r row) bool { return r.about != "" && r.head }
	var keys []key
	if status == record.ReviewOpen || status == record.ReviewSubmitted || status == record.ReviewClaimed {
		keys = append(keys,
			key{"c", "c comment", "comment on the line, the range, the file or the whole", v.comment},
			key{"e", "", "edit your comment", v.editDraft},
			key{"delete", "", "drop your comment", v.dropDraft},
			key{"r", "r finish", "submit your comments and your verdict", func(m *model, _ *page) tea.Cmd {
				return v.finish(m)
			}},
			key{"v", "", "mark the file as viewed, or not", func(m *model, p *page) tea.Cmd { return v.viewed(m, p, false) }},
			key{"V", "", "mark it as viewed, go to the next", func(m *model, p *page) tea.Cmd { return v.viewed(m, p, true) }},
		)
	}
	if status == record.ReviewSubmitted || status == record.ReviewClaimed {
		keys = append(keys,
			key{"a", "a answer", "answer the finding", v.answer},
			key{"t", "t claim", "claim the review, so that nobody else does", act("inbox", "claim", id)},
			key{"f", "f fix", "let an agent fix the findings", choose("git runr run --review "+id,
				key{"y", "y start it", "", func(m *model, _ *page) tea.Cmd { return m.fix(id) }})},
			key{"R", "R resolve", "close the review", func(m *model, _ *page) tea.Cmd {
				return m.open(&field{prompt: "What was done? ", line: true, done: func(m *model, text string) tea.Cmd {
					return m.do(nil, "inbox", "resolve", id, "-m", text)
				}})
			}})
	}
	if status == record.ReviewClaimed {
		keys = append(keys, key{"T", "", "release your claim", act("inbox", "release", id)})
	}
	if status == record.ReviewOpen {
		keys = append(keys, key{"W", "", "withdraw the request", confirmed("y withdraw it", "inbox", "cancel", id)})
	}
	if !v.review.ClosedAt.IsZero() {
		keys = append(keys, key{"O", "O reopen", "undo the resolution", act("inbox", "reopen", id)})
	}
	keys = append(keys,
		key{"enter", "", "go to the place that the line names", v.enter},
		key{"n", "n remark", "next remark", jump(1, isRemark)},
		key{"p", "", "previous remark", jump(-1, isRemark)},
		key{"d", "d diagnosis", "why it does not pass, and what to type",
			shows("Diagnosis of "+screen.Suffix(id), "diagnose", id)},
		key{"l", "", "its log", shows("Log of "+screen.Suffix(id), "log", id)},
		key{"y", "y copy for agent", "copy the comment, or the whole review, for an agent", v.copy})
	return append(keys, diffKeys(&v.diff)...)
}

// enter goes from a line of the overview to the remark, opens a folded file, or edits a draft's comment.
func (v *reviewed) enter(m *model, p *page) tea.Cmd {
	r, ok := v.find(p)
	if i, isTyped := strings.CutPrefix(p.rows[p.cur].open, "typed "); isTyped {
		if at, err := strconv.Atoi(i); err == nil {
			return v.commentOn(m, p, *v.typed[at].On)
		}
	}
	switch {
	case ok && p.rows[p.cur].open != "":
		if at, here := v.index(r.File); here {
			v.diff.folded[v.diff.files[at-1].Path()] = false
			m.fill(p)
		}
		for i, line := range p.rows {
			if line.id == "said "+r.ID+" 0" {
				p.cur, p.top = i, max(0, i-m.body()/3)
			}
		}
		p.move(0, m.body())
	case ok && r.Draft:
		return v.editDraft(m, p)
	case ok:
		m.flash = "a answers it, y copies it"
	case p.rows[p.cur].cmd != "":
		return lineKeys()[0].do(m, p)
	default:
		if f := v.diff.file(p); f != nil && p.rows[p.cur].file > 0 {
			v.diff.fold(m, p, f.Path(), !v.diff.folded[f.Path()])
		}
	}
	return nil
}

// place returns the place of a new comment: the lines from the mark to the cursor, the file, or the whole.
func (v *reviewed) place(p *page) (record.Comment, error) {
	var c record.Comment
	at := p.rows[p.cur]
	if at.file == 0 {
		return c, nil
	}
	f := v.diff.files[at.file-1]
	from := p.cur
	if p.mark >= 0 {
		from = p.mark
	}
	other := p.rows[from]
	if other.file != at.file {
		return c, errors.New("a comment covers lines of one file only")
	}
	switch {
	case at.new > 0 && other.new > 0:
		c = record.Comment{File: f.Path(), Side: record.SideNew, StartLine: min(at.new, other.new),
			EndLine: max(at.new, other.new)}
	case at.old > 0 && other.old > 0:
		c = record.Comment{File: f.Old, Side: record.SideOld, StartLine: min(at.old, other.old),
			EndLine: max(at.old, other.old)}
	case at.about != "":
		r, ok := v.find(p)
		if !ok {
			return c, nil
		}
		c = record.Comment{File: r.File, Side: r.Side, StartLine: r.End, EndLine: r.End}
	case p.mark >= 0:
		return c, errors.New("a comment covers lines of one side only")
	default:
		c = record.Comment{File: f.Path(), Side: record.SideNew}
		if f.New == "" {
			c.Side = record.SideOld
		}
	}
	return c, nil
}

// comment asks for a comment and adds it to the draft, bound to its lines.
func (v *reviewed) comment(m *model, p *page) tea.Cmd {
	c, err := v.place(p)
	if err != nil {
		return m.fail(err)
	}
	return v.commentOn(m, p, c)
}

func (v *reviewed) commentOn(m *model, p *page, c record.Comment) tea.Cmd {
	on := cmp.Or(c.Place(), "the whole")
	keep := fmt.Sprintf("comment %s %s %s", v.review.ID, c.Side, on)
	subject := v.review.Request.Subject
	return m.open(&field{prompt: "Comment on " + on, keep: keep, on: &c, done: func(m *model, text string) tea.Cmd {
		p.mark = -1
		return m.draft(v.review.ID, keep, "Added to your draft: r submits it",
			func(ctx context.Context, d *store.Draft) error {
				if text == "" {
					return errors.New("the comment is empty")
				}
				said := c
				said.Comment = text
				placed, err := locate.AnchorComment(ctx, m.Store, subject, said)
				if err != nil {
					return err
				}
				d.Add(placed)
				return nil
			})
	}})
}

// draft changes the reader's draft of a review, and removes the unsubmitted text of keep, which the draft now contains.
func (m *model) draft(id, keep, done string, change func(context.Context, *store.Draft) error) tea.Cmd {
	p := m.page()
	return func() tea.Msg {
		m.acting.RLock()
		defer m.acting.RUnlock()
		_, err := m.Store.EditDraft(m.ctx, id, m.Actor, func(d *store.Draft) error { return change(m.ctx, d) })
		return step(func(m *model) tea.Cmd {
			if m.flash, m.bad = done, err != nil; err != nil {
				m.flash = err.Error()
			} else {
				m.handedIn(keep)
			}
			return m.reload(p)
		})
	}
}

// editDraft edits a comment of the draft.
func (v *reviewed) editDraft(m *model, p *page) tea.Cmd {
	r, ok := v.find(p)
	if !ok || !r.Draft {
		m.flash = "This is not a comment of your draft"
		return nil
	}
	keep := "edit " + v.review.ID + " " + r.ID
	return m.open(&field{prompt: "Your comment on " + cmp.Or(r.Place(), "the whole"), keep: keep, text: r.Text,
		done: func(m *model, text string) tea.Cmd {
			return m.draft(v.review.ID, keep, "Written anew", func(_ context.Context, d *store.Draft) error {
				return d.Set(r.ID, text)
			})
		}})
}

func (v *reviewed) dropDraft(m *model, p *page) tea.Cmd {
	r, ok := v.find(p)
	if !ok || !r.Draft {
		m.flash = "This is not a comment of your draft"
		return nil
	}
	m.ask = &question{"Drop your comment on " + cmp.Or(r.Place(), "the whole"),
		[]key{{"y", "y drop it", "", func(m *model, _ *page) tea.Cmd {
			return m.draft(v.review.ID, "", "Dropped", func(_ context.Context, d *store.Draft) error { return d.Remove(r.ID) })
		}}}}
	return nil
}

// viewed marks the file at the cursor as viewed, or not, and folds or opens it.
func (v *reviewed) viewed(m *model, p *page, next bool) tea.Cmd {
	f := v.diff.file(p)
	if f == nil {
		return nil
	}
	name := f.Path()
	tick := next || !v.draft.HasViewed(name)
	v.diff.folded["viewed "+name] = true
	v.diff.fold(m, p, name, tick)
	if next {
		p.jump(1, m.body(), isFile)
	}
	return m.draft(v.review.ID, "", "", func(_ context.Context, d *store.Draft) error {
		d.SetViewed(name, tick)
		return nil
	})
}

// answer answers the finding at the cursor.
func (v *reviewed) answer(m *model, p *page) tea.Cmd {
	r, ok := v.find(p)
	if !ok || r.Draft {
		m.flash = "No finding here: n goes to the next remark"
		return nil
	}
	args := []string{"inbox", "answer", v.review.ID, r.ID}
	ask := func(prompt, text string, more ...string) func(*model, *page) tea.Cmd {
		return func(m *model, _ *page) tea.Cmd {
			return m.open(&field{prompt: prompt, line: true, text: text, done: func(m *model, text string) tea.Cmd {
				return m.do(nil, append(slices.Concat(args, more), text)...)
			}})
		}
	}
	return choose("git runr inbox answer "+screen.Suffix(v.review.ID)+" "+r.ID,
		key{"f", "f fixed", "", ask("Fixed by which commit? ", "HEAD", "fixed", "--commit")},
		key{"r", "r refuted", "", ask("Why is it wrong? ", "", "refuted", "-m")},
		key{"d", "d deferred", "", ask("Until when, or why? ", "", "deferred", "-m")},
		key{"g", "g gone", "", ask("Gone in which commit? ", "HEAD", "gone", "--commit")})(m, p)
}

// finish submits the draft with a verdict.
func (v *reviewed) finish(m *model) tea.Cmd {
	n := len(v.draft.Comments)
	with := func(flags ...string) func(*model, *page) tea.Cmd {
		return func(m *model, _ *page) tea.Cmd {
			keep := "finish " + v.review.ID
			return m.open(&field{prompt: "Comment on the whole change (may be empty)", keep: keep, text: v.draft.Message,
				done: func(m *model, text string) tea.Cmd {
					args := append([]string{"inbox", "submit", v.review.ID, "-m", text}, flags...)
					return m.do(m.forget(keep), args...)
				}})
		}
	}
	m.ask = &question{"Hand in " + prose.Count(n, "comment") + " with the verdict", []key{
		{"a", "a approve", "", with("--approve")},
		{"x", "x request changes", "", with("--request-changes")},
		{"c", "c comment only", "", with()},
	}}
	return nil
}

// copy copies a remark for an agent, or the whole review including unsubmitted comments.
func (v *reviewed) copy(m *model, p *page) tea.Cmd {
	var said []record.Comment
	r, one := v.find(p)
	for _, c := range append(v.review.Comments(), v.draft.Comments...) {
		if !one || c.ID == r.ID {
			said = append(said, c)
		}
	}
	if one && len(said) == 0 {
		text := r.Place() + ": " + r.Text
		if r.Fix != "" {
			text += "\nfix: " + r.Fix
		}
		return m.copy(text)
	}
	if one || len(v.draft.Comments) > 0 {
		return m.copy(record.FormatReviewMessage(said))
	}
	return func() tea.Msg {
		out, _ := m.Do(m.ctx, "show", v.review.ID)
		return step(func(m *model) tea.Cmd { return m.copy(out) })
	}
}
