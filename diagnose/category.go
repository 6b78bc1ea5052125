package diagnose

import (
	"slices"
	"sync"

	"github.com/git-runr/git-runr/loop/runplan"
)

// category is a kind of check that reviewers ask for in their own words, whatever name the repository gives it.
type category struct {
	name string
	asks []string // phrases in a request that mean it
	is   []string // phrases in a check's name, match words or command that make it one of these
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

// categories returns all of them, in that order.
var categories = sync.OnceValue(func() []category {
	return []category{
		{
			name: catTypecheck,
			asks: phrases("type error,type check,typecheck,type checker,type checking,typechecking,type safety," +
				"type annotation,type hint,type mismatch,type issue,type problem,type failure,type warning,typing error," +
				"typing issue,typescript,ts error,tsc,mypy,pyright,fix types,fix the types,missing types,wrong types," +
				"incorrect types,types are wrong,types fail"),
			is: phrases("typecheck,type check,types,typing,tsc,mypy,pyright,pyre,pytype,sorbet,flow," +
				"go build,go vet,cargo check,cargo build,javac,dotnet build,swift build"),
		},
		{
			name: catCoverage,
			asks: phrases("coverage,uncovered,not covered"),
			is:   phrases("coverage,cov,cover,coverprofile,nyc,c8,lcov,codecov,tarpaulin,simplecov,jacoco"),
		},
		{
			name: catTest,
			asks: phrases("test,testcase,testing,tested,untested,e2e,failing spec,spec fails,spec fail,the spec passes," +
				"add a spec,add specs,unit spec,jest,vitest,pytest,rspec,mocha,phpunit,junit"),
			is: phrases("test,unit,spec,e2e,integration,acceptance,smoke,jest,vitest,pytest,unittest,rspec,mocha," +
				"phpunit,junit,ctest,tox,nox,nextest,playwright,cypress"),
		},
		{
			name: catBuild,
			asks: phrases("build,building,compile,compiling,compilation,compiler error,bundle,bundling,bundler"),
			is:   phrases("build,compile,bundle,webpack,rollup,esbuild,tsup,javac"),
		},
		{
			name: catLint,
			asks: phrases("lint,linter,linting,eslint,golangci,code style,coding style,style error,style issue," +
				"style violation,style guide,stylelint,pylint,flake8,ruff,clippy,rubocop,shellcheck,staticcheck,vet"),
			is: phrases("lint,linter,eslint,tslint,oxlint,golangci,stylelint,pylint,flake8,ruff,clippy,rubocop," +
				"shellcheck,staticcheck,vet,checkstyle,ktlint,biome,style,credo,hlint"),
		},
		{
			name: catFormat,
			asks: phrases("formatting,formatter,unformatted,not formatted,badly formatted,code format,format check," +
				"format error,format issue,format violation,format the code,format the file,format the source," +
				"format all,format code,format file,fmt,gofmt,gofumpt,goimports,rustfmt,prettier,run black,clang format"),
			is: phrases("format,formatting,fmt,gofmt,gofumpt,goimports,rustfmt,prettier,black,yapf,autopep8,dprint"),
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

// How certain it is that a check belongs to a category: by its name, its match words or its command.
const (
	byCommand = iota + 1
	byMatch
	byName
)

// member returns how check belongs to category c, or 0 if it does not.
func (c category) member(check runplan.Check) int {
	is := func(text string) bool { return firstOf(folded(text), c.is...) >= 0 }
	switch {
	case is(check.Name):
		return byName
	case slices.ContainsFunc(check.Match, is):
		return byMatch
	case is(check.Command):
		return byCommand
	}
	return 0
}
