// Package queue is the worker for reviews that agents were asked for. The logs alone say what waits (queue.go). A worker
// takes the oldest review for which it finds a free slot (scheduler, slots), under a lock in this clone and, where
// another clone could do it too, under a lease on the remote (lease). A session is one review: its agents answer side by
// side, then its judge rules on what they found. The status file tells other processes what the agents are doing.
package queue
