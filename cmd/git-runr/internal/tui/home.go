package tui

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/loop/queue"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// listed is the maximum number of reviews and runs on the first page.
const listed = 500

// home is the content of the first page: waiting reviews, agents with requests, and runs.
type home struct {
	all     bool // include what is closed
	reviews []record.ReviewSummary
	total   int
	queue   []queue.Entry
	runs    []record.RunSummary
	live    map[string]bool
}

func (m *model) homePage() *page {
	h := &home{}
	p := &page{live: true}
	p.load = func() loader {
		all := h.all
		return func(ctx context.Context) (func(), error) {
			read, err := m.readHome(ctx, all)
			return func() {
				*h = read
				p.title = h.title(filepath.Base(cmp.Or(m.Store.Repo.WorkTree, m.Store.Repo.CommonDir)))
			}, err
		}
	}
	p.title = "git runr"
	p.build = func(width int) []row { return h.rows(m, width) }
	p.keys = []key{
		{"enter right", "enter opens", "open the review or the run", func(m *model, p *page) tea.Cmd { return m.openRow(p) }},
		{"a", "a all", "closed reviews too, or only what waits", func(m *model, p *page) tea.Cmd {
			h.all = !h.all
			return m.reload(p)
		}},
		{"n", "n new review", "request a review of HEAD, or of another revision", func(m *model, _ *page) tea.Cmd {
			return m.open(&field{prompt: "git runr review ", line: true, done: func(m *model, text string) tea.Cmd {
				return m.shell(strings.TrimSpace("git runr review " + text))
			}})
		}},
		{"S", "", "exchange reviews with the remote", func(m *model, _ *page) tea.Cmd {
			m.flash = "git runr sync …"
			return m.do(nil, "sync")
		}},
		{"u", "", "undo the last landing, revert or restore", confirmed("y undo it", "undo")},
		{"l", "", "what happened last", shows("Log", "log", "--limit", "200")},
		{"w", "w work", "run the agents whose reviews wait", func(m *model, _ *page) tea.Cmd {
			if err := m.Work(); err != nil {
				return m.fail(err)
			}
			m.flash = "Started: git runr work"
			return nil
		}},
	}
	return p
}

func (m *model) readHome(ctx context.Context, all bool) (h home, err error) {
	h.all, h.live = all, map[string]bool{}
	filter := store.Filter{Limit: listed, ByNeed: true, Carried: true}
	name := record.StatusWaiting
	if all {
		name = "all"
	}
	if filter.Status, err = record.StatusFilter(name); err != nil {
		return h, err
	}
	if h.reviews, h.total, err = m.Store.Reviews(ctx, filter); err != nil {
		return h, err
	}
	if h.runs, _, err = m.Store.Runs(ctx, store.Filter{Limit: listed}); err != nil {
		return h, err
	}
	for i, r := range h.runs {
		h.live[r.ID] = r.Status == record.RunRunning && workspace.Live(m.Store, r.ID)
		h.runs[i].Status = workspace.Status(m.Store, r)
	}
	h.queue, err = (&queue.Worker{Store: m.Store}).Queue(ctx)
	return h, err
}

func (h *home) title(repo string) string {
	running := 0
	for _, live := range h.live {
		if live {
			running++
		}
	}
	title := fmt.Sprintf("%s   inbox %d   runs %d", repo, h.total, len(h.runs))
	if running > 0 {
		title += fmt.Sprintf(", %d at work", running)
	}
	if n := len(h.queue); n > 0 {
		title += fmt.Sprintf("   agents asked %d", n)
	}
	return title
}

// rows returns the lines of git runr inbox and git runr status.
func (h *home) rows(m *model, width int) []row {
	style := render.ListStyle{Now: m.Now(), Columns: width, ASCII: m.ASCII, Short: m.Store.ShortIDs}
	rows := []row{{text: styled(bold, "Inbox")}}
	if len(h.reviews) == 0 {
		rows = append(rows, row{text: styled(faint, "Nothing waits. n requests a review of the newest commit.")})
	} else {
		table := m.table(width, func(w io.Writer) { render.Inbox(w, h.reviews, h.total, style) })
		rows = append(rows, opening(table, len(h.reviews), func(i int) string { return h.reviews[i].ID })...)
	}
	if len(h.runs) > 0 {
		rows = append(rows, row{}, row{text: styled(bold, "Runs")})
		table := m.table(width, func(w io.Writer) { render.Runs(w, h.runs, style) })
		rows = append(rows, opening(table, len(h.runs), func(i int) string { return "run " + h.runs[i].ID })...)
	}
	if len(h.queue) > 0 {
		rows = append(rows, row{}, row{text: styled(bold, "Agents asked")})
		for _, t := range h.queue {
			line := fmt.Sprintf("%s  %s  %s", screen.Suffix(t.Of()), t.Reviewer, t.State)
			rows = append(rows, row{text: styled("", line), id: "queue " + t.Of() + t.Reviewer, open: t.Review})
		}
	}
	return rows
}

// table returns what write writes, formatted as other commands do on a terminal of width columns.
func (m *model) table(width int, write func(io.Writer)) []string {
	var b strings.Builder
	w := &screen.Writer{Out: &b, Columns: width, Colours: true, Now: m.Now(), Short: m.Store.ShortIDs}
	write(w)
	w.Flush() // a strings.Builder never fails
	return lines(b.String())
}

// opening returns the rows of a list; the first n rows open what open returns.
func opening(list []string, n int, open func(i int) string) []row {
	rows := make([]row, len(list))
	for i, line := range list {
		rows[i].text = line
		if i < n {
			rows[i].id, rows[i].open = open(i), open(i)
		}
	}
	return rows
}

func lines(text string) []string { return strings.Split(strings.TrimRight(text, "\n"), "\n") }

// openRow opens the review or run at the cursor.
func (m *model) openRow(p *page) tea.Cmd {
	if len(p.rows) == 0 {
		return nil
	}
	open := p.rows[p.cur].open
	if run, ok := strings.CutPrefix(open, "run "); ok {
		return m.push(m.runPage(run))
	}
	if open != "" {
		return m.push(m.reviewPage(open))
	}
	return nil
}
