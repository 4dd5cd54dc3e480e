package rig

import "os"

// Clients speak English and write numbers as in C, whatever the machine's user prefers:
// what tests expect of them does not depend on the machine.
func init() {
	for _, name := range []string{"LANG", "LANGUAGE", "LC_ALL"} {
		_ = os.Unsetenv(name) // fails for no name without "="
	}
	_ = os.Setenv("LC_ALL", "C.UTF-8") // likewise
}
