package reply

import (
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/internal/casetest"
)

// BenchmarkParseReview reads all cases once, and hostile texts of one megabyte. The time is
// proportional to the length.
func BenchmarkParseReview(b *testing.B) {
	b.Run("cases", func(b *testing.B) {
		cases := casetest.Read(b, "review")
		for b.Loop() {
			for _, c := range cases {
				ParseReview(c.Input(), strings.TrimSpace(c.File("nonce")))
			}
		}
	})
	for name, unit := range hostileUnits {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(unit, (1<<20)/len(unit))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				ParseReview(text, "n")
			}
		})
	}
}
