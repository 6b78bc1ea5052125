package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore/testneed"
	"github.com/git-runr/git-runr/gitstore/testrepo"
)

func TestSignatureBy(t *testing.T) {
	cases := []struct {
		signer, email string
		want          bool
	}{
		{"ada@example.org", "Ada@example.org", true},
		{"ada@example.org", "eve@example.org", false},
		{"*@example.org", "ada@example.org", true},
		{"*@example.org,!eve@example.org", "eve@example.org", false},
		{"Ada Lovelace <ada@example.org>", "ada@example.org", true},
		{"ada@example.org <eve@example.org>", "ada@example.org", false},
		{"", "ada@example.org", false},
		{"ada@example.org", "", false},
		{"[", "[", false},
	}
	for _, c := range cases {
		if got := (Signature{State: SignatureGood, Signer: c.signer}).By(c.email); got != c.want {
			t.Errorf("%q by %q: %v", c.signer, c.email, got)
		}
	}
	if (Signature{State: SignatureExpired, Signer: "ada@example.org"}).By("ada@example.org") {
		t.Error("an expired signature counts")
	}
}

// TestSignatures verifies commits that were signed with an ssh key, with a given list of signers.
func TestSignatures(t *testing.T) {
	testneed.Program(t, "ssh-keygen")
	repo := newTestRepo(t)
	ctx, dir := context.Background(), repo.WorkTree
	keys := t.TempDir()
	key := func(name string) string {
		shell(t, keys, "ssh-keygen -q -t ed25519 -N '' -C "+name+" -f "+name)
		public, err := os.ReadFile(filepath.Join(keys, name+".pub"))
		if err != nil {
			t.Fatal(err)
		}
		return name + "@example.org " + string(public)
	}
	ada, eve := key("ada"), key("eve")
	signed := func(name string) ID {
		testGit(t, dir, "-c", "gpg.format=ssh", "-c", "user.signingKey="+filepath.Join(keys, name), "commit", "-q",
			"--allow-empty", "-S", "-m", "by "+name)
		return testHead(t, repo)
	}
	byAda, byEve := signed("ada"), signed("eve")
	testGit(t, dir, "commit", "-q", "--allow-empty", "--no-gpg-sign", "-m", "by nobody")
	unsigned := testHead(t, repo)
	raw := testGit(t, dir, "cat-file", "commit", string(byAda))
	forged := ID(strings.TrimSpace(testrepo.GitInput(t, dir, strings.Replace(raw, "by ada", "by eve", 1)+"\n",
		"hash-object", "-t", "commit", "-w", "--stdin")))
	check := func(signers string, want map[ID]SignatureState) {
		t.Helper()
		got, err := repo.Signatures(ctx, []ID{byAda, byEve, unsigned, forged, ID(strings.Repeat("1", 40))}, []byte(signers))
		if err != nil || len(got) != len(want) {
			t.Fatalf("%v, %v", got, err)
		}
		for id, state := range want {
			if got[id].State != state {
				t.Errorf("%s: %+v, want %s", testGit(t, dir, "log", "-1", "--format=%s", string(id)), got[id], state)
			}
		}
		if good := got[byAda]; good.State == SignatureGood && !good.By("ada@example.org") {
			t.Errorf("%+v", good)
		}
	}
	check(ada, map[ID]SignatureState{byAda: SignatureGood, byEve: SignatureUnknown, unsigned: SignatureMissing,
		forged: SignatureBad})
	check(ada+eve, map[ID]SignatureState{byAda: SignatureGood, byEve: SignatureGood, unsigned: SignatureMissing,
		forged: SignatureBad})
	check("", map[ID]SignatureState{byAda: SignatureUnknown, byEve: SignatureUnknown, unsigned: SignatureMissing,
		forged: SignatureBad})
	if got, err := repo.Signatures(ctx, nil, nil); err != nil || len(got) > 0 {
		t.Errorf("of nothing: %v, %v", got, err)
	}
}
