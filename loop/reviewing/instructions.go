package reviewing

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// Files with a project's instructions for reviewers and for implementers: the first that exists is used.
var (
	reviewerFiles    = []string{".runr/review.md"}
	ImplementerFiles = []string{".runr/implementer.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md"}
)

// maxInstructions is the maximum length of instructions in bytes.
const maxInstructions = 16 << 10

// Instructions reads the project's instructions at base: a change cannot say how it is reviewed, nor an attempt how the
// next one works. Used is nil if base has none.
func Instructions(ctx context.Context, s *store.Store, base gitstore.ID, files []string) (told ToldText, err error) {
	for _, file := range files {
		if told, err = instructionsIn(ctx, s, base, file); told.Used != nil || err != nil {
			break
		}
	}
	return told, err
}

// ToldText holds a project's instructions and their origin; it is empty if there are none.
type ToldText struct {
	Used *record.Instructions
	text string
}

func instructionsIn(ctx context.Context, s *store.Store, base gitstore.ID, file string) (ToldText, error) {
	entry, err := s.Repo.File(ctx, base, file)
	if err != nil || !strings.HasPrefix(entry.Mode, "100") { // a link may lead out of the base
		return ToldText{}, gitstore.IgnoreNotFound(err)
	}
	data, err := s.Repo.ReadBlob(ctx, entry.ID)
	if err != nil {
		return ToldText{}, gitstore.IgnoreNotFound(err)
	}
	text := strings.TrimSpace(strings.ToValidUTF8(string(data), "\uFFFD"))
	if text == "" {
		return ToldText{}, nil
	}
	used := &record.Instructions{Path: file, Blob: entry.ID, Base: base, Bytes: len(data)}
	if len(text) > maxInstructions {
		text, used.Told = prose.Cut(text, maxInstructions), maxInstructions
	}
	return ToldText{used, text}, nil
}

// Between returns the instructions between marks that they cannot imitate, or "" if there are none. lead introduces
// them, with %s for their file.
func (t ToldText) Between(nonce string, lead ...string) string {
	if t.Used == nil {
		return ""
	}
	text := fmt.Sprintf("\n"+strings.Join(lead, "")+"\n", t.Used.Path)
	if t.Used.Told > 0 {
		text += fmt.Sprintf("They are too long: the first %d of %d bytes are shown.\n", t.Used.Told, t.Used.Bytes)
	}
	return text + fmt.Sprintf("----- BEGIN INSTRUCTIONS %s -----\n%s\n----- END INSTRUCTIONS %s -----\n", nonce, t.text,
		nonce)
}
