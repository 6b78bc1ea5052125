// Package reviewing shows a change to a reviewer and reads what it answers. An Inquiry reads the change and counts what
// is shown and what is not (change, generated, parts), writes the prompt (prompt, kinds, instructions) and asks the
// reviewer, in a checkout where it needs one, or those who stand in for it (calls). A Verifier holds old findings against
// later code; an Examination has an agent judge findings of others.
package reviewing
