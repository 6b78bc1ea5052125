// Package queue is the worker for reviews requested from agents. The logs alone decide which reviews wait (queue.go). A
// worker takes the oldest review for which it finds a free slot (scheduler), under a lock in this clone and, if
// another clone could take it too, under a lease on the remote (lease). A session is one review: its agents answer in
// parallel, then its judge rules on their findings. The status file tells other processes what the agents are doing.
package queue
