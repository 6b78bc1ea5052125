package gitstore

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// SignatureState is git's verdict on a commit's signature.
type SignatureState string

const (
	SignatureGood    SignatureState = "good"
	SignatureBad     SignatureState = "bad"     // the signature does not match the commit, or the signer is not allowed
	SignatureExpired SignatureState = "expired" // the signature or its key
	SignatureRevoked SignatureState = "revoked"
	SignatureUnknown SignatureState = "unknown" // git cannot tell: no such key, no list of signers, no program
	SignatureMissing SignatureState = "missing"
)

// Signature is the result of verifying a commit's signature.
type Signature struct {
	State  SignatureState `json:"state"`
	Signer string         `json:"signer,omitempty"` // the owner of the key: "Name <email>", or principals of ssh
	Key    string         `json:"key,omitempty"`    // fingerprint of the key
}

// signatureStates translates the letters of %G? in git-log(1).
var signatureStates = map[string]SignatureState{
	"G": SignatureGood, "B": SignatureBad, "X": SignatureExpired, "Y": SignatureExpired, "R": SignatureRevoked,
	"U": SignatureUnknown, "E": SignatureUnknown, "N": SignatureMissing,
}

// Signatures verifies commits as git does, with the user's gpg.* configuration. signers, if not nil, is the content
// of an ssh file of allowed signers that replaces gpg.ssh.allowedSignersFile. It runs one git process, which starts
// the verifying program for each signed commit. It leaves out commits that are not here.
func (r *Repo) Signatures(ctx context.Context, commits []ID, signers []byte) (map[ID]Signature, error) {
	stdin, found := odb.IDLines(r.commitsHere(ctx, commits)), map[ID]Signature{}
	if stdin == "" { // git would log HEAD
		return found, ctx.Err()
	}
	args := []string{
		"log", "--stdin", "--no-walk=unsorted", "-z", "--format=tformat:%H%n%G?%n%GS%n%GF%n%GK", "--no-patch", "--no-notes",
		"--no-color", "--no-decorate", "--",
	}
	if signers != nil {
		dir, err := os.MkdirTemp("", "git-runr-")
		file := filepath.Join(dir, "signers")
		if err == nil {
			defer os.RemoveAll(dir)
			err = os.WriteFile(file, signers, 0o600)
		}
		if err != nil {
			return nil, fmt.Errorf("verify signatures: %w", err)
		}
		args = append([]string{"-c", "gpg.ssh.allowedSignersFile=" + file}, args...)
	}
	out, err := r.dir.Call(ctx, gitdir.Call{Args: args, Stdin: strings.NewReader(stdin)})
	if err != nil {
		return nil, fmt.Errorf("verify signatures: %w", err)
	}
	for _, record := range splitNUL(out) {
		lines := strings.Split(record, "\n")
		if len(lines) != 5 || !r.objects.ValidID(ID(lines[0])) {
			return nil, fmt.Errorf("verify signatures: git answered %q", record)
		}
		found[ID(lines[0])] = Signature{State: cmp.Or(signatureStates[lines[1]], SignatureUnknown), Signer: lines[2],
			Key: cmp.Or(lines[3], lines[4])}
	}
	return found, nil
}

// By reports whether the signature is good and its signer owns an email address. An ssh signer is a comma-separated
// list of patterns, as in the file of allowed signers.
func (s Signature) By(email string) bool {
	if s.State != SignatureGood || email == "" {
		return false
	}
	email = strings.ToLower(email)
	if strings.Contains(s.Signer, "<") {
		return strings.EqualFold(ParseIdentity(s.Signer).Email, email)
	}
	matched := false
	for pattern := range strings.SplitSeq(strings.ToLower(s.Signer), ",") {
		name, negated := strings.CutPrefix(strings.TrimSpace(pattern), "!")
		ok, err := path.Match(name, email)
		switch {
		case err != nil || !ok:
		case negated:
			return false
		default:
			matched = true
		}
	}
	return matched
}
