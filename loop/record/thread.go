package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
)

// Reply is what somebody says in the thread of a finding or comment, or about a review as a whole. It closes nothing;
// an Answer does.
type Reply struct {
	ID      gitstore.ID `json:"id,omitempty"`      // the event that records it; filled in by the fold
	Finding string      `json:"finding,omitempty"` // the id of the finding or comment; "": the review as a whole
	Text    string      `json:"text"`              // Markdown, at most MaxMessage bytes
	Actor   string      `json:"actor"`
	At      time.Time   `json:"at,omitzero"` // filled in by the fold
	Voice
}

// EventReviewReplied is allowed in every status: a conversation goes on after a review is closed.
var EventReviewReplied = reviewEventType("review_replied", "replied to", always, (*Review).reply, nil)

func (p Reply) by() (who ActorPayload, held bool) { return ActorPayload{Actor: p.Actor}, false }

func (r *Review) reply(e Event, p Reply) {
	p.ID, p.Voice, p.At = e.ID, r.voice(e, p.Actor), e.Timestamp
	r.Replies = append(r.Replies, p)
}

// Check returns an *InputError for a reply that is empty, too long, or has no actor.
func (p Reply) Check() error {
	switch {
	case strings.TrimSpace(p.Text) == "":
		return &InputError{"a reply needs a text: -m TEXT"}
	case len(p.Text) > MaxMessage:
		return &InputError{fmt.Sprintf("a reply has at most %d bytes; this one has %d", MaxMessage, len(p.Text))}
	}
	return CheckActor(p.Actor)
}

// RepliesTo returns the replies in the thread of a finding or comment, by any of its ids, oldest first; "" names the
// review as a whole.
func (r Review) RepliesTo(finding string) []Reply {
	ids := []string{""}
	if finding != "" {
		ids = r.sameIDs(finding)
	}
	return slices.DeleteFunc(slices.Clone(r.Replies), func(p Reply) bool { return !slices.Contains(ids, p.Finding) })
}
