package gitdir

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestLookSeesWhatGitSays checks that look finds what git finds, and nothing in uncertain cases.
func TestLookSeesWhatGitSays(t *testing.T) {
	type repo = func(t *testing.T, top string) (dir string)
	sub := func(t *testing.T, top string) string { return made(t, filepath.Join(top, "sub", "deep er")) }
	then := func(dir repo, argv ...string) repo {
		return func(t *testing.T, top string) string { run(t, top, argv...); return dir(t, top) }
	}
	top := func(_ *testing.T, top string) string { return top }
	for name, c := range map[string]struct {
		repo repo
		seen bool
	}{
		"top":                 {top, true},
		"below":               {sub, true},
		"detached":            {then(top, "git", "checkout", "-q", "--detach"), true},
		"branch with a slash": {then(top, "git", "checkout", "-qb", "a/b"), true},
		"unborn":              {then(top, "git", "checkout", "-q", "--orphan", "none"), true},
		"through a link":      {func(t *testing.T, top string) string { return linkTo(t, top) }, true},
		"a line end in its name": {func(t *testing.T, top string) string { return made(t, filepath.Join(top, "a\nb")) },
			true},
		"a worktree of its own": {then(sub, "git", "config", "extensions.worktreeConfig", "true"), true},
		"partial":               {then(sub, "git", "config", "extensions.partialClone", "origin"), true},
		"inside .git":           {func(_ *testing.T, top string) string { return filepath.Join(top, ".git", "refs") }, false},
		"linked": {then(func(_ *testing.T, top string) string { return top + "-linked" }, "git", "worktree",
			"add", "-q", "../repo-linked"), false},
		"bare": {then(func(_ *testing.T, top string) string { return top + ".git" }, "git", "clone", "-q",
			"--bare", ".", "../repo.git"), false},
		"sha256": {then(func(_ *testing.T, top string) string { return top + "256" }, "git", "init", "-q",
			"--object-format=sha256", "../repo256"), false},
		"a file":           {func(_ *testing.T, top string) string { return filepath.Join(top, "a.txt") }, false},
		"not there":        {func(_ *testing.T, top string) string { return filepath.Join(top, "none") }, false},
		"not a repository": {func(t *testing.T, _ string) string { return t.TempDir() }, false},
		"HEAD below":       {then(sub, "sh", "-c", "mkdir -p 'sub/deep er'; touch 'sub/deep er/HEAD'"), false},
		"a bare one below": {then(func(_ *testing.T, top string) string { return top + "/b.git" }, "git", "init", "-q",
			"--bare", "b.git"), false},
		"half a .git below": {then(func(_ *testing.T, top string) string { return top + "/h/x" }, "mkdir", "-p",
			"h/.git/objects", "h/.git/refs", "h/x"), false},
		".git is a link":       {then(top, "sh", "-c", "mv .git ../elsewhere && ln -s ../elsewhere .git"), false},
		"HEAD is damaged":      {then(top, "sh", "-c", "echo nonsense >.git/HEAD"), false},
		"HEAD is a link":       {then(top, "ln", "-sf", "refs/heads/main", ".git/HEAD"), false},
		"refs are gone":        {then(top, "rm", "-r", ".git/refs"), false},
		"core.worktree":        {then(top, "git", "config", "core.worktree", "../sub"), false},
		"core.bare":            {then(top, "git", "config", "core.bare", "true"), false},
		"core.bare in words":   {then(top, "git", "config", "core.bare", "off"), false},
		"core.ignorecase":      {then(top, "git", "config", "core.ignorecase", "true"), false},
		"of a later version":   {then(top, "git", "config", "core.repositoryformatversion", "99"), false},
		"of no version":        {then(top, "git", "config", "--unset", "core.repositoryformatversion"), false},
		"an unknown extension": {then(top, "git", "config", "extensions.unheardOf", "1"), false},
		"an included worktree": {then(top, "sh", "-c",
			"printf '[core]\\n\\tworktree = ../x\\n' >.git/more && git config include.path more"), false},
		"an included format": {then(top, "sh", "-c",
			"printf '[extensions]\\n\\tobjectFormat = sha256\\n' >.git/more && git config include.path more"), false},
		"not configured":    {then(top, "sh", "-c", ": >.git/config"), false},
		"config is damaged": {then(top, "sh", "-c", "echo '[' >.git/config"), false},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range map[string]string{"HOME": t.TempDir(), "GIT_CONFIG_GLOBAL": os.DevNull,
				"GIT_CONFIG_NOSYSTEM": "1"} {
				t.Setenv(key, value)
			}
			checkLook(t, c.repo(t, scratchRepo(t)), c.seen)
		})
	}
}

// TestLookAsksWhereVariablesSay checks that look leaves it to git if variables of a hook or a person name a place.
func TestLookAsksWhereVariablesSay(t *testing.T) {
	top := scratchRepo(t)
	for name, value := range map[string]string{
		"GIT_DIR": top + "/.git", "GIT_WORK_TREE": top, "GIT_COMMON_DIR": top + "/.git",
		"GIT_OBJECT_DIRECTORY":    top + "/.git/objects",
		"GIT_CEILING_DIRECTORIES": filepath.Dir(top), "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1", "GIT_CONFIG_COUNT": "0",
		"GIT_CONFIG": os.DevNull,
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			if got := look(Call{Dir: top, Bare: true}); got != nil {
				t.Errorf("found %+v", got)
			}
		})
	}
	if look(Call{Dir: top, Bare: true}) == nil {
		t.Error("not found without them")
	}
}

// TestLookAsksAboutSomebodyElses checks that git decides whether another user's repository is safe.
func TestLookAsksAboutSomebodyElses(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("files can be given to somebody else by root only")
	}
	for _, path := range []string{"", ".git"} {
		top := scratchRepo(t)
		if err := os.Chown(filepath.Join(top, path), 65534, -1); err != nil {
			t.Fatal(err)
		}
		checkLook(t, top, false)
		if _, err := OpenIn(t.Context(), Call{Dir: top, Bare: true}); err == nil {
			t.Errorf("%q is somebody else's, and was opened", path)
		}
	}
}

// checkLook compares the result of look with git's.
func checkLook(t *testing.T, dir string, want bool) {
	t.Helper()
	c := Call{Dir: dir, Bare: true}
	place := look(c)
	list := c
	list.Args = []string{"config", "--list", "-z", "--show-scope"}
	out, listErr := list.Run(t.Context())
	seen := place != nil && listErr == nil && parseListing(string(out)).plain()
	if seen != want {
		t.Errorf("seen without git: %t, want %t (%+v, %v)", seen, want, place, listErr)
	}
	said, err := discover(t.Context(), c)
	if !seen {
		return
	}
	if err != nil {
		t.Fatalf("found %+v, and git says %v", place, err)
	}
	if place.GitDir != said.GitDir || place.CommonDir != said.CommonDir || place.WorkTree != said.WorkTree ||
		place.Prefix != said.Prefix ||
		place.Bare != said.Bare || place.Format != said.Format {
		t.Errorf("found %+v, and git says %+v", place, said.Place)
	}
}

// scratchRepo creates a repository with a commit on main.
func scratchRepo(t *testing.T) string {
	t.Helper()
	top := filepath.Join(t.TempDir(), "repo")
	made(t, top)
	if err := os.WriteFile(filepath.Join(top, "a.txt"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, top, "git", "init", "-q", "-b", "main")
	run(t, top, "git", "add", ".")
	run(t, top, "git", "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-qm", "first")
	return top
}

func made(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func linkTo(t *testing.T, dir string) string {
	t.Helper()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	return link
}

func run(t *testing.T, dir string, argv ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
}
