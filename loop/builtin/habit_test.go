package builtin

import (
	"context"
	"testing"
)

// diffOf returns the files of a patch in git's format.
func diffOf(t *testing.T, patch string) []File {
	t.Helper()
	files, err := parseDiff(context.Background(), []byte(patch))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestExecutableBit(t *testing.T) {
	mode := func(path, old, new string) string {
		return "diff --git a/" + path + " b/" + path + "\nold mode " + old + "\nnew mode " + new + "\n"
	}
	for _, c := range []struct {
		patch string
		want  []string
	}{
		{mode("run.sh", "100755", "100644"), []string{"note executable-bit 0"}},
		{mode("README.md", "100644", "100755"), []string{"note executable-bit 0"}},
		{mode("run.sh", "100644", "100755"), nil},
		{mode("README.md", "100755", "100644"), nil},
		{mode("tool", "100755", "100644"), nil}, // the file's type is unknown
		{mode("tool", "100755", "100644") + "index 1..2\n--- a/tool\n+++ b/tool\n@@ -1,2 +1,2 @@\n #!/bin/sh\n-a\n+b\n",
			[]string{"note executable-bit 0"}},
	} {
		wantFound(t, review(diffOf(t, c.patch)...), c.want...)
	}
}

func TestLockFiles(t *testing.T) {
	npm := "diff --git a/web/package.json b/web/package.json\n--- a/web/package.json\n+++ b/web/package.json\n" +
		"@@ -1,4 +1,4 @@\n {\n   \"dependencies\": {\n-    \"left\": \"^1.0.0\",\n+    \"left\": \"^2.0.0\",\n" +
		"     \"right\": \"1\"\n"
	lock := "diff --git a/web/package-lock.json b/web/package-lock.json\n--- a/web/package-lock.json\n" +
		"+++ b/web/package-lock.json\n@@ -1 +1 @@\n-1\n+2\n"
	mod := "diff --git a/go.mod b/go.mod\n--- a/go.mod\n+++ b/go.mod\n@@ -1,3 +1,4 @@\n module m\n require (\n" +
		" \tx.org/a v1.0.0\n+\tx.org/b v1.2.0\n"
	for _, c := range []struct {
		name, patch string
		tree        map[string]int64
		want        []string
	}{
		{"the lock file stays", npm, map[string]int64{"web/package-lock.json": 9}, []string{"warning lock-file 3"}},
		{"it goes along", npm + lock, map[string]int64{"web/package-lock.json": 9}, nil},
		{"there is none", npm, nil, nil},
		{"another directory", npm, map[string]int64{"package-lock.json": 9}, nil},
		{"go.mod", mod, map[string]int64{"go.sum": 9}, []string{"warning lock-file 4"}},
	} {
		files := diffOf(t, c.patch)
		t.Run(c.name, func(t *testing.T) { wantFound(t, reviewed(Input{Files: files, Sizes: c.tree}), c.want...) })
	}
	// no dependency is locked here
	for _, line := range []string{`"version": "2.0.0",`, `"node": ">=18",`, `"test": "jest",`} {
		files := []File{{Path: "package.json", Mode: "100644", Added: []Line{{Number: 3, Text: "  " + line}}}}
		wantFound(t, reviewed(Input{Files: files, Sizes: map[string]int64{"package-lock.json": 1}}))
	}
	moved := []File{{Path: "go.mod", Mode: "100644", Added: []Line{{Number: 3, Text: "\tx.org/a v1.0.0"}},
		Removed: []Line{{Number: 9, Text: "\tx.org/a v1.0.0 // indirect"}}}}
	wantFound(t, reviewed(Input{Files: moved, Sizes: map[string]int64{"go.sum": 1}}))
}

func TestCodeFromText(t *testing.T) {
	for _, c := range []struct{ path, text, want string }{
		{"a.py", "x = eval(request.args['q'])\n", "warning code-from-text 1"},
		{"a.py", "os.system('rm ' + path)\n", "warning code-from-text 1"},
		{"a.js", "const x = eval(body)\n", "warning code-from-text 1"},
		{"a.js", "const f = new Function('a', body)\n", "warning code-from-text 1"},
		{"a.php", "eval($code);\n", "warning code-from-text 1"},
		{"a.py", "db.execute(\"SELECT * FROM users WHERE name = '\" + name + \"'\")\n", "warning sql-from-text 1"},
		{"a.py", "db.execute(f\"DELETE FROM users WHERE id = {uid}\")\n", "warning sql-from-text 1"},
		{"a.py", "db.execute(\"SELECT a FROM t WHERE b = '%s'\" % b)\n", "warning sql-from-text 1"},
		{"a.go", "\tq := fmt.Sprintf(\"SELECT a FROM t WHERE b = '%s'\", b)\n", "warning sql-from-text 1"},
		{"a.js", "db.query(`UPDATE t SET a = ${a} WHERE id = 1`)\n", "warning sql-from-text 1"},
		{"A.java", "String q = \"INSERT INTO t VALUES ('\" + v + \"')\";\n", "warning sql-from-text 1"},
		{"test_a.py", "x = eval(text)\n", "note code-from-text 1"},
	} {
		t.Run(c.path+" "+c.text, func(t *testing.T) { wantFound(t, review(newText(c.path, c.text)), c.want) })
	}
	for _, c := range []struct{ path, text string }{
		{"a.py", "os.system('clear')\nmodel.eval()\nx = ast.literal_eval(text)\n# eval(text)\ns = 'eval(x)'\n" +
			"def eval(self, x):\n    pass\n"},
		{"a.js", "const f = o.eval(x)\n// eval(x)\n"},
		{"a.go", "\tq := \"SELECT a FROM t WHERE b = ?\"\n\trows := db.Query(q+\" LIMIT 1\")\n"},
		{"a.go", "\treturn fmt.Errorf(\"select one from %s\", names)\n\tlog.Print(\"update \" + name + \" set\")\n"},
		{"a.py", "cursor.execute(\"SELECT a FROM t WHERE b = %s\", (b,))\n"},
		{"a.js", "db.query(`SELECT a FROM t WHERE b = $1`, [b])\n"},
	} {
		t.Run(c.path+" "+c.text, func(t *testing.T) { wantFound(t, review(newText(c.path, c.text))) })
	}
}

func TestSkippedAndDeletedTests(t *testing.T) {
	for _, c := range []struct{ path, text, want string }{
		{"test_a.py", "@pytest.mark.skip\ndef test_a():\n    pass\n", "warning skipped-test 1"},
		{"test_a.py", "@unittest.skip('broken')\ndef test_a(self):\n    pass\n", "warning skipped-test 1"},
		{"src/lib.rs", "    #[ignore]\n    fn reads() {}\n", "note skipped-test 1"},
		{"ATest.java", "  @Disabled\n  void reads() {}\n", "note skipped-test 1"},
	} {
		t.Run(c.path+" "+c.text, func(t *testing.T) { wantFound(t, review(newText(c.path, c.text)), c.want) })
	}
	wantFound(t,
		review(newText("test_a.py",
			"@pytest.mark.skip(reason='windows has no fork')\n@pytest.mark.skipif(windows)\ndef test_a():\n    pass\n")))

	head := "diff --git a/p_test.go b/p_test.go\n--- a/p_test.go\n+++ b/p_test.go\n@@ -1,5 +1,2 @@\n package p\n" +
		"-func TestReads(t *testing.T) {\n-\tt.Parallel()\n-}\n \n"
	code := "diff --git a/p.go b/p.go\n--- a/p.go\n+++ b/p.go\n@@ -1,2 +1,2 @@\n package p\n-\treturn 1\n+\treturn 2\n"
	gone := "diff --git a/p.go b/p.go\n--- a/p.go\n+++ b/p.go\n@@ -1,2 +1 @@\n package p\n-func Reads() {}\n"
	moved := "diff --git a/q_test.go b/q_test.go\n--- a/q_test.go\n+++ b/q_test.go\n@@ -1 +1,2 @@\n package p\n" +
		"+func TestReads(t *testing.T) {}\n"
	other := "diff --git a/q_test.go b/q_test.go\n--- a/q_test.go\n+++ b/q_test.go\n@@ -1 +1,2 @@\n package p\n" +
		"+func TestReadsAll(t *testing.T) {}\n"
	for _, c := range []struct {
		name, patch string
		want        []string
	}{
		{"the code stays", head + code, []string{"note deleted-test 0"}},
		{"its code goes", head + gone, nil},
		{"it moves", head + code + moved, nil},
		{"another one takes its place", head + code + other, nil},
		{"tests alone", head, nil},
	} {
		files := diffOf(t, c.patch)
		t.Run(c.name, func(t *testing.T) { wantFound(t, review(files...), c.want...) })
	}
}
