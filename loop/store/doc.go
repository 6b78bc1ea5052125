// Package store keeps runs and reviews: it appends events to this clone's log, folds state from the logs of all
// clones, lists and finds runs and reviews, and writes git notes. Package record defines what an event means.
//
// The logs are the truth. The index (index*.go; index_current.go updates it from the logs) is a cache of folded state.
// The notes (notes.go) show the logs on commits. Both are rebuilt when they are missing or damaged.
//
// Store (store.go) reads logs (logs.go), folded states (states.go), lists (list.go) and events (events.go). It appends:
// append.go runs decisions on the newest state under the log's lock, removes secrets and appends events of runs,
// review_events.go those of reviews. draft.go keeps what is in files of this clone and not in events, such as what a
// person has written and not submitted.
package store
