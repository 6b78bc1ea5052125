// Package store keeps runs and reviews: it appends events to this clone's log, folds state from the logs of all
// clones, lists and names it, and writes git notes from it. What an event means is package record's to say.
//
// The logs are the truth. The index (index*.go) is a cache of folded state by the tips of the logs; the notes
// (notes.go) are a projection of the logs onto commits. Both are made again when they are missing or damaged.
//
// Store reads (store.go, list.go, named.go, events_*.go, glance.go) and appends: append.go decides on the newest
// state under the log's lock; inbox.go, checked.go, move.go and verification.go append events of reviews, run_event.go
// those of runs. draft.go keeps what a person has written and not submitted, which is a file and no event.
package store
