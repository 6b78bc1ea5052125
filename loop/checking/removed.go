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

// RemovedTree returns the failure of an agent whose working directory was removed while it worked, by whomever.
func RemovedTree(name string) *record.Failure {
	return &record.Failure{Reason: record.ReasonAgentFailed,
		Detail: fmt.Sprintf("the working tree was removed while agent %q worked in it", name)}
}
