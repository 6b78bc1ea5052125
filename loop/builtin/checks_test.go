package builtin

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// again returns a check that failed twice on the same tree.
func again(first, second string) record.CheckResult {
	result := failed("", first)
	result.Again = second
	return result
}

func failed(command, output string) record.CheckResult {
	return record.CheckResult{Name: "test", Command: command, ExitCode: 1, Output: output}
}

const goFailure = `--- FAIL: TestTotal (0.00s)
    --- FAIL: TestTotal/two (0.00s)
        cart_test.go:8: Total = 1, want 3
            more
        cart_test.go:9: second
--- FAIL: TestPlain (0.00s)
FAIL
FAIL	example.com/shop/cart	0.009s
ok  	example.com/shop/tax	0.002s
FAIL
`

const goVerbose = `=== RUN   TestTotal
=== RUN   TestTotal/two
    cart_test.go:8: Total = 1, want 3
        more
=== RUN   TestTotal/ok
--- FAIL: TestTotal (0.00s)
    --- FAIL: TestTotal/two (0.00s)
    --- PASS: TestTotal/ok (0.00s)
=== RUN   TestLog
    cart_test.go:15: only a log
--- PASS: TestLog (0.00s)
FAIL
FAIL	example.com/shop/cart	0.007s
FAIL
`

const goPanics = `--- FAIL: TestRate (0.00s)
panic: runtime error: invalid memory address or nil pointer dereference [recovered, repanicked]
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x52e330]

goroutine 21 [running]:
testing.tRunner.func1.2({0x55a880, 0x6cacb0})
	/usr/local/go/src/testing/testing.go:1974 +0x232
panic({0x55a880?, 0x6cacb0?})
	/usr/local/go/src/runtime/panic.go:860 +0x13a
example.com/shop/tax.Rate(...)
	/home/me/shop/tax/tax.go:3
example.com/shop/tax.TestRate(0x4c2604a2488)
	/home/me/shop/tax/tax_test.go:6 +0x30
created by testing.(*T).Run in goroutine 1
	/usr/local/go/src/testing/testing.go:2101 +0x4c5
FAIL	example.com/shop/tax	0.044s
FAIL
`

const goBuild = `# example.com/shop/cart [example.com/shop/cart.test]
cart/cart.go:5:34: undefined: y
FAIL	example.com/shop/cart [build failed]
FAIL
`

const goVet = `# example.com/shop/cart
# [example.com/shop/cart]
cart/cart.go:7:32: fmt.Printf format %s has arg x of wrong type int
vet: ./main.go:3:1: expected declaration
`

const testify = `--- FAIL: TestSum (0.00s)
    sum_test.go:12: 
        	Error Trace:	/home/me/shop/sum/sum_test.go:12
        	Error:      	Not equal: 
        	            	expected: 1
        	            	actual  : 2
FAIL
FAIL	example.com/shop/sum	0.009s
`

const cargoTest = `   Compiling shop v0.1.0 (/home/me/shop)
warning: function ` + "`unused`" + ` is never used
 --> src/lib.rs:3:4
  |
thread 'tests::two' (31131) panicked at src/lib.rs:10:9:
assertion ` + "`left == right`" + ` failed: sum
  left: 1
 right: 3
stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/59807616/library/std/src/panicking.rs:689:5
test result: FAILED. 0 passed; 1 failed
error: test failed, to rerun pass ` + "`--lib`\n"

const cargoBuild = `error[E0308]: mismatched types
  --> src/lib.rs:13:23
   |
13 | pub fn bad() -> i32 { "x" }
error: could not compile ` + "`shop`" + ` (lib) due to 1 previous error
`

const gcc = `a.c: In function ‘main’:
a.c:1:20: error: ‘x’ undeclared (first use in this function)
    1 | int main(){ return x; }
a.c:1:20: note: each undeclared identifier is reported only once
b.c:4:1: warning: unused variable
`

const nodeTest = `TAP version 13
# Subtest: total adds
not ok 1 - total adds
  ---
  location: '/home/me/shop/src/cart.test.js:3:1'
  stack: |-
    TestContext.<anonymous> (/home/me/shop/src/cart.test.js:4:10)
    Test.run (node:internal/test_runner/test:796:25)
`

const jest = `FAIL src/cart.test.ts
  ● cart › adds

    expect(received).toBe(expected)

      at Object.toBe (src/cart.test.ts:12:15)
      at node_modules/jest-circus/build/run.js:120:7
`

const eslintStylish = "\x1b[4msrc/a.js\x1b[24m\n  3:5  \x1b[31merror\x1b[39m  'x' is not defined  no-undef\n" +
	"  9:1  warning  Unexpected console  no-console\n\n1 problem\n"

const pytest = `    def test_total():
>       assert total([1, 2]) == 3
E       assert 1 == 3
E        +  where 1 = total([1, 2])

tests/test_cart.py:7: AssertionError
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_total - assert 1 == 3
`

const unittest = `FAIL: test_a (test_x.T.test_a)
Traceback (most recent call last):
  File "/home/me/shop/tests/test_x.py", line 4, in test_a
    self.assertEqual(1, 2)
AssertionError: 1 != 2
`

func TestCheckFindingsReadPlaces(t *testing.T) {
	for _, c := range []struct {
		name, command, output string
		changed               []string
		want                  []string // place: words of the issue
	}{
		{"go test", "go test ./cart", goFailure, []string{"cart/cart.go"}, []string{
			"cart/cart_test.go:8: TestTotal/two: Total = 1, want 3 more; second", ": TestPlain failed"}},
		{"go test in a module below", "cd ./svc && go test ./cart", goFailure, []string{"svc/cart/cart.go"}, []string{
			"svc/cart/cart_test.go:8: TestTotal/two: Total = 1", ": TestPlain failed"}},
		{"go test -v", "", goVerbose, []string{"cart/cart_test.go"},
			[]string{"cart/cart_test.go:8: TestTotal/two: Total = 1, want 3 more"}},
		{"go test, package not changed", "", goVerbose, []string{"README.md"},
			[]string{": TestTotal/two: cart_test.go:8: Total = 1, want 3 more"}},
		{"go test at the top", "", strings.ReplaceAll(goVerbose, "example.com/shop/cart", "example.com/shop"),
			[]string{"cart.go"},
			[]string{"cart_test.go:8: TestTotal/two"}},
		{"go test of another package", "go test ./...", goFailure, []string{"tax/tax.go"}, []string{
			"cart/cart_test.go:8: TestTotal/two", ": TestPlain failed"}},
		{"panic", "", goPanics, []string{"tax/tax.go"},
			[]string{"tax/tax.go:3: TestRate: panic: runtime error: invalid memory"}},
		{"panic, test changed", "", goPanics, []string{"tax/tax_test.go"}, []string{"tax/tax_test.go:6: TestRate: panic"}},
		{"go build", "", goBuild, []string{"cart/cart.go"}, []string{"cart/cart.go:5: undefined: y"}},
		{"go vet", "", goVet, []string{"cart/cart.go"},
			[]string{"cart/cart.go:7: fmt.Printf format %s", "main.go:3: expected declaration"}},
		{"go vet below", "cd './odd dir' && go vet .", "./x.go:2:1: bad\n", nil, []string{"odd dir/x.go:2: bad"}},
		{"testify", "", testify, []string{"sum/sum.go"},
			[]string{"sum/sum_test.go:12: TestSum: Error: Not equal: expected: 1 actual : 2"}},
		{"cargo test", "cargo test", cargoTest, []string{"src/lib.rs"},
			[]string{"src/lib.rs:10: tests::two: panic: assertion"}},
		{"cargo build", "cargo test", cargoBuild, []string{"src/lib.rs"}, []string{"src/lib.rs:13: mismatched types"}},
		{"gcc", "make", gcc, []string{"a.c"}, []string{"a.c:1: error: ‘x’ undeclared"}},
		{"node", "npm test", nodeTest, []string{"src/cart.test.js"}, []string{"src/cart.test.js:3: total adds"}},
		{"jest", "npm test", jest, []string{"src/cart.ts"},
			[]string{"src/cart.test.ts:12: cart › adds: expect(received).toBe(expected)"}},
		{"tsc", "npm run typecheck", "src/a.ts(3,5): error TS2322: Type 'x' is bad.\nsrc/b.tsx:4:1 - error TS1: no\n", nil,
			[]string{"src/a.ts:3: error TS2322", "src/b.tsx:4: error TS1"}},
		{"eslint", "npm run lint", eslintStylish, nil, []string{"src/a.js:3: error: 'x' is not defined"}},
		{"eslint unix", "", "/home/me/shop/src/a.js:3:5: 'x' is not defined. [Error/no-undef]\n", []string{"src/a.js"},
			[]string{"src/a.js:3: 'x' is not defined"}},
		{"pytest", "pytest", pytest, []string{"tests/test_cart.py"},
			[]string{"tests/test_cart.py:7: test_total: AssertionError: assert 1 == 3"}},
		{"unittest", "python3 -m unittest", unittest, []string{"tests/test_x.py"},
			[]string{"tests/test_x.py:4: test_a: AssertionError: 1 != 2"}},
		{"unittest, file not known", "", unittest, nil, []string{": test_a: AssertionError: 1 != 2"}},
		{"mypy", "mypy .", "a/b.py:3: error: Incompatible types\nFound 1 error\n", nil,
			[]string{"a/b.py:3: error: Incompatible types"}},
		{"maven", "mvn test", "[ERROR] /home/me/shop/src/A.java:[12,5] cannot find symbol\n", []string{"src/A.java"},
			[]string{"src/A.java:12: cannot find symbol"}},
		{"nothing to read", "sh x", "line one\n\nsomething broke\n", nil, []string{": failed: line one | something broke"}},
		{"no output", "false", "", nil, []string{": failed: exit status 1, no output"}},
		{"places of others", "x",
			"/usr/lib/python3/x.py:3: boom\nhttp://host:80: refused\n12:30:45: started\nlocalhost:8080: in use\n" +
				"node_modules/x/a.js:3:1: bad\n../up.go:3: x\n", nil, []string{": failed: "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, f := range leaks.checkFindings(Judge(failed(c.command, c.output), nil, c.changed)) {
				if f.Severity != reply.Warning || f.Rule != "check:test" {
					t.Errorf("%+v", f)
				}
				issue, _ := strings.CutPrefix(f.Issue, "check test: ")
				place := f.Place()
				got = append(got, place+": "+issue)
			}
			if len(got) != len(c.want) {
				t.Fatalf("got %q, want %q", got, c.want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], c.want[i]) {
					t.Errorf("got %q, want %q", got[i], c.want[i])
				}
			}
		})
	}
}

func TestCheckFindingsAreLimited(t *testing.T) {
	var out strings.Builder
	for i := range 30 {
		out.WriteString("a/x.go:" + strings.Repeat("1", i%8+1) + "1: problem " + strings.Repeat("x", i) + "\n")
		out.WriteString("a/y" + strings.Repeat("y", i) + ".go:1: " + strings.Repeat("long ", 200) + "\n")
	}
	found := leaks.checkFindings(Judge(failed("", out.String()), nil, nil))
	if len(found) != maxPerCheck || !strings.Contains(found[maxPerCheck-1].Issue, "more)") {
		t.Fatalf("%d findings", len(found))
	}
	for _, f := range found {
		if len(f.Issue) > 700 {
			t.Errorf("issue of %d bytes", len(f.Issue))
		}
	}
}

func TestChecksThatCouldNotRun(t *testing.T) {
	pass := &record.CheckResult{Name: "test"}
	for _, c := range []struct {
		name   string
		result record.CheckResult
		base   *record.CheckResult
		failed bool
	}{
		{"passed", record.CheckResult{}, nil, false},
		{"failed", failed("", "x"), nil, true},
		{"timeout", record.CheckResult{ExitCode: -1, Reason: "timeout"}, pass, true},
		{"timeout, nothing before", record.CheckResult{ExitCode: -1, Reason: "timeout"}, nil, true},
		{"cancelled", record.CheckResult{ExitCode: -1, Reason: "cancelled"}, pass, false},
		{"untrusted", record.CheckResult{ExitCode: -1, Reason: "untrusted_config"}, nil, false},
		{"not found", record.CheckResult{ExitCode: 127, Output: "sh: 1: jest: not found"}, nil, false},
		{"not found, base passes", record.CheckResult{ExitCode: 127, Output: "sh: 1: jest: not found"}, pass, true},
		{"no permission", record.CheckResult{ExitCode: 126}, nil, false},
		{"killed", record.CheckResult{ExitCode: -1, Reason: "signal:KILL"}, nil, false},
		{"killed below sh", record.CheckResult{ExitCode: 137}, nil, false},
		{"killed, base passes", record.CheckResult{ExitCode: -1, Reason: "signal:KILL"}, pass, true},
		{"crashed", record.CheckResult{ExitCode: -1, Reason: "signal:SEGV"}, nil, true},
		{"crashed below sh", record.CheckResult{ExitCode: 139}, nil, true},
		{"no network",
			failed("", "go: example.com/x@v1: Get \"https://proxy.golang.org/x\": dial tcp: lookup proxy.golang.org: no such "+
				"host\n"), pass, false},
		{"pnpm without network",
			failed("", " ERR_PNPM_META_FETCH_FAIL  GET https://registry.npmjs.org/pnpm: request to "+
				"https://registry.npmjs.org/pnpm failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org\n"), pass, false},
		{"pip without network",
			failed("", "WARNING: Retrying after connection broken by 'NewConnectionError: Temporary failure in name "+
				"resolution': /simple/x/\n"), pass, false},
		{"cargo without network", failed("", "error: failed to download from `https://index.crates.io/config.json`\n"), pass,
			false},
		{"another toolchain", failed("", "go: go.mod requires go >= 1.99 (running go 1.26.0; GOTOOLCHAIN=local)\n"), pass,
			false},
		{"cargo without clippy", failed("", "error: no such command: `clippy`\n"), pass, false},
		{"make without the linter", failed("make lint",
			"make: golangci-lint: No such file or directory\nmake: *** [Makefile:27: lint] Error 127\n"), nil, false},
		{"make in sh without the linter", failed("make lint",
			"/bin/sh: 1: golangci-lint: not found\nmake: *** [Makefile:27: lint] Error 127\n"), nil, false},
		{"a test that looks up a host", failed("npm test",
			"not ok 1 - looks up\n  ---\n  location: '/w/src/a.test.js:3:1'\n  error: 'getaddrinfo ENOTFOUND nowhere'\n  ...\n"),
			nil, true},
		{"module missing", failed("", "a.go:3:8: no required module provides package example.com/x; to add it:\n"), nil,
			false},
		{"module missing, base passes", failed("",
			"a.go:3:8: no required module provides package example.com/x; to add it:\n"), pass, true},
		{"go.sum", failed("", "a.go:3:8: missing go.sum entry for module providing package x\n"), nil, false},
		{"node module", failed("", "Error: Cannot find module 'lodash'\n"), nil, false},
		{"own node module", failed("", "Error: Cannot find module './cart'\n"), nil, true},
		{"a test that dials",
			failed("", "--- FAIL: TestDial (0.00s)\n    a_test.go:3: dial tcp 127.0.0.1:1: connection refused\nFAIL\n"), nil,
			true},
		{"a test about not found", failed("", "user 5: not found\n"), nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			judged := Judge(c.result, c.base, nil)
			if got := judged.Fails(); got != c.failed {
				t.Errorf("Fails = %v", got)
			}
			found := leaks.checkFindings(judged)
			switch {
			case c.name == "passed":
				if len(found) != 0 {
					t.Errorf("%+v", found)
				}
			case c.failed:
				if len(found) == 0 || found[0].Severity != reply.Warning {
					t.Errorf("%+v", found)
				}
			default:
				if len(found) != 0 || judged.NotRun == "" || judged.OK() {
					t.Errorf("%+v, %+v", judged, found)
				}
			}
		})
	}
}

func TestChecksThatFailOnTheBase(t *testing.T) {
	changed := []string{"cart/cart.go"}
	moved := strings.NewReplacer("cart_test.go:8", "cart_test.go:20", "0.009s", "1.2s").Replace(goFailure)
	worse := "--- FAIL: TestNew (0.00s)\n    cart_test.go:40: new\n" + goFailure
	for _, c := range []struct {
		name      string
		now, base record.CheckResult
		failed    bool
		want      []string
	}{
		{"the same", failed("", goFailure), failed("", goFailure), false, nil},
		{"at another line", failed("", goFailure), failed("", moved), false, nil},
		{"fewer", failed("", goFailure), failed("", worse), false, nil},
		{"one more", failed("", worse), failed("", goFailure), true, []string{
			"warning: check test: TestNew: new"}},
		{"others", failed("", goFailure), failed("", goBuild), true,
			[]string{"warning: check test: TestTotal/two", "warning: check test: TestPlain"}},
		{"unreadable, the same", failed("", "broke after 3 s\n"), failed("", "broke after 5 s\n"), false, nil},
		{"unreadable, others", failed("", "broke\n"), failed("", "burnt\n"), true,
			[]string{"warning: check test: failed: broke"}},
		{"unreadable, random letters", again("fetch _tmp_qvzk gone\n", "fetch _tmp_hwre gone\n"),
			failed("", "fetch _tmp_bcdn gone\n"), false, nil},
		{"unreadable, random letters and a new word", again("fetch _tmp_qvzk gone\n", "fetch _tmp_hwre gone\n"),
			failed("", "fetch _tmp_bcdn late\n"), true,
			[]string{"warning: check test: failed: fetch _tmp_qvzk gone"}},
		{"random letters at a place", again("a/x.go:3: cannot open qvzk\n", "a/x.go:3: cannot open hwre\n"),
			failed("", "a/x.go:3: cannot open bcdn\n"), false, nil},
		{"another fault at a place", again("a/x.go:3: cannot open x\n", "a/x.go:3: cannot open x\n"),
			failed("", "a/x.go:3: cannot open y\n"), true,
			[]string{"warning: check test: cannot open x"}},
		{"base passes", failed("", goFailure), record.CheckResult{}, true,
			[]string{"warning: check test: TestTotal/two", "warning: check test: TestPlain"}},
		{"base could not run", failed("", "broke\n"), record.CheckResult{ExitCode: 127, Output: "broke\n"}, true,
			[]string{"warning: check test: failed: broke"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			judged := Judge(c.now, &c.base, changed)
			if got := judged.Fails(); got != c.failed || judged.FailsOnBase == c.failed {
				t.Errorf("Fails = %v", got)
			}
			var got []string
			for _, f := range leaks.checkFindings(judged) {
				got = append(got, string(f.Severity)+": "+f.Issue)
			}
			if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzCheckFindings(f *testing.F) {
	for _, out := range []string{goFailure, goPanics, cargoTest, gcc, nodeTest, eslintStylish, pytest, unittest} {
		f.Add("cd ./x && go test .", out, "cart/cart.go")
	}
	for _, c := range failureCases(f) {
		f.Add(c["command"], c["output"], c["changed"])
	}
	f.Fuzz(func(t *testing.T, command, output, path string) {
		r := failed(command, output)
		found := leaks.checkFindings(Judge(r, nil, []string{path}))
		if len(found) == 0 && Judge(r, nil, nil).NotRun == "" || len(found) > maxPerCheck+1 {
			t.Fatalf("%d findings", len(found))
		}
		for _, x := range found {
			if x.Line < 0 || (x.Line > 0 && x.File == "") || strings.ContainsAny(x.Issue, "\n\x1b") {
				t.Fatalf("%+v", x)
			}
		}
		if Judge(r, &r, nil).Fails() {
			t.Fatal("it does not fail in the same way as itself")
		}
		base := failed(command, output+"\n"+path+":1:1: another\n")
		if Judge(r, &base, nil).Fails() != Judge(r, &base, []string{path}).Fails() {
			t.Fatal("the judgement depends on the changed paths")
		}
	})
}

func TestChecksThatSayTheSame(t *testing.T) {
	var in Input
	for name, output := range map[string]string{"build": "a/x.go:3: undefined: y\n",
		"vet": "vet: a/x.go:3: undefined: y\na/x.go:9: unreachable\n"} {
		result := failed("", output)
		result.Name = name
		in.Checks = append(in.Checks, Judge(result, nil, nil))
	}
	slices.SortFunc(in.Checks, func(a, b record.CheckResult) int { return strings.Compare(a.Name, b.Name) })
	failing, found := reviewChecks(in)
	var issues []string
	for _, f := range found {
		issues = append(issues, f.Place()+" "+f.Issue)
	}
	if want := []string{"a/x.go:3 check build: undefined: y", "a/x.go:9 check vet: unreachable"}; !slices.Equal(issues,
		want) || len(failing) != 2 {
		t.Errorf("%q of %q, want %q", issues, failing, want)
	}
}
