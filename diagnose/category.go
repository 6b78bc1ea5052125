package diagnose

import (
	"slices"
	"sync"

	"github.com/git-runr/git-runr/loop/runplan"
)

// category is a kind of check that reviewers ask for in their own words, whatever name the repository gives it.
type category struct {
	name string
	asks []phrase // phrases in a request that mean it
	is   []phrase // words in a check's name, match words or command that make it one of these
}

// Categories in the order in which unmet checks are listed.
const (
	catTypecheck = "typecheck"
	catCoverage  = "coverage"
	catTest      = "test"
	catBuild     = "build"
	catLint      = "lint"
	catFormat    = "format"
	catDocs      = "docs"
	catSecurity  = "security"
)

// categories returns all of them. If a request names two at the same place, the longer phrase counts, so "test
// coverage" does not mean tests.
var categories = sync.OnceValue(func() []category {
	return []category{
		{
			name: catTypecheck,
			asks: phrases(
				"type error,type check,typecheck,type checker,type checking,typechecking,type safety,type annotation,type " +
					"hint,type mismatch,type issue," +
					"type problem,type failure,type warning,typing error,typing issue,typescript,ts error,tsc,mypy,pyright,fix " +
					"types,fix the types,missing types," +
					"wrong types,incorrect types,types are wrong,types fail"),
			is: phrases("typecheck,type check,types,typing,tsc,vue tsc,mypy,pyright,pyre,pytype,sorbet,flow," +
				"go build,go vet,cargo check,cargo build,javac,dotnet build,swift build"),
		},
		{
			name: catCoverage,
			asks: phrases("test coverage,code coverage,line coverage,branch coverage,coverage,uncovered,not covered"),
			is:   phrases("coverage,cov,cover,coverprofile,nyc,c8,lcov,codecov,tarpaulin,llvm cov,simplecov,jacoco"),
		},
		{
			name: catTest,
			asks: phrases(
				"test,unit test,test suite,test case,testcase,testing,tested,untested,regression test,integration test,end to " +
					"end test,e2e,e2e test," +
					"failing spec,spec fails,spec fail,the spec passes,add a spec,add specs,unit " +
					"spec,jest,vitest,pytest,rspec,mocha,phpunit,junit"),
			is: phrases(
				"test,unit,spec,e2e,integration,acceptance,smoke,jest,vitest,pytest,unittest,rspec,mocha,phpunit,junit,ctest," +
					"tox,nox,nextest," +
					"playwright,cypress"),
		},
		{
			name: catBuild,
			asks: phrases("build,building,compile,compiling,compilation,compiler error,bundle,bundling,bundler"),
			is:   phrases("build,compile,bundle,webpack,rollup,esbuild,tsup,javac"),
		},
		{
			name: catLint,
			asks: phrases(
				"lint,linter,linting,lint error,lint warning,eslint,golangci,golangci lint,code style,coding style,style " +
					"error,style issue," +
					"style violation,style guide,stylelint,pylint,flake8,ruff,clippy,rubocop,shellcheck,staticcheck,go vet,vet"),
			is: phrases(
				"lint,linter,eslint,tslint,oxlint,golangci," +
					"stylelint,pylint,flake8,ruff,clippy,rubocop,shellcheck,staticcheck,vet," +
					"checkstyle,ktlint," +
					"biome,style,credo,hlint"),
		},
		{
			name: catFormat,
			asks: phrases(
				"formatting,formatter,unformatted,not formatted,badly formatted,code format,format check,format error,format " +
					"issue,format violation," +
					"format the code,format the file,format the source,format all,format code,format " +
					"file,fmt,gofmt,gofumpt,goimports,rustfmt,prettier,run black,clang format"),
			is: phrases(
				"format,formatting,fmt,gofmt,gofumpt,goimports,rustfmt,prettier,black,yapf,autopep8,dprint,clang format"),
		},
		{
			name: catDocs,
			asks: phrases("docs,documentation,doc comment,docstring,readme,jsdoc,godoc,documented,undocumented"),
			is:   phrases("doc,documentation,sphinx,mkdocs,typedoc,rustdoc,godoc,jsdoc,vale,markdownlint,docstring"),
		},
		{
			name: catSecurity,
			asks: phrases("security,vulnerability,vulnerable,audit,cve,insecure,govulncheck,snyk,bandit,gosec"),
			is:   phrases("security,audit,vuln,vulnerability,govulncheck,snyk,bandit,gosec,trivy,semgrep,gitleaks,secret"),
		},
	}
})

// ask is a phrase with which requests mean a category.
type ask struct {
	category *category
	phrase   phrase
}

// asksByWord returns the phrases of all categories by their first words.
var asksByWord = sync.OnceValue(func() map[string][]ask {
	index := map[string][]ask{}
	all := categories()
	for i := range all {
		for _, p := range all[i].asks {
			index[p[0].one] = append(index[p[0].one], ask{&all[i], p})
		}
	}
	return index
})

// How certain it is that a check belongs to a category: by its name, its match words or its command.
const (
	byCommand = iota + 1
	byMatch
	byName
)

// member returns how check belongs to category c, or 0 if it does not.
func (c category) member(check runplan.Check) int {
	switch {
	case c.spokenOf(check.Name):
		return byName
	case slices.ContainsFunc(check.Match, c.spokenOf):
		return byMatch
	case c.spokenOf(check.Command):
		return byCommand
	}
	return 0
}

// spokenOf reports whether text contains one of c's words.
func (c category) spokenOf(text string) bool {
	words := wordsOf(text)
	for i := range words {
		if slices.ContainsFunc(c.is, func(p phrase) bool { return p.leads(words[i:]) }) {
			return true
		}
	}
	return false
}
