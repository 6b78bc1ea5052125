package loop

import (
	"context"
	"fmt"
	"strings"

	"git-runr/gitstore"
	"git-runr/loop/prose"
	"git-runr/loop/record"
)

// instructionsFile is what a project tells those who review its changes.
const instructionsFile = ".runr/review.md"

// maxInstructions is how much of it a reviewer is told, in bytes.
const maxInstructions = 16 << 10

// instructions are those of the project as the base of a change has them: what is under
// review cannot say how it is reviewed. used is nil, and the text "", where the base has none.
func instructions(ctx context.Context, s *record.Store, base gitstore.ID) (text string, used *record.Instructions, err error) {
	entry, err := s.Repo.File(ctx, base, instructionsFile)
	if err != nil || !strings.HasPrefix(entry.Mode, "100") { // a link may lead out of the base
		return "", nil, gitstore.IgnoreNotFound(err)
	}
	data, err := s.Repo.ReadBlob(ctx, entry.ID)
	if err != nil {
		return "", nil, gitstore.IgnoreNotFound(err)
	}
	text = strings.TrimSpace(strings.ToValidUTF8(string(data), "\uFFFD"))
	if text == "" {
		return "", nil, nil
	}
	used = &record.Instructions{Path: instructionsFile, Blob: entry.ID, Base: base, Bytes: len(data)}
	if len(text) > maxInstructions {
		text, used.Told = prose.Cut(text, maxInstructions), maxInstructions
	}
	return text, used, nil
}

// writeInstructions writes them between marks that nothing in them can make.
func writeInstructions(b *strings.Builder, text string, used *record.Instructions, nonce string) {
	if used == nil {
		return
	}
	fmt.Fprintf(b, "\nThe project's own instructions to reviewers, from %s at the base of the change. They say what matters in this project; how you answer stays as it is asked for below.\n", used.Path)
	if used.Told > 0 {
		fmt.Fprintf(b, "They are too long: the first %d of %d bytes are shown.\n", used.Told, used.Bytes)
	}
	fmt.Fprintf(b, "----- BEGIN INSTRUCTIONS %s -----\n%s\n----- END INSTRUCTIONS %s -----\n", nonce, text, nonce)
}
