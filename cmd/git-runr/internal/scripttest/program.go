package scripttest

import (
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-runr/git-runr/gitstore/testtmp"
)

// Main is the TestMain of a package of scripts: the program that they drive is built
// once for all packages, stripped, since a script is mostly starts of processes; the
// binary of the test stands for the agents.
func Main(m *testing.M) {
	if isTest() {
		path, err := buildProgram()
		if err != nil {
			log.Fatalf("build the program that the scripts drive: %v", err)
		}
		os.Setenv("PATH", filepath.Dir(path)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
	Prepare()
	testscript.Main(m, map[string]func(){
		"fake-agent":  func() { syscall.Exit(FakeAgent(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"at-terminal": func() { syscall.Exit(atTerminal(os.Args[1:], os.Stdout, os.Stderr)) },
	})
}

// Prepare sets the environment of a test binary that starts the program. It does nothing
// in a process that stands for another program.
func Prepare() {
	testtmp.InMemory()
	if !isTest() {
		return
	}
	os.Setenv("GOCACHE", goCache())
	os.Unsetenv("XDG_CACHE_HOME") // worktrees lie below the HOME of a test
	flag.Parse()
	if most := flag.Lookup("test.parallel"); most.Value.String() == most.DefValue { // tests of processes wait much
		_ = most.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0)))
	}
}

// isTest reports whether this process is the test, and none of the programs that its
// binary stands for.
func isTest() bool {
	return strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")
}

// goCache returns Go's build cache, as a process with another HOME has to be told it.
func goCache() string {
	if dir := os.Getenv("GOCACHE"); dir != "" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return filepath.Join(os.TempDir(), "go-build")
	}
	return filepath.Join(cache, "go-build")
}

// ReadSources reads the directories of the program's sources. A test of a package with Main does not link the program,
// so this is how go test knows that an earlier result is out of date. It counts only in a test, not in its TestMain.
func ReadSources(t *testing.T) {
	t.Helper()
	top := filepath.Join("..", "..", "..", "..", "..")
	for _, dir := range []string{"cmd", "diagnose", "gitstore", "hooks", "loop"} {
		err := filepath.WalkDir(filepath.Join(top, dir), func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			t.Fatalf("read the program's sources: %v", err)
		}
	}
}

// buildProgram builds git-runr, with git-runr-serve beside it, beside the binary of the test, which go removes. It goes
// by `go run`, which keeps what it has linked in Go's cache and leaves out what only a
// debugger reads, and lets cp stand for running it.
func buildProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	const program = "github.com/git-runr/git-runr/cmd/git-runr"
	path := filepath.Join(filepath.Dir(self), "git-runr")
	for source, to := range map[string]string{program: path, program + "/git-runr-serve": path + "-serve"} {
		if out, err := exec.Command("go", "run", "-exec", "cp", source, to).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w\n%s", err, out)
		}
	}
	return path, nil
}
