package hooks

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
)

// maxFed is the most that is read of what git feeds a hook, in bytes.
const maxFed = 64 << 20

// Rewritten reads what git feeds post-rewrite: OLD NEW and perhaps more, a line each.
func Rewritten(in io.Reader) ([]gitstore.Moved, error) {
	var pairs []gitstore.Moved
	err := eachLine(in, func(words []string) bool {
		if len(words) < 2 {
			return false
		}
		pairs = append(pairs, gitstore.Moved{From: gitstore.ID(words[0]), To: gitstore.ID(words[1])})
		return isID(words[0]) && isID(words[1])
	})
	return pairs, err
}

// Push is a ref that is to be pushed. An id of "" is none: the ref is deleted, or new.
type Push struct {
	Local  string // as it was named: refs/heads/main, HEAD~1, (delete)
	New    gitstore.ID
	Remote string // the ref there
	Old    gitstore.ID
}

// Pushed reads what git feeds pre-push: LOCAL-REF ID REMOTE-REF ID, a line each.
func Pushed(in io.Reader) ([]Push, error) {
	var refs []Push
	err := eachLine(in, func(words []string) bool {
		if len(words) != 4 || !isID(words[1]) || !isID(words[3]) {
			return false
		}
		refs = append(refs, Push{words[0], present(words[1]), words[2], present(words[3])})
		return true
	})
	return refs, err
}

// present is "" for an id of zeros.
func present(id string) gitstore.ID {
	if strings.Trim(id, "0") == "" {
		return ""
	}
	return gitstore.ID(id)
}

func isID(word string) bool {
	return (len(word) == 40 || len(word) == 64) && strings.Trim(word, "0123456789abcdef") == ""
}

// eachLine gives the words of each line that is not empty to take, which is false for a
// line that is not what git writes.
func eachLine(in io.Reader, take func(words []string) bool) error {
	lines := bufio.NewScanner(io.LimitReader(in, maxFed))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if words := strings.Fields(lines.Text()); len(words) > 0 && !take(words) {
			return fmt.Errorf("read what git feeds the hook: %.80q", lines.Text())
		}
	}
	return lines.Err()
}
