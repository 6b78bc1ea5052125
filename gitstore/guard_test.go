package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestExecutes checks settings that make git run or follow something, by their key and for common keys by their value.
func TestExecutes(t *testing.T) {
	repo := newTestRepo(t)
	repo.Program = "/bin/git-runr"
	for setting, want := range map[string]bool{
		"core.sshcommand=x": true, "core.fsmonitor=x": true, "core.fsmonitor=true": false, "core.worktree=/x": true,
		"core.bare=true": true, "core.bare=false": false, "core.editor=x": false, "core.excludesfile=x": false,
		"core.hookspath=/x": true, "core.hookspath=../x": true, "core.hookspath=.husky/_": false,
		"alias.st=status": false, "alias.st=!x": true, "alias.runr=x": true,
		"filter.a.clean=x": true, "filter.lfs.clean=git-lfs clean -- %f": false, "filter.lfs.clean=x": true,
		"remote.up.url=https://x/y": false, "remote.up.url=ext::x": true, "remote.up.pushurl=-x": true,
		"remote.up.uploadpack=x":                          true,
		"remote.up.fetch=+refs/heads/*:refs/remotes/up/*": false, "url.a.insteadof=b": true, "include.path=x": true,
		"diff.a.textconv=x": true, "diff.renames=true": false, "merge.a.driver=x": true, "merge.conflictstyle=diff3": false,
		"gpg.program=x": true, "gpg.ssh.program=x": true, "user.name=x": false, "user.signingkey=x": false,
		"branch.a.merge=x":  false,
		"submodule.a.url=x": false, "submodule.a.update=!x": true, "submodule.a.update=merge": false,
		"maintenance.auto=false":  false,
		"runr.agents.a.command=x": true, "runr.hooks.notify=x": true, "runr.loop.maxretries=2": false,
		"runr.program=/bin/git-runr": false, "runr.program=/x": true,
		"runr.worktree.setup=x": true, "runr.loop.commithooks=true": true, "pager.runr=x": true, "pager.runr=false": false,
	} {
		key, value, _ := strings.Cut(setting, "=")
		if got := repo.executes(context.Background(), key, value); got != want {
			t.Errorf("%s: %t", setting, got)
		}
	}
}

// TestAlterationsThatStopAreKept checks that an alteration that stops the work stays recorded however many follow.
func TestAlterationsThatStopAreKept(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	note := func(a Alteration) {
		t.Helper()
		if err := repo.NoteAlteration(ctx, a); err != nil {
			t.Fatal(err)
		}
	}
	note(Alteration{While: "the evil one worked", Files: []FileChange{{Path: "x", Executes: "a hook"}}})
	for range maxAlterations + 5 {
		note(Alteration{While: "another worked", Refs: []RefChange{{Ref: "refs/tags/v1"}}})
	}
	all, err := repo.Alterations(ctx)
	if err != nil || len(all) != maxAlterations+1 || all[0].While != "the evil one worked" {
		t.Errorf("%d are kept, the first while %q: %v", len(all), all[0].While, err)
	}
}

// TestRestoreOfWhatWasNotKept checks that nothing overwrites a file with content that it never had.
func TestRestoreOfWhatWasNotKept(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	hook := filepath.Join(repo.CommonDir, "hooks", "pre-commit")
	large := strings.Repeat("# large\n", guardedSize/8+1)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(hook, []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(hook), 0o777); err != nil {
		t.Fatal(err)
	}
	write(large)
	tree := checkoutOf(t, repo)
	guard, err := repo.Guard(ctx, tree, "one worked")
	if err != nil {
		t.Fatal(err)
	}
	defer guard.Close()
	write("#!/bin/sh\nevil\n")
	files := guard.Files(ctx)
	if len(files) != 1 || files[0].Executes != "a hook" {
		t.Fatalf("%+v", files)
	}
	if err := repo.NoteAlteration(ctx, Alteration{While: "one worked", At: time.Now(), Files: files}); err != nil {
		t.Fatal(err)
	}
	done, err := repo.RestoreAlterations(ctx, false)
	if err != nil || len(done) != 1 || !strings.Contains(done[0].Left, "was not kept") {
		t.Errorf("%+v, %v", done, err)
	}
	if data, _ := os.ReadFile(hook); string(data) != "#!/bin/sh\nevil\n" {
		t.Errorf("%q", data[:min(len(data), 80)])
	}
	if all, _ := repo.Alterations(ctx); len(all) != 1 {
		t.Errorf("%d are noted after a restore that left one", len(all))
	}
}

// TestRestoreSettingBySetting checks that later settings stay, and that a setting that was changed again stays.
func TestRestoreSettingBySetting(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	set := func(args ...string) { testGit(t, repo.WorkTree, append([]string{"config"}, args...)...) }
	set("remote.up.url", "https://a/b")
	set("user.name", "Ann")
	guard, err := repo.Guard(ctx, checkoutOf(t, repo), "one worked")
	if err != nil {
		t.Fatal(err)
	}
	defer guard.Close()
	set("core.fsmonitor", "/evil")
	set("user.name", "Eve")
	if err := repo.NoteAlteration(ctx, Alteration{While: "one worked", Files: guard.Files(ctx)}); err != nil {
		t.Fatal(err)
	}
	if repo.Altered(ctx) == nil {
		t.Error("nothing stands")
	}
	set("user.name", "Bea")
	set("core.abbrev", "12")
	if repo.Altered(ctx) == nil {
		t.Error("nothing stands after other settings were changed")
	}
	if done, err := repo.RestoreAlterations(ctx, false); err != nil || len(done) != 1 || done[0].Left != "" {
		t.Errorf("what stopped the work: %+v, %v", done, err)
	}
	done, err := repo.RestoreAlterations(ctx, true)
	if err != nil || len(done) != 1 || !strings.HasPrefix(done[0].What, "user.name") || done[0].Left == "" {
		t.Errorf("the rest: %+v, %v", done, err)
	}
	config := testGit(t, repo.WorkTree, "config", "--local", "--list")
	if strings.Contains(config, "fsmonitor") || !strings.Contains(config, "user.name=Bea") ||
		!strings.Contains(config, "core.abbrev=12") {
		t.Error(config)
	}
	if err := repo.Altered(ctx); err != nil {
		t.Error(err)
	}
}

// TestPlantedPager checks that a pager and an editor that an agent may have set do not run before somebody accepts
// them, and that a removed configuration stops the work.
func TestPlantedPager(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	t.Setenv("GIT_PAGER", "")
	os.Unsetenv("GIT_PAGER")
	t.Setenv("PAGER", "")
	t.Setenv("EDITOR", "true")
	os.Unsetenv("GIT_EDITOR")
	guard, err := repo.Guard(ctx, checkoutOf(t, repo), "one worked")
	if err != nil {
		t.Fatal(err)
	}
	defer guard.Close()
	testGit(t, repo.WorkTree, "config", "core.pager", "sh -c evil")
	testGit(t, repo.WorkTree, "config", "core.editor", "sh -c evil")
	if err := repo.NoteAlteration(ctx, Alteration{While: "one worked", Files: guard.Files(ctx)}); err != nil {
		t.Fatal(err)
	}
	for _, accepted := range []bool{false, true} {
		now, err := Open(ctx, repo.WorkTree)
		if err != nil {
			t.Fatal(err)
		}
		defer now.Close()
		pager, pagerErr := now.Pager(ctx, "show")
		editor, editorErr := now.Editor(ctx)
		if pagerErr != nil || editorErr != nil || strings.Contains(pager, "evil") != accepted ||
			strings.Contains(editor, "evil") != accepted {
			t.Errorf("accepted %t: %q, %q; %v, %v", accepted, pager, editor, pagerErr, editorErr)
		}
		if err := repo.AcceptAlterations(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(repo.CommonDir, "config")); err != nil {
		t.Fatal(err)
	}
	if files := guard.Files(ctx); len(files) != 1 || files[0].Executes != "it was removed" {
		t.Errorf("%+v", files)
	}
}

// TestGuardedIndexAndRemoteBranches checks that the user's index is compared without a lock, and that a status or a
// commit of the user is not reported as a change of it. A moved remote-tracking branch is reported and stops nothing.
// TestGuardReadsIndexOnce watches two turns that leave the user's index alone.
func TestGuardReadsIndexOnce(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	tree, err := repo.AddWorktree(ctx, "agent", "", testHead(t, repo))
	if err != nil {
		t.Fatal(err)
	}
	calls := filepath.Join(t.TempDir(), "calls")
	t.Setenv("GIT_TRACE", calls)
	for range 2 {
		guard, err := repo.Guard(ctx, tree, "one worked")
		if err != nil {
			t.Fatal(err)
		}
		guard.WatchCheckout(ctx)
		if found := guard.Changes(ctx); !found.Empty() {
			t.Errorf("changed: %+v", found)
		}
		guard.LooseFiles(ctx, true)
		guard.Close()
	}
	traced, err := os.ReadFile(calls)
	if read := strings.Count(string(traced), "git ls-files -s -v"); read != 1 {
		t.Errorf("git read the index %d times, not once: %v\n%s", read, err, traced)
	}
}

func TestGuardedIndexAndRemoteBranches(t *testing.T) {
	for name, c := range map[string]struct {
		do       string
		restaged bool
		ref      string
	}{
		"status":    {do: "touch -d 2020-01-01 f; git status", restaged: false},
		"commit":    {do: "echo x >f; git add f; git commit -q -m x", restaged: false, ref: "refs/heads/main"},
		"add":       {do: "echo x >f; git add f", restaged: true},
		"rm":        {do: "git rm -q --cached f", restaged: true},
		"flag":      {do: "git update-index --skip-worktree f", restaged: true},
		"locked":    {do: "touch .git/index.lock", restaged: false},
		"by remote": {do: "git update-ref refs/remotes/origin/main HEAD", ref: "refs/remotes/origin/main"},
	} {
		t.Run(name, func(t *testing.T) {
			repo, ctx := newTestRepo(t), context.Background()
			shell(t, repo.WorkTree, "echo f >f; git add f; git commit -q -m f")
			tree, err := repo.AddWorktree(ctx, "agent", "", testHead(t, repo))
			if err != nil {
				t.Fatal(err)
			}
			guard, err := repo.Guard(ctx, tree, "one worked")
			if err != nil {
				t.Fatal(err)
			}
			defer guard.Close()
			shell(t, repo.WorkTree, c.do)
			found := guard.Changes(ctx)
			if want := map[bool][]string{true: {repo.GitDir}}[c.restaged]; !slices.Equal(found.Staged, want) {
				t.Errorf("indexes that changed: %q, want %q", found.Staged, want)
			}
			refs := ""
			for _, moved := range found.Refs {
				refs += moved.Ref
			}
			if refs != c.ref || found.stops() {
				t.Errorf("refs that moved: %q, want %q; stops: %t", refs, c.ref, found.stops())
			}
		})
	}
}

// TestWorktreeThatIsBeingMade: a worktree whose files git has not written yet, or has just created, when an agent
// begins or ends is no change. A file that names another git directory is one.
func TestWorktreeThatIsBeingMade(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	dir := filepath.Join(t.TempDir(), "second")
	testGit(t, repo.WorkTree, "worktree", "add", "-q", "--detach", dir)
	made := filepath.Join(repo.CommonDir, "worktrees", "second", "commondir")
	for _, path := range []string{filepath.Join(dir, ".git"), made} {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write := func(text string) {
			t.Helper()
			_ = os.Remove(path)
			if text == "none" {
				return
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, before := range []string{"none", "", string(whole)} {
			for now, changes := range map[string]int{"none": 0, "": 0, string(whole): 0, "gitdir: " + t.TempDir(): 1} {
				if write(before); before == string(whole) && now == "" {
					changes = 1 // git does not take back what it has written
				}
				guard, err := repo.Guard(ctx, checkoutOf(t, repo), "one worked")
				if err != nil {
					t.Fatal(err)
				}
				write(now)
				if files := guard.Files(ctx); len(files) != changes {
					t.Errorf("%s, from %q to %q: %+v", path, before, now, files)
				}
				guard.Close()
			}
		}
		write(string(whole))
	}
}
