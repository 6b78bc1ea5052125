package gitstore

type objectStore struct{}

func newObjectStore(r *Repo) *objectStore { return &objectStore{} }
