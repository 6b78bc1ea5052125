// Package reviewing shows a change to a reviewer and reads its answer. An Inquiry reads the change and counts what is
// shown and what is not (change, generated, parts), writes the prompt (prompt, kinds, instructions) and calls the
// reviewer, in a checkout if it needs one, or its backups (calls). A Verifier checks old findings against later code;
// an Examination has an agent judge the findings of others.
package reviewing
