package render

import (
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// TestInboxWidth: no line is wider than the terminal, and the important parts stay on a narrow one.
func TestInboxWidth(t *testing.T) {
	now := time.Date(2026, 1, 9, 12, 0, 0, 0, time.UTC)
	const commit = "3f2a9c1d3f2a9c1d3f2a9c1d3f2a9c1d3f2a9c1d"
	reviews := []record.ReviewSummary{
		{ID: "20260102030405-abcdef", Status: record.ReviewSubmitted, Outcome: record.OutcomeFailed,
			Verdict: reply.CriticalFail, Critical: 2, Warnings: 1, Notes: 3,
			Commit: commit, Title: "Let the parser take names that are longer than anybody thought that names could be",
			SubmittedAt: now.Add(-50 * time.Hour)},
		{ID: "20260102030406-ghijkm", Status: record.ReviewClaimed, Outcome: record.OutcomePassed,
			Verdict: reply.PassWithNotes, Notes: 1, ClaimedBy: "Ann",
			Commit: commit, Title: "名前が長い名前が長い名前が長い名前が長い名前が長い", SubmittedAt: now.Add(-5 * time.Minute)},
		{ID: "20260102030407-npqrst", Status: record.ReviewOpen, Waiting: []string{"human"}, Commit: commit,
			Title: "a\x1b[2Jb", CreatedAt: now.Add(-900 * 24 * time.Hour)},
		{ID: "20260102030408-uvwxyz", Status: record.ReviewOpen, Failure: "agent_not_found", Kind: record.SubjectWorktree,
			Title: "worktree changes", CreatedAt: now},
	}
	for _, tc := range []struct {
		width int
		want  string
	}{
		{0, `CRITICAL         ✗2 !1 ·3  abcdef  3f2a9c1  2d    Let the parser take names that are longer than anybody thought that names could be
PASS_WITH_NOTES  ·1        ghijkm  3f2a9c1  5m    (claimed by Ann) 名前が長い名前が長い名前が長い名前が長い名前が長い
open                       npqrst  3f2a9c1  900d  (for human) a\x1b[2Jb
failed                     uvwxyz           0m    (agent_not_found) worktree changes
`},
		{80, `CRITICAL         ✗2 !1 ·3  abcdef  3f2a9c1  2d    Let the parser take names tha…
PASS_WITH_NOTES  ·1        ghijkm  3f2a9c1  5m    (claimed by Ann) 名前が長い名…
open                       npqrst  3f2a9c1  900d  (for human) a\x1b[2Jb
failed                     uvwxyz           0m    (agent_not_found) worktree ch…
`},
		{40, `CRIT    ✗2 !1 ·3  abcdef  Let the parse…
NOTES   ·1        ghijkm  (claimed by A…
open              npqrst  (for human) a…
failed            uvwxyz  (agent_not_fo…
`},
	} {
		var b strings.Builder
		Inbox(&b, reviews, len(reviews), ListStyle{Now: now, Columns: tc.width})
		if tc.want != "" && b.String() != tc.want {
			t.Errorf("%d columns:\n%swant\n%s", tc.width, b.String(), tc.want)
		}
		for line := range strings.Lines(b.String()) {
			if columns := prose.Columns(line); tc.width > 0 && columns > tc.width {
				t.Errorf("%d columns: %q takes %d", tc.width, line, columns)
			}
		}
	}
	var b strings.Builder
	Inbox(&b, reviews[:1], 1, ListStyle{Now: now, ASCII: true})
	if !strings.HasPrefix(b.String(), "CRITICAL  x2 !1 .3  abcdef") {
		t.Errorf("ASCII: %s", b.String())
	}
}
