// Package gitdir finds a repository and runs git in it: where its directories are, its
// configuration, the environment of every git process, what git's messages mean, and the
// locks and permissions of files beside git's own. It knows nothing of objects and refs.
//
// Every git process of the program goes through [Call.Run]: with the options that keep
// a repository's configuration from running anything, without the variables that mean
// another repository, and with the lock that its caller holds, so that it is held until
// git too has ended.
//
// [Dir.Lock] is a lock by name: a file <name>.lock in the state directory, which the
// kernel frees when its holder dies. A lock of git's own is another thing; see package
// refdb.
package gitdir
