// Package store keeps runs and reviews: it appends events to this clone's log, folds state from the logs of all
// clones, lists and names it, and writes git notes from it. What an event means is package record's to say.
//
// The logs are the truth. The index (index*.go; index_current.go brings it up to the logs) is a cache of folded state; the
// notes (notes.go) are a projection of the logs onto commits. Both are made again when they are missing or damaged.
//
// Store (store.go) reads: logs (logs.go), folded states (states.go, named.go), lists (list.go, glance.go, usage.go) and
// events (events*.go). It appends: append.go decides on the newest state under the log's lock, review_events.go appends
// the events of reviews, run_events.go those of runs. redact.go takes secrets out of what is appended. draft.go keeps
// what a person has written and not submitted, which is a file and no event.
package store
