package checking

import (
	"fmt"
	"os"

	"github.com/git-runr/git-runr/loop/record"
)

func Gone(dir string) bool {
	info, err := os.Lstat(dir)
	return err != nil || !info.IsDir()
}

// RemovedTree returns the failure of an agent that removed its working directory.
func RemovedTree(name string) *record.Failure {
	return &record.Failure{Reason: record.ReasonAgentFailed,
		Detail: fmt.Sprintf("agent %q removed its working tree", name)}
}
