package mcp

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// TestTokens compares the estimate with the larger count of two vocabularies, o200k and cl100k. The estimate is at
// most 3% lower, and less than twice as high.
func TestTokens(t *testing.T) {
	fifty := func(row func(sum []byte, i int) string) string {
		var b strings.Builder
		for i := range 50 {
			sum := sha256.Sum256([]byte(fmt.Sprint(i)))
			b.WriteString(row(sum[:], i) + "\n")
		}
		return b.String()
	}
	next := func(i int) []byte { sum := sha256.Sum256([]byte(fmt.Sprint(i + 1))); return sum[:] }
	for _, c := range []struct {
		name, text  string
		bytes, want int
	}{
		{"hashes", fifty(func(sum []byte, _ int) string { return hex.EncodeToString(sum) + "  a.txt" }), 3600, 2028},
		{"base64", fifty(func(sum []byte, i int) string {
			return "+" + base64.StdEncoding.EncodeToString(sum) + base64.StdEncoding.EncodeToString(next(i))
		}), 4500, 3222},
		{"bytes in hex", fifty(func(sum []byte, _ int) string {
			row := ""
			for _, c := range sum {
				row += fmt.Sprintf("0x%02x, ", c)
			}
			return row
		}), 9650, 8138},
		{"go.sum", fifty(func(sum []byte, i int) string {
			return fmt.Sprintf("example.org/mod%d v1.%d.0 h1:%s", i, i, base64.StdEncoding.EncodeToString(sum))
		}), 3680, 2230},
		{"JSON", fifty(func(sum []byte, i int) string {
			return fmt.Sprintf(`{"id":"c-%s","severity":"warning","file":"a.txt","line":%d,"said_by":["Grace"]}`,
				hex.EncodeToString(sum)[:10], i)
		}), 4390, 1482},
		{"code", strings.Repeat(
			"func (s *Store) Review(ctx context.Context, typed string) (Review, error) {\n"+
				"\tst, err := s.named(ctx, kindReview, typed)\n\treturn st.review, err\n}\n", 20), 2900, 800},
		{"prose", strings.Repeat(
			"A review is asked for now and read when it is there; whoever addresses it claims it first, so that nobody else "+
				"does the same work.\n", 20), 2620, 580},
		{"Chinese", strings.Repeat("代码审查是软件开发中的重要环节，它可以帮助发现错误。\n", 20), 1580, 520},
		{"emoji", strings.Repeat("😀 🎉 🔥 👍\n", 20), 400, 200},
	} {
		got := tokens(c.text)
		if len(c.text) != c.bytes {
			t.Fatalf("%s: %d bytes, and was measured with %d", c.name, len(c.text), c.bytes)
		}
		if got*100 < c.want*97 || got > 2*c.want {
			t.Errorf("%s: %d tokens, want about %d", c.name, got, c.want)
		}
	}
}

// TestPagesOfHashes: texts with many tokens are split into shorter pages, and are complete.
func TestPagesOfHashes(t *testing.T) {
	p := newProject(t)
	var sums strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&sums, "%x\n", sha256.Sum256([]byte(fmt.Sprint(i))))
	}
	p.write("sums", sums.String())
	p.commit("sums")
	_, docs := p.chat().pages("review_diff", args{"id": p.asked("").ID})
	if _, err := strconv.Atoi(docs[0]["next_cursor"].(string)); err == nil {
		t.Error("a client may take the cursor for a number")
	}
	patch := ""
	for _, doc := range docs {
		page := doc["patch"].(string)
		if len(page) > maxAnswer*7/10 {
			t.Errorf("%d bytes of hashes on a page", len(page))
		}
		patch += page
	}
	if n := strings.Count(patch, "\n+"); n < 3000 {
		t.Errorf("%d lines on %d pages", n, len(docs))
	}
}
