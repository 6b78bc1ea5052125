package gitdir

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"syscall"
	"testing"
)

// TestWritersKeepTheirLimit uses io.Copy, which would call ReadFrom of an embedded buffer and ignore the limit.
func TestWritersKeepTheirLimit(t *testing.T) {
	flood := func() io.Reader { return struct{ io.Reader }{bytes.NewReader(make([]byte, 1<<20))} }
	head := &headWriter{LimitWriter{Left: 100}}
	if n, err := io.Copy(head, flood()); n != 1<<20 || err != nil || head.Kept.Len() != 100 {
		t.Errorf("head took %d, kept %d, %v", n, head.Kept.Len(), err)
	}
	limited := &LimitWriter{Left: 100}
	if _, err := io.Copy(limited, flood()); err == nil || !limited.Full || limited.Kept.Len() > 100 {
		t.Errorf("limited kept %d, full %v, %v", limited.Kept.Len(), limited.Full, err)
	}
}

// TestGitErrorIs tells what git reports of the operating system from what ssh says of another machine.
func TestGitErrorIs(t *testing.T) {
	for said, want := range map[string]error{
		"error: could not lock config file .git/config: Permission denied":       fs.ErrPermission,
		"error: could not lock config file .git/config: Read-only file system":   syscall.EROFS,
		"fatal: sha1 file '.git/x' write error: No space left on device":         syscall.ENOSPC,
		"git@example.com: Permission denied (publickey).\nfatal: Could not read": nil,
	} {
		err := &GitError{Args: []string{"config"}, Stderr: said, Status: 255}
		for _, is := range []error{fs.ErrPermission, syscall.EROFS, syscall.ENOSPC} {
			if got := errors.Is(err, is); got != (is == want) {
				t.Errorf("%q is %v: %v", said, is, got)
			}
		}
	}
}
