// Package gitdir finds a repository and runs git in it. It knows the repository's directories and
// configuration, the environment of every git process, the meaning of git's messages, and the locks
// and permissions of this tool's files. It knows nothing of objects and refs.
//
// Every git process of the program goes through [Call.Run]. Run adds the options that keep a
// repository's configuration from running programs, removes the variables that point to another
// repository, and passes on the caller's lock, so that the lock is held until git has ended too.
//
// [Dir.Lock] is a lock by name: a file <name>.lock in the state directory, which the
// kernel frees when its holder dies. For git's own lock files see package refdb.
package gitdir
