// Package change is the change that a review is about: how it is named, found and recorded, what it is
// compared with, and which of its commits are not seen in the whole.
package change

import (
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
)

// Kind says what a review is about.
type Kind string

const (
	Commit   Kind = "commit"
	Range    Kind = "range"
	Worktree Kind = "worktree" // tracked and untracked files as they were
	Staged   Kind = "staged"   // the index as it was
)

// Subject is the change under review: the difference of Base and Tree.
type Subject struct {
	Kind   Kind        `json:"kind"`
	Spec   string      `json:"spec"`             // as it was typed: HEAD, main..topic, --staged
	Title  string      `json:"title,omitempty"`  // subject line of the commit
	Base   gitstore.ID `json:"base"`             // what it is compared with: a commit, or the empty tree
	Commit gitstore.ID `json:"commit,omitempty"` // what notes speak of; "" where there is no commit yet
	Tree   gitstore.ID `json:"tree"`             // the tree, or the snapshot commit, under review
	Branch string      `json:"branch,omitempty"`
	Author string      `json:"author,omitempty"` // of the commit, "Name <email>"
	Paths  []string    `json:"paths,omitempty"`  // only these
	// Messages are those of the commits under review, oldest first, as far as they say
	// more than Title. They are filled in when the review is asked for.
	Messages    []Message `json:"messages,omitempty"`
	MoreCommits int       `json:"more_commits,omitempty"` // older ones, whose messages are not among them
}

// OfCommits reports whether the change is one of commits: then Tree is that of Commit.
func (s Subject) OfCommits() bool { return s.Kind == Commit || s.Kind == Range }

// maxTitle is how much of a title is kept, in bytes: every list of reviews and runs holds them.
const maxTitle = 1 << 10

// CutTitle is a title as far as it is kept.
func CutTitle(title string) string {
	if len(title) <= maxTitle {
		return title
	}
	return prose.Cut(title, maxTitle) + "…"
}

// Message is what a commit says of itself.
type Message struct {
	Commit gitstore.ID `json:"commit"`
	Text   string      `json:"text"` // the middle of a long one is left out
}

// Bounds of the messages of the commits under review.
const (
	maxMessages     = 100
	MaxMessageBytes = 8 << 10  // of one
	maxMessagesText = 32 << 10 // of all
)

func (s *Subject) addMessage(id gitstore.ID, text string) {
	if text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")); text != "" {
		s.Messages = append(s.Messages, Message{Commit: id, Text: text})
	}
}

// Words are the messages of the commits under review.
func (s Subject) Words() []reply.Words {
	var said []reply.Words
	for _, m := range s.Messages {
		said = append(said, reply.Words{By: "commit " + m.Commit.Short(), Text: m.Text})
	}
	if s.MoreCommits > 0 {
		said = append([]reply.Words{{By: "older commits",
			Text: fmt.Sprintf("[%s, whose messages are not shown]", prose.Count(s.MoreCommits, "older commit"))}}, said...)
	}
	return said
}
