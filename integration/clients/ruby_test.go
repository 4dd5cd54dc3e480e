package clients

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// TestRuby has Active Record work, as Debian packages it.
func TestRuby(t *testing.T) {
	heavy(t)
	t.Parallel()
	// Gems of other places may be of other versions.
	const ruby = "/usr/bin/ruby"
	rig.Need(t, "ruby-activerecord with ruby-pg", exec.Command(ruby, "-e", "require 'active_record'; require 'pg'").Run() == nil)
	compare(t, "active_record", program(nil, ruby, "-W0", filepath.Join("testdata", "ruby", "active_record.rb")))
}
