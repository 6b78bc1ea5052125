package gitstore

// UnfinishedError is a merge or the like that somebody has begun in a working tree,
// where nothing else can be done before it has ended.
type UnfinishedError struct {
	Operation string // as Repo.Operation names it
}

func (e *UnfinishedError) Error() string { return "this checkout is in the middle of a " + e.Operation }
