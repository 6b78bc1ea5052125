package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/follow"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/shown"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/workspace"
)

// saidKept is the maximum number of kept lines of agents' output.
const saidKept = 2000

// runPage shows a run as git runr show does, its events, and the output of its agents as it appears.
func (m *model) runPage(id string) *page {
	var run record.Run
	var text, log string
	said := &saidLines{}
	ctx, stop := context.WithCancel(m.ctx)
	p := &page{title: "Run " + screen.Suffix(id), live: true, close: stop}
	p.load = func() loader {
		return func(ctx context.Context) (func(), error) {
			read, err := m.Store.Run(ctx, id)
			if err != nil {
				return nil, err
			}
			full, _ := m.Do(ctx, "show", id)
			events, _ := m.Do(ctx, "log", id)
			allowed, err := shown.RunActsOf(ctx, m.Store, read)
			if err != nil {
				return nil, err
			}
			now := read.Summary()
			now.Status = workspace.Status(m.Store, now)
			return func() {
				first := run.ID == ""
				run, text, log = read, full, events
				p.title = fmt.Sprintf("Run %s   %s   %s", screen.Suffix(id), render.RunState(now).Text,
					run.Plan.Entity.Name())
				p.keys = runKeys(run, allowed)
				if first {
					p.cur = 0
				}
			}, nil
		}
	}
	p.build = func(width int) []row {
		rows := textRows(text, width)
		rows = append(rows, row{}, row{text: styled(bold, "Events")})
		rows = append(rows, textRows(strings.ReplaceAll(log, "  "+id+"  ", "  "), width)...)
		if len(said.lines) > 0 {
			rows = append(rows, row{}, row{text: styled(bold, "Output of its agents")})
			rows = append(rows, textRows(strings.Join(said.lines, "\n"), width)...)
		}
		return rows
	}
	said.tell = func(lines []string) {
		m.send(step(func(m *model) tea.Cmd {
			said.lines = append(said.lines, lines...)
			said.lines = said.lines[max(0, len(said.lines)-saidKept):]
			end := p.cur >= len(p.rows)-1 && len(p.rows) > 0
			if m.fill(p); end {
				p.move(len(p.rows), m.body())
			}
			return nil
		}))
	}
	go follow.Events(ctx, m.Store, id, func(record.Event) error { return nil }, said)
	return p
}

// saidLines receives agents' output from follow.Events.
type saidLines struct {
	lines []string
	tell  func([]string)
}

func (s *saidLines) Write(b []byte) (int, error) {
	s.tell(lines(string(b)))
	return len(b), nil
}

// runKeys returns the keys of a run's page: what can be read, and what is allowed now.
func runKeys(run record.Run, allowed shown.RunActs) []key {
	id := run.ID
	keys := []key{
		{"d", "d diagnosis", "why it stopped, and what to type", shows("Diagnosis of "+screen.Suffix(id), "diagnose", id)},
		{"v", "v diff", "what it changed", func(m *model, _ *page) tea.Cmd { return m.push(m.runDiffPage(id, "")) }},
		{"V", "", "compare two attempts", func(m *model, _ *page) tea.Cmd {
			return m.open(&field{prompt: "Attempts, 0 is where it began: ", line: true,
				text: fmt.Sprintf("%d..%d", max(0, len(run.Attempts)-1), len(run.Attempts)),
				done: func(m *model, text string) tea.Cmd {
					return m.push(m.runDiffPage(id, text))
				}})
		}},
	}
	if allowed.Land {
		keys = append(keys, key{"l", "l land", "bring its result to your branch", choose("git runr land "+id,
			key{"y", "y as its commits", "", act("land", id)}, key{"s", "s squashed to one", "", act("land", id, "--squash")})})
	}
	if allowed.Resume {
		keys = append(keys, key{"r", "r resume", "resume it", choose("git runr resume "+id,
			key{"y", "y resume it", "", func(m *model, _ *page) tea.Cmd {
				return m.do(func(m *model) tea.Cmd {
					m.flash = "It goes on; the output of its agents is below"
					return nil
				}, "resume", id, "--detached")
			}})})
	}
	if allowed.Skip {
		skip := key{"s", "s skip it", "", act("resume", id, "--skip")}
		answer := key{"c", "c answer", "skip it", choose("git runr resume "+id, skip)}
		if allowed.Accept {
			answer = key{"c", "c answer", "accept it as it is, or skip it", choose("git runr resume "+id,
				key{"c", "c commit it as it is", "", act("resume", id, "--commit")}, skip)}
		}
		keys = append(keys, answer)
	}
	if allowed.Intervene && !allowed.Stop {
		keys = append(keys,
			key{"i", "i intervene", "record what you did by hand, and continue", func(m *model, _ *page) tea.Cmd {
				return m.open(&field{prompt: "What did you do? ", keep: "intervene " + id,
					done: func(m *model, text string) tea.Cmd {
						return m.do(m.forget("intervene "+id), "intervene", id, "--reason", "manual_fix", "--note", text)
					}})
			}})
	}
	if allowed.Abort {
		keys = append(keys, key{"A", "", "give it up; its branch stays", confirmed("y give it up", "abort", id)})
	}
	if from := run.Plan.FromReview; from != "" {
		keys = append(keys, key{"o", "", "the review that it fixes", func(m *model, _ *page) tea.Cmd {
			return m.push(m.reviewPage(from))
		}})
	}
	return append(keys, lineKeys()...)
}

// forget returns a function that removes the file of a submitted text.
func (m *model) forget(keep string) step {
	return func(m *model) tea.Cmd {
		m.handedIn(keep)
		return nil
	}
}

// fix starts an agent in the background to fix a review's findings, and shows its run.
func (m *model) fix(review string) tea.Cmd {
	m.flash = "It begins …"
	return func() tea.Msg {
		m.acting.RLock()
		defer m.acting.RUnlock()
		out, status := m.Do(m.ctx, "run", "--review", review, "--detached")
		for _, line := range lines(out) {
			if id, begun := strings.CutSuffix(strings.TrimPrefix(line, "Run "), " started."); begun {
				return step(func(m *model) tea.Cmd {
					m.flash = ""
					return m.push(m.runPage(id))
				})
			}
		}
		return step(func(m *model) tea.Cmd { return m.done("run", out, status, nil) })
	}
}

// runDiffPage shows what a run changed: all of it, or the changes between two attempts, given as 1..2.
func (m *model) runDiffPage(id, span string) *page {
	d := &diff{ascii: m.ASCII}
	p := &page{title: "What " + screen.Suffix(id) + " changed " + span}
	p.load = func() loader {
		lines := d.context
		return func(ctx context.Context) (func(), error) {
			run, err := m.Store.Run(ctx, id)
			if err != nil {
				return nil, err
			}
			from, to, err := run.Span(span)
			if err != nil {
				return nil, err
			}
			files, cut, err := readDiff(ctx, m.Store, gitstore.DiffSpec{From: from, To: to, Context: lines})
			return func() { d.put(files, cut) }, err
		}
	}
	p.build = func(width int) []row { return d.rows(width, nil) }
	p.keys = diffKeys(d)
	return p
}
