package other

import (
	"testing"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/scripttest"
)

func TestMain(m *testing.M) { scripttest.Main(m) }

func TestScript(t *testing.T) { scripttest.Run(t, "other") }
