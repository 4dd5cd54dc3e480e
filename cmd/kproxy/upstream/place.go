package upstream

import (
	"os"
	"path/filepath"
)

// Place returns the machine and the file from which a configuration is read.
func Place(file string) string {
	machine, err := os.Hostname()
	if err != nil {
		machine = "unknown"
	}
	if absolute, err := filepath.Abs(file); err == nil {
		file = absolute
	}
	return machine + ":" + file
}
