package lineage_test

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testneed"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/record"
)

// TestSignedApprovals: if signatures are required, an approval counts only if it is signed with a key that the base's
// signers file lists for its approver's address. Unsigned approvals, and approvals with another's key, a forged name
// or a removed key, do not count. If signatures are only warned about, these approvals count and are marked.
func TestSignedApprovals(t *testing.T) {
	testneed.Program(t, "ssh-keygen")
	s, keys := runtest.NewStore(t), t.TempDir()
	dir := s.Repo.WorkTree
	signers := ""
	for _, name := range []string{"bob", "eve", "gone"} {
		key := filepath.Join(keys, name)
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", key).
			CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		public, err := os.ReadFile(key + ".pub")
		if err != nil {
			t.Fatal(err)
		}
		signers += name + "@example.org " + string(public)
	}
	set := func(key, value string) {
		if err := s.Repo.SetConfig(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	commit := func(subject string, files map[string]string) gitstore.ID {
		for name, text := range files {
			testrepo.WriteFile(t, dir, name, text)
		}
		testrepo.Git(t, dir, "add", ".")
		testrepo.Git(t, dir, "commit", "-q", "--no-gpg-sign", "--author", "Zoe <zoe@example.org>", "-m", subject)
		return gitstore.ID(testrepo.Git(t, dir, "rev-parse", "HEAD"))
	}
	lines := strings.SplitAfter(signers, "\n")
	commit("all keys", map[string]string{"signers": signers})
	base := commit("a key is revoked", map[string]string{"signers": lines[0] + lines[1]})
	// the change lists the revoked key again, which must have no effect
	change := commit("change", map[string]string{"signers": signers, "file": "text\n"})
	review, err := s.RequestReview(t.Context(),
		record.ReviewRequest{Subject: record.Subject{Kind: record.SubjectCommit, Base: base, Commit: change, Tree: change},
			Reviewer: record.Human}, "cli")
	if err != nil {
		t.Fatal(err)
	}
	set("gpg.format", "ssh")
	for _, at := range []struct{ who, key string }{
		{"Bob <bob@example.org>", "bob"},
		{"Una <una@example.org>", ""},       // not signed
		{"Eve <eve@example.org>", "bob"},    // signed with another's key
		{"Bob <bob2@example.org>", "eve"},   // the same name counts once, whatever the address
		{"Gone <gone@example.org>", "gone"}, // a key that is no longer listed
		{"Nameless", "eve"},                 // without an address the key cannot be checked
		// the second, badly signed approval of bob@example.org does not replace the first
		{"Robert <BOB@example.org>", "eve"},
		{"Zoe <zoe@example.org>", "bob"}, // the author
	} {
		set("runr.sign", map[bool]string{true: "true", false: "false"}[at.key != ""])
		set("user.signingkey", filepath.Join(keys, at.key+".pub"))
		who := gitstore.ParseIdentity(at.who) // each records with an identity of their own
		set("user.name", cmp.Or(who.Name, at.who))
		set("user.email", cmp.Or(who.Email, "nameless@example.org"))
		if _, err := s.SubmitPerson(t.Context(), review.ID,
			record.Person{Actor: at.who, Decision: record.Approve}); err != nil {
			t.Fatal(err)
		}
	}
	commits, err := s.Repo.LogOnly(t.Context(), []gitstore.ID{change})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		verify        lineage.Verify
		counted, good int
	}{{lineage.VerifyOff, 5, 0}, {lineage.VerifyWarn, 5, 1}, {lineage.VerifyRequire, 1, 1}} {
		covered, err := lineage.CoverageBy(t.Context(), s, commits,
			lineage.Bar{Base: base, Verify: test.verify, Signers: "signers"})
		if err != nil {
			t.Fatal(err)
		}
		a := covered[0].Approvals
		good := slices.DeleteFunc(slices.Clone(a.By), func(by lineage.Approval) bool {
			return by.Signature != gitstore.SignatureGood || by.Why != ""
		})
		if a.Have != test.counted || len(good) != test.good || len(good) > 0 && good[0].Person != "Bob <bob@example.org>" {
			t.Errorf("%s: %+v", test.verify, a)
		}
		marked := strings.Contains(covered[0].ApprovalWords(), "not signed by this address")
		if marked != (test.verify != lineage.VerifyOff) {
			t.Errorf("%s: %s", test.verify, covered[0].ApprovalWords())
		}
		if level := covered[0].Level; level != lineage.LevelApproved {
			t.Errorf("%s: %s", test.verify, level)
		}
	}
	for _, bar := range []lineage.Bar{
		{Base: base, Verify: lineage.VerifyRequire, Signers: "no such file"},
		{Base: base, Verify: lineage.VerifyRequire, Signers: "signers", Approvals: 2},
	} {
		covered, err := lineage.CoverageBy(t.Context(), s, commits, bar)
		if err != nil || covered[0].Level != lineage.LevelReviewed {
			t.Errorf("%+v: %+v %v", bar, covered[0], err)
		}
	}
}
