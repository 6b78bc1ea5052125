package runrimport

import (
	"os"
	"path/filepath"
	"strings"
)

// maxTaskFile is how much of a task file is read, in bytes.
const maxTaskFile = 1 << 20

// TakeDirectory takes over what runr keeps beside a timeline and not in it: the run's
// id, which is its directory's name, and the text of its task. timeline is the file's path;
// what is not there is left as it is.
func (run *SourceRun) TakeDirectory(timeline string) {
	if filepath.Base(timeline) != "timeline.jsonl" {
		return
	}
	path, err := filepath.Abs(timeline)
	if err != nil {
		return
	}
	dir := filepath.Dir(path)
	if id := filepath.Base(dir); run.ID == "" && len(id) == 14 && strings.Trim(id, "0123456789") == "" {
		run.ID = id
	}
	task := filepath.Join(dir, "artifacts", "task.md")
	info, err := os.Lstat(task)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxTaskFile {
		return
	}
	if text, err := os.ReadFile(task); err == nil {
		run.Task = strings.ToValidUTF8(string(text), "\uFFFD")
	}
}
