package entrylog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/testrepo"
)

// importLogs makes logs of these lengths with git fast-import, with times that are not in order, and returns their
// tips.
func importLogs(t *testing.T, repo *Store, lengths ...int) Tips {
	t.Helper()
	var stream bytes.Buffer
	for i, n := range lengths {
		for k := range n {
			when := 1767323045 + (k*7919+i*31)%5000
			message := fmt.Sprintf("entry %d of log %d\n\n%s\n", k, i, strings.Repeat("{}", k%5))
			fmt.Fprintf(&stream, "commit %s\ncommitter A <a@b> %d +0100\ndata %d\n%s\n", logPrefix+testWriter(i), when,
				len(message), message)
		}
	}
	testrepo.GitInput(t, repo.dir.GitDir, stream.String(), "fast-import", "--quiet", "--force")
	return mustTips(t, repo)
}

func testWriter(i int) string { return fmt.Sprintf("%012x", 0xa00000000000+i) }

func mustTips(t *testing.T, repo *Store) Tips {
	t.Helper()
	tips, err := repo.Tips(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return tips
}

// walkEach returns what WalkAll should visit, read log by log.
func walkEach(t *testing.T, repo *Store, tips, known Tips) map[string][]Entry {
	t.Helper()
	logs := map[string][]Entry{}
	for writer, tip := range tips {
		if tip == known[writer] {
			continue
		}
		err := repo.Walk(context.Background(), writer, tip, known[writer], func(e Entry) error {
			logs[writer] = append(logs[writer], e)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(logs[writer])
	}
	return logs
}

func walkAll(ctx context.Context, repo *Store, tips, known Tips) (map[string][]Entry, error) {
	logs := map[string][]Entry{}
	err := repo.WalkAll(ctx, tips, known, func(e Entry) error {
		logs[e.Writer] = append(logs[e.Writer], e)
		return nil
	})
	return logs, err
}

// back returns the entry n before id in its log, or "" before the first.
func back(t *testing.T, repo *Store, id odb.ID, n int) odb.ID {
	t.Helper()
	if n == 0 {
		return id
	}
	list := strings.Fields(testGit(t, repo.dir.GitDir, "rev-list", "--first-parent", "--max-count", strconv.Itoa(n+1),
		string(id)))
	if len(list) <= n {
		return ""
	}
	return odb.ID(list[n])
}

// WalkAll visits the same entries as Walk does for each log, wherever the objects are stored and whatever part is
// known.
func TestWalkAll(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		repo := newTestRepoFormat(t, format)
		tips := importLogs(t, repo, 1, 3, 40, streamReads+90, 90)
		appended := mustAppend(t, repo, Record{Message: "one more"}) // loose
		tips[repo.Writer()] = appended.ID
		rng := rand.New(rand.NewPCG(1, 2))
		for _, what := range []string{"as they came", "gc"} {
			if what == "gc" {
				testGit(t, repo.dir.GitDir, "gc", "-q", "--prune=now") // with a commit-graph
			}
			for round := range 8 {
				known := Tips{}
				for writer, tip := range tips {
					if n := []int{0, 2, 100, 1000}[rng.IntN(4)]; round > 0 {
						known[writer] = back(t, repo, tip, n)
					}
				}
				got, err := walkAll(context.Background(), repo, tips, known)
				if want := walkEach(t, repo, tips, known); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s, %s, round %d: %d logs, %v", format, what, round, len(got), err)
				}
			}
		}
	}
}

// Thousands of logs are read by few processes.
func TestWalkAllOfManyLogs(t *testing.T) {
	repo := newTestRepoFormat(t, "sha1")
	tips := importLogs(t, repo, slices.Repeat([]int{2}, 3000)...)
	count := countGit(t)
	got, err := walkAll(context.Background(), repo, tips, nil)
	if err != nil || len(got) != 3000 || len(got[testWriter(2999)]) != 2 {
		t.Errorf("%d logs, %v", len(got), err)
	}
	if n := count(); n > 4 {
		t.Errorf("%d processes of git", n)
	}
}

// countGit counts the git processes from now on, from git's own trace.
func countGit(t *testing.T) func() int {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace")
	t.Setenv("GIT_TRACE2_EVENT", path)
	return func() int {
		return strings.Count(testrepo.ReadFile(t, filepath.Dir(path), "trace"), `"event":"start"`)
	}
}

// A few hundred entries are read without a process, whether or not a part of the logs is known.
func TestWalkAllOfFew(t *testing.T) {
	repo := newTestRepoFormat(t, "sha1")
	tips := importLogs(t, repo, 100, 100, streamReads-200)
	count := countGit(t)
	testGit(t, repo.dir.GitDir, "version") // so that there is a trace
	got, err := walkAll(context.Background(), repo, tips, nil)
	if err != nil || len(got) != 3 || len(got[testWriter(2)]) != streamReads-200 {
		t.Errorf("%d logs, %v", len(got), err)
	}
	if n := count(); n != 1 {
		t.Errorf("%d processes of git", n-1)
	}
}

func TestWalkAllRefuses(t *testing.T) {
	missing := odb.ID(strings.Repeat("ab", 20))
	for _, n := range []int{10, streamReads + 90} { // read one by one, and read by git
		repo := newTestRepoFormat(t, "sha1")
		tips := importLogs(t, repo, n, n, n)
		a, b := testWriter(0), testWriter(1)
		with := func(change func(tips, known Tips)) (Tips, Tips) {
			other, known := maps.Clone(tips), Tips{}
			change(other, known)
			return other, known
		}
		for name, c := range map[string]struct {
			change func(tips, known Tips)
			want   []error
		}{
			"known is missing": {func(_, known Tips) { known[a] = missing }, []error{gitdir.ErrNotFound}},
			"known is no id":   {func(_, known Tips) { known[a] = "--all" }, []error{gitdir.ErrNotFound}},
			"tip is no id":     {func(tips, _ Tips) { tips[a] = "--all" }, []error{gitdir.ErrNotFound}},
			"known is another's": {func(tips, known Tips) { known[a] = back(t, repo, tips[b], 2) },
				[]error{gitdir.ErrNotFound, ErrEntangled}},
			"tip is older than known": {func(tips, known Tips) { known[a] = tips[a]; tips[a] = back(t, repo, tips[a], 3) },
				[]error{gitdir.ErrNotFound, ErrEntangled}},
			"tip is missing": {func(tips, _ Tips) { tips[a] = missing }, []error{gitdir.ErrCorrupt}},
		} {
			tips, known := with(c.change)
			_, err := walkAll(context.Background(), repo, tips, known)
			if !slices.ContainsFunc(c.want, func(want error) bool { return errors.Is(err, want) }) {
				t.Errorf("%s, logs of %d: %v", name, n, err)
			}
		}
	}
}

// If logs share entries, WalkAll reports it, or visits each log as Walk would.
func TestWalkAllOfSharedHistory(t *testing.T) {
	for name, change := range map[string]func(repo *Store, tips Tips) (Tips, Tips){
		"one tip twice": func(_ *Store, tips Tips) (Tips, Tips) {
			tips[testWriter(1)] = tips[testWriter(0)]
			return tips, nil
		},
		"a tip within a log": func(r *Store, tips Tips) (Tips, Tips) {
			tips[testWriter(1)] = back(t, r, tips[testWriter(0)], 70)
			return tips, nil
		},
		"a fork": func(r *Store, tips Tips) (Tips, Tips) {
			tips[testWriter(1)] = fork(t, r, back(t, r, tips[testWriter(0)], 70))
			return tips, nil
		},
		"a fork before known": func(r *Store, tips Tips) (Tips, Tips) {
			tips[testWriter(1)] = fork(t, r, back(t, r, tips[testWriter(0)], 100))
			return tips, Tips{testWriter(0): back(t, r, tips[testWriter(0)], 90)}
		},
	} {
		for _, n := range []int{150, streamReads + 90} {
			repo := newTestRepoFormat(t, "sha1")
			tips, known := change(repo, importLogs(t, repo, n, n))
			got, err := walkAll(context.Background(), repo, tips, known)
			if err == nil && (!reflect.DeepEqual(got, walkEach(t, repo, tips, known))) ||
				err != nil && !errors.Is(err, ErrEntangled) {
				t.Errorf("%s, logs of %d: %d logs, %v", name, n, len(got), err)
			}
			if n > streamReads && known == nil && err == nil { // git reads the rest of both logs
				t.Errorf("%s, logs of %d: not told", name, n)
			}
		}
	}
}

// fork returns a new commit on top of another.
func fork(t *testing.T, repo *Store, of odb.ID) odb.ID {
	t.Helper()
	return odb.ID(testGit(t, repo.dir.GitDir, "commit-tree", "-p", string(of), "-m", "other", string(of)+"^{tree}"))
}

// WalkAll reports a lost or damaged object, wherever it is stored.
func TestWalkAllOfDamage(t *testing.T) {
	for name, how := range map[string]func(*testing.T, *Store, odb.ID){"missing": loseObject, "damaged": damageObject,
		"damaged in a pack": damagePacked} {
		for _, n := range []int{10, streamReads + 60} {
			repo := newTestRepoFormat(t, "sha1")
			tips := importLogs(t, repo, n, n)
			onePack(t, repo)
			allLoose(t, repo)
			how(t, repo, back(t, repo, tips[testWriter(0)], n-5))
			if _, err := walkAll(context.Background(), openTestRepo(t, repo.dir.WorkTree), tips, nil); !errors.Is(err,
				gitdir.ErrCorrupt) || errors.Is(err, gitdir.ErrNotFound) {
				t.Errorf("%s, logs of %d: %v", name, n, err)
			}
		}
	}
}

// damagePacked changes bytes of an object in the repository's only pack.
func damagePacked(t *testing.T, repo *Store, id odb.ID) {
	t.Helper()
	pack := onePack(t, repo)
	list := testrepo.GitInput(t, repo.dir.WorkTree,
		testrepo.ReadFile(t, filepath.Dir(pack), strings.TrimSuffix(filepath.Base(pack), ".pack")+".idx"), "show-index")
	for line := range strings.Lines(list) {
		if fields := strings.Fields(line); fields[1] == string(id) {
			at, err := strconv.Atoi(fields[0])
			if err != nil {
				t.Fatal(err)
			}
			spoil(t, pack, func(data []byte) []byte {
				for i := range 20 {
					data[at+10+i] ^= 0xff
				}
				return data
			})
			return
		}
	}
	t.Fatalf("%s is not in %s", id, pack)
}

// In a shallow clone a log ends before its beginning, and WalkAll reports that.
func TestWalkAllOfCutLogs(t *testing.T) {
	repo := newTestRepoFormat(t, "sha1")
	tips := importLogs(t, repo, streamReads+90)
	cut := back(t, repo, tips[testWriter(0)], streamReads+20)
	writeTestFile(t, repo.dir.GitDir, "shallow", string(cut)+"\n")
	if got, err := walkAll(context.Background(), repo, tips, nil); !errors.Is(err, ErrEntangled) {
		t.Errorf("%d entries, %v", len(got[testWriter(0)]), err)
	}
}

// WalkAll ignores replacement objects, which somebody may have put in place of an entry.
func TestWalkAllIgnoresReplacements(t *testing.T) {
	repo := newTestRepoFormat(t, "sha1")
	tips := importLogs(t, repo, streamReads+90)
	testGit(t, repo.dir.GitDir, "replace", "--graft", string(back(t, repo, tips[testWriter(0)], streamReads+20)))
	if got, err := walkAll(context.Background(), repo, tips, nil); err != nil ||
		len(got[testWriter(0)]) != streamReads+90 {
		t.Errorf("%d entries, %v", len(got[testWriter(0)]), err)
	}
}

// However a walk ends, no git process is left.
func TestWalkAllLeavesNoProcess(t *testing.T) {
	repo := newTestRepoFormat(t, "sha1")
	tips := importLogs(t, repo, 20_000, 20_000) // more than the pipes hold
	stop := errors.New("stop")
	for name, visit := range map[string]func(cancel func()) error{
		"stopped":   func(func()) error { return stop },
		"cancelled": func(cancel func()) error { cancel(); return nil },
	} {
		ctx, cancel := context.WithCancel(context.Background())
		want := map[string]error{"stopped": stop, "cancelled": context.Canceled}[name]
		seen := 0
		err := repo.WalkAll(ctx, tips, nil, func(Entry) error {
			if seen++; seen <= streamReads { // git is not started yet
				return nil
			}
			return visit(cancel)
		})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		if left := children(t); left != "" {
			t.Errorf("%s: processes are left: %s", name, left)
		}
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := walkAll(gone, repo, tips, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}

// children returns the running child processes of this process.
func children(t *testing.T) string {
	t.Helper()
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	if len(lists) == 0 {
		t.Skip("no /proc/self/task/*/children")
	}
	var all strings.Builder
	for _, list := range lists {
		data, _ := os.ReadFile(list) // the thread may have ended
		all.Write(data)
	}
	return all.String()
}
