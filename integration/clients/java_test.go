package clients

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// TestJDBC has pgjdbc work, as Debian packages it.
func TestJDBC(t *testing.T) {
	t.Parallel()
	const driver = "/usr/share/java/postgresql.jar"
	_, err := os.Stat(driver)
	rig.Need(t, "libpostgresql-jdbc-java with a JDK", err == nil && rig.Program("javac") != "")
	classes := t.TempDir()
	// The driver is linked to the libraries of SCRAM by names beside it.
	path := driver + ":/usr/share/java/scram-client.jar:/usr/share/java/scram-common.jar:/usr/share/java/saslprep.jar:/usr/share/java/stringprep.jar"
	if output, failure, err := run(t, os.Environ(), "javac", "-cp", path, "-d", classes, filepath.Join("testdata", "java", "Work.java")); err != nil {
		t.Fatalf("compiling: %v\n%s%s", err, output, failure)
	}
	compare(t, "jdbc", program(nil, "java", "-XX:TieredStopAtLevel=1", "-Xmx512m", "-Duser.timezone=UTC", "-Dfile.encoding=UTF-8", "-Dsun.stdout.encoding=UTF-8", "-cp", classes+":"+path, "Work"))
}
