package agent

import "os"

func fileExists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
