package record

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"git-runr/gitstore"
	"git-runr/loop/internal/markdown"
	"git-runr/loop/prose"
	"git-runr/loop/reply"
)

// Words are what somebody wrote, as it was written. What is read out of them decides
// what is counted and shown; whoever has to act on them gets the words themselves.
type Words struct {
	By   string `json:"by"`
	Text string `json:"text"`
}

// Words are the submission in its reviewer's own words: an agent's answer, or a
// person's message and comments.
func (s Submission) Words() Words {
	said := append([]string{cmp.Or(s.Report.Text, s.Report.Summary)}, CommentBlocks(s.Comments)...)
	return Words{By: s.Reviewer, Text: prose.CutMiddle(strings.TrimSpace(strings.Join(said, "\n\n")), reply.MaxText)}
}

// Bounds of the messages of the commits under review.
const (
	maxMessages     = 100
	MaxMessageBytes = 8 << 10  // of one
	maxMessagesText = 32 << 10 // of all
)

// AddMessages fills in what the commits under review say of themselves: whether a change
// does what its message says cannot be judged from a title. Commits that are not here
// are left out, as the change itself will be.
func (s *Store) AddMessages(ctx context.Context, subject *Subject) {
	subject.Messages, subject.MoreCommits = nil, 0
	switch _, err := s.Repo.ReadCommit(ctx, subject.Base); {
	case subject.Kind == SubjectCommit:
		if text := s.CommitText(ctx, subject.Commit); strings.TrimSpace(text) != subject.Title {
			subject.addMessage(subject.Commit, text)
		}
	case subject.Kind == SubjectRange && err == nil:
		commits, _ := s.Repo.Commits(ctx, subject.Base, subject.Commit, 0)
		subject.MoreCommits = max(0, len(commits)-maxMessages)
		for _, c := range slices.Backward(commits[:min(len(commits), maxMessages)]) {
			subject.addMessage(c.ID, c.Message)
		}
	}
	for i := range subject.Messages {
		m := &subject.Messages[i]
		m.Text = prose.CutMiddle(m.Text, min(MaxMessageBytes, max(maxMessagesText/len(subject.Messages), 200)))
	}
}

// CommitText is what the commit says, in UTF-8; "" when it is not here. It asks git only
// where the message is in another encoding: the hook waits for it.
func (s *Store) CommitText(ctx context.Context, id gitstore.ID) string {
	commit, err := s.Repo.ReadCommit(ctx, id)
	if err == nil && commit.Encoding != "" {
		if listed, err := s.Repo.Commits(ctx, "", id, 1); err == nil && len(listed) == 1 {
			return listed[0].Message
		}
	}
	return commit.Message
}

func (s *Subject) addMessage(id gitstore.ID, text string) {
	if text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")); text != "" {
		s.Messages = append(s.Messages, CommitMessage{Commit: id, Text: text})
	}
}

// Words are the messages of the commits under review.
func (s Subject) Words() []Words {
	var said []Words
	for _, m := range s.Messages {
		said = append(said, Words{By: "commit " + m.Commit.Short(), Text: m.Text})
	}
	if s.MoreCommits > 0 {
		said = append([]Words{{By: "older commits", Text: fmt.Sprintf("[%s, whose messages are not shown]", prose.Count(s.MoreCommits, "older commit"))}}, said...)
	}
	return said
}

// BoundWords leaves each of many reviewers an equal part of what one may say four times.
func BoundWords(said []Words) {
	for i := range said {
		said[i].Text = prose.CutMiddle(said[i].Text, max(min(reply.MaxText, 4*reply.MaxText/len(said)), 1<<10))
	}
}

// Requests are what the submission asks for beside its findings. Whoever only commented
// and gave no verdict asks for what the message says, once somebody wants it done.
func (s Submission) Requests() []string {
	if s.Outcome == OutcomeCommented && len(s.Comments) == 0 {
		return slices.Concat(s.Report.Requests, reply.FirstWords(markdown.Split(s.Report.Summary)))
	}
	return s.Report.Requests
}
