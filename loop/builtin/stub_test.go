package builtin

import "testing"

func TestStubs(t *testing.T) {
	for _, c := range []struct{ path, text, want string }{
		{"a.go", "\t// FIXME: leaks\n", "warning stub 1"},
		{"a.go", "\tx := 1 // XXX wrong\n", "warning stub 1"},
		{"a.go", "\t// TODO handle errors\n", "note stub 1"},
		{"a.go", "\t// TODO(alice): handle errors\n", "note stub 1"},
		{"a.go", "\t// FIXME(#12): leaks\n", "note stub 1"},
		{"a.go", "\t// HACK: works\n", "note stub 1"},
		{"a.py", "# FIXME\n", "warning stub 1"},
		{"a.css", "/* FIXME: colour */\n", "warning stub 1"},
		{"a.js", " /**\n  * FIXME: later\n  */\n", "warning stub 2"},
		{"a.yml", "key: 1 # FIXME: why\n", "warning stub 1"},
		{"a.sql", "-- FIXME: index\n", "warning stub 1"},
		{"a.go", "\tpanic(\"not implemented\")\n", "warning stub 1"},
		{"a.go", "\tpanic(\"TODO: parse\")\n", "warning stub 1"},
		{"a.go", "\tpanic(fmt.Sprintf(\"TODO %d\", x))\n", "warning stub 1"},
		{"a.go", "\treturn nil // stub\n", "warning stub 1"},
		{"a.go", "\treturn nil // not implemented yet\n", "warning stub 1"},
		{"a.js", "throw new Error('Not implemented');\n", "warning stub 1"},
		{"a.ts", "  throw new NotImplementedError(\"not implemented yet\");\n", "warning stub 1"},
		{"a.py", "def parse(x):\n    raise NotImplementedError\n", "warning stub 2"},
		{"a.py", "class A:\n    def parse(self):\n        raise NotImplementedError(\"not implemented yet\")\n",
			"warning stub 3"},
		{"a.py", "class A:\n    def parse(self):\n        raise NotImplementedError\n", "note stub 3"},
		{"a.rs", "    todo!()\n", "warning stub 1"},
		{"a.rs", "    unimplemented!(\"later\")\n", "warning stub 1"},
		{"A.java", "  throw new UnsupportedOperationException(\"Not implemented yet\");\n", "warning stub 1"},
		{"a.kt", "  fun f(): Int = TODO(\"later\")\n", "warning stub 1"},
		{"A.cs", "  throw new NotImplementedException();\n", "warning stub 1"},
		{"a.swift", "  fatalError(\"not implemented\")\n", "warning stub 1"},
		{"a.tsx", "<p>Lorem ipsum dolor</p>\n", "note stub 1"},
		{"a_test.go", "\t// FIXME: slow\n", "note stub 1"},
		{"src/a.test.ts", "  it.only('adds', () => {})\n", "warning focused-test 1"},
		{"src/a.test.ts", "describe.only(\"x\", () => {})\n", "warning focused-test 1"},
		{"spec/a_spec.rb", "  fit 'adds' do\n", "warning focused-test 1"},
		{"spec/a_spec.rb", "  it 'adds', focus: true do\n", "warning focused-test 1"},
		{"src/a.spec.js", "fdescribe('x', function () {})\n", "warning focused-test 1"},
		{"src/a.test.ts", "  it.skip('adds', () => {})\n", "warning skipped-test 1"},
		{"src/a.test.ts", "  xit('adds', () => {})\n", "warning skipped-test 1"},
		{"src/a.test.ts", "  it.skip('adds', () => {}) // see #12\n", "note skipped-test 1"},
		{"a_test.go", "\tt.Skip(\"TODO: flaky\")\n", "warning skipped-test 1"},
		{"a_test.go", "\tt.Skip(\"TODO(bob): flaky\")\n", "note skipped-test 1"},
	} {
		t.Run(c.path+" "+c.text, func(t *testing.T) { wantFound(t, review(newText(c.path, c.text)), c.want) })
	}
}

func TestNoStubs(t *testing.T) {
	for _, c := range []struct{ path, text string }{
		{"a.go", "\tpanic(\"unreachable\")\n\tpanic(fmt.Sprintf(\"bad kind %d\", k))\n\ts := \"TODO: write\"\n" +
			"\tfixme := 1\n"},
		{"a.go", "// The word TODO in a comment is reported by the linter.\n// See mktemp XXXXXX.\n// A hack that works.\n"},
		{"a.go", "\treturn nil // stub files are skipped by the loader\n\treturn x // the placeholder of the template\n"},
		{"a.go", "\treturn errors.New(\"not implemented by this server\")\n"},
		{"todo.go", "type TODO struct{}\n\nfunc (t TODO) Done() {}\n\tctx := context.TODO()\n"},
		{"a.js", "throw new Error('must be implemented by the subclass');\nthrow new Error(`no such ${x}`);\n"},
		{"a.ts", "abstract class A {\n  f() {\n    throw new Error('not implemented');\n  }\n}\n"},
		{"a.py", "@abstractmethod\ndef f(self):\n    raise NotImplementedError\n"},
		{"a.py", "    raise NotImplementedError(\"Subclasses must override this\")\n    raise NotImplementedError(reason)\n" +
			"    except NotImplementedError:\n"},
		{"a.rb", "raise NotImplementedError, \"#{self.class} must implement\"\n"},
		{"a.rs", "unreachable!()\nlet todo = 1;\n"},
		{"a.html", "<!-- the todo list -->\n<ul class=\"todo\"></ul>\n"},
		{"README.md", "- TODO: write\n- FIXME\n"},
		{"a.py", "model.fit(x, y)\nfit = 1\n"},
		{"a.js", "fit(x);\nimage.fit('cover');\nquery.only('id');\ncursor.skip(10);\nit.skipped = 1;\nlist.skip('a');\n"},
		{"a_test.go",
			"\tt.Skip(\"needs root\")\n\tt.Skipf(\"not implemented on %s\", runtime.GOOS)\n\tif testing.Short() {\n" +
				"\t\tt.Skip()\n\t}\n"},
		{"a.sh", "x=${#list}\ncolor=#fixme\n"},
	} {
		t.Run(c.path, func(t *testing.T) { wantFound(t, review(newText(c.path, c.text))) })
	}
}
