package gitstore

import "git-runr/gitstore/testrepo"

var (
	testGit       = testrepo.Git
	isolate       = testrepo.Isolate
	writeTestFile = testrepo.WriteFile
	exists        = testrepo.Exists
	readTestFile  = testrepo.ReadFile
	shell         = testrepo.Shell
	runScript     = testrepo.RunScript
	replaceFile   = testrepo.ReplaceFile
	spoil         = testrepo.Spoil
)
