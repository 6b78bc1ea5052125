package builtin

import (
	"fmt"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// Said is what a commit says of itself.
type Said struct {
	Commit  gitstore.ID
	Message string
}

// pathSecrets finds secrets in the path of a file that is new or renamed.
func pathSecrets(f File, k kind) []reply.Finding {
	if !f.Named {
		return nil
	}
	var found []reply.Finding
	clean, _ := visible(f.Path)
	for _, m := range scanSecrets(clean, secretScan{sureOnly: true}) {
		finding := secretFinding(f, k, m, "", 0, 0)
		finding.Issue = fmt.Sprintf("a secret is in the name of a file: %s%s", m.rule.ID, hint(clean[m.start:m.end]))
		found = append(found, finding)
	}
	return found
}

// messageSecrets finds secrets in the message of a commit. The findings have no file: their place is the commit.
func messageSecrets(said Said) []reply.Finding {
	if !mayHoldSecret(said.Message) {
		return nil
	}
	var found []reply.Finding
	clean, _ := visible(said.Message)
	for _, m := range scanSecrets(clean, secretScan{sureOnly: true}) {
		found = append(found, reply.Finding{
			Severity: reply.Critical, Rule: record.RuleSecret,
			Issue: fmt.Sprintf("a secret is in the message of commit %s: %s%s", said.Commit.Short(), m.rule.ID, hint(clean[m.start:m.end])),
			Fix:   "reword the commit (git commit --amend, git rebase -i) and revoke the secret; if it is not one, end the line with gitleaks:allow",
		})
	}
	return found
}

// MessageSecret describes the first secret in the message of a commit as a finding; "" if there is none.
func MessageSecret(commit gitstore.ID, message string) string {
	for _, f := range messageSecrets(Said{commit, message}) {
		return fmt.Sprintf("%s %s", f.Severity, f.Issue)
	}
	return ""
}
