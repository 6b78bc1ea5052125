package comment

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/loop/safetext"
)

// messageHead begins the text that an agent reads.
const messageHead = "## Review Comments\n\nThe following review comments were left on the specified files. Please " +
	"summarize your plan to address each comment, then wait for confirmation before making changes."

// Message is comments as Markdown for whoever addresses them, without a newline at the end. Comments on lines are
// compared byte for byte by existing clients: files in the order of their first comment, each file's comments in the
// order given, a comment's text as it is. What those do not know goes beside that: comments on the whole come before
// the first file, comments on a file are headed File, and lines of the old version are called old.
func Message(comments []Comment) string {
	return strings.Join(append([]string{messageHead}, Blocks(comments)...), "\n\n")
}

// Blocks are the paragraphs of comments, in the order of Message.
func Blocks(comments []Comment) []string {
	var blocks []string
	var files []string
	ofFile := map[string][]string{}
	for _, c := range comments {
		if c.File == "" {
			blocks = append(blocks, c.Comment)
			continue
		}
		if ofFile[c.File] == nil {
			files = append(files, c.File)
		}
		ofFile[c.File] = append(ofFile[c.File], c.messageBlocks()...)
	}
	for _, file := range files {
		blocks = append(append(blocks, "### "+heading(file)), ofFile[file]...)
	}
	return blocks
}

// heading is a file's name in one line: one that has more, or what does not print, is quoted.
func heading(file string) string {
	if safetext.Line(file) == file {
		return file
	}
	return strconv.Quote(file)
}

// messageBlocks are a comment's lines with their quotation, if it has some, and its text.
func (c Comment) messageBlocks() []string {
	if c.StartLine == 0 {
		return []string{"**File:**", c.Comment}
	}
	quote := "> " + strings.ReplaceAll(c.SelectedText, "\n", "\n> ")
	return []string{c.lineHeading() + "\n" + quote, c.Comment}
}

func (c Comment) lineHeading() string {
	old := ""
	if c.Side == Old {
		old = " (old)"
	}
	if c.EndLine == 0 || c.EndLine == c.StartLine {
		return fmt.Sprintf("**Line %d%s:**", c.StartLine, old)
	}
	return fmt.Sprintf("**Lines %d-%d%s:**", c.StartLine, c.EndLine, old)
}
