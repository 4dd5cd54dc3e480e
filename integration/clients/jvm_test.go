package clients

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// TestJVM has programs for Java work with the newest libraries, in the versions of pom.xml:
// what TestJDBC has an older driver do, and what most programs that use it have between.
func TestJVM(t *testing.T) {
	t.Parallel()
	for client, class := range map[string]string{"pgjdbc": "Work", "hikaricp": "Pool", "hibernate": "Orm", "jooq": "Jooq"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			path := jvm.compiled(t, filepath.Join("testdata", "java", "Work.java"))
			compare(t, client, program(nil, "java", append(java, "-cp", path, class)...))
		})
	}
}

// TestSpark has Spark read by JDBC.
func TestSpark(t *testing.T) { opened(t, &spark, "Spark") }

// TestTrino has Trino's connector work. Newer ones need a newer Java than Debian 12 has.
func TestTrino(t *testing.T) { opened(t, &trino, "Trino") }

// opened has a program work that reaches into Java's own packages.
func opened(t *testing.T, l *library, class string) {
	t.Helper()
	heavy(t)
	t.Parallel()
	path := l.compiled(t, filepath.Join("testdata", "jvm", "Report.java"))
	arguments := append([]string{"-Djava.io.tmpdir=" + t.TempDir(), "-cp", path}, java...)
	// As Spark's own scripts start it.
	for _, part := range strings.Fields(`java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util
		java.util.concurrent java.util.concurrent.atomic sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar`) {
		arguments = append(arguments, "--add-opens=java.base/"+part+"=ALL-UNNAMED")
	}
	compare(t, l.name, program(nil, "java", append(arguments, "-Xmx1g", class)...))
}

// java is how to start Java: soon, and as on any machine.
var java = []string{"-XX:TieredStopAtLevel=1", "-Xmx512m", "-Duser.timezone=UTC", "-Duser.language=en", "-Dfile.encoding=UTF-8", "-Dsun.stdout.encoding=UTF-8"}

// library is programs for Java in a folder of testdata, with what they need.
type library struct {
	name string
	once sync.Once
	path string
	err  error
}

var jvm, spark, trino = library{name: "jvm"}, library{name: "spark"}, library{name: "trino"}

// compiled has Maven install what pom.xml pins, unless it has done so before, compiles the
// programs with it, and others, and returns the class path of all.
func (l *library) compiled(t *testing.T, others ...string) string {
	t.Helper()
	rig.Need(t, "maven with a JDK", rig.Program("mvn") != "" && rig.Program("javac") != "")
	l.once.Do(func() { l.path, l.err = l.compile(t, others) })
	if l.err != nil {
		t.Fatal(l.err)
	}
	return l.path
}

func (l *library) compile(t *testing.T, others []string) (string, error) {
	t.Helper()
	folder := filepath.Join("testdata", l.name)
	jars, err := rig.Jars(l.name, folder)
	if err != nil {
		return "", err
	}
	classes, err := os.MkdirTemp("", "kproxy-"+l.name+"-")
	if err != nil {
		return "", err
	}
	cleanup(func() error { return os.RemoveAll(classes) })
	programs, err := filepath.Glob(filepath.Join(folder, "*.java"))
	if err != nil {
		return "", err
	}
	arguments := append([]string{"-proc:none", "-cp", jars, "-d", classes}, others...)
	if output, failure, err := run(t, os.Environ(), "javac", append(arguments, programs...)...); err != nil {
		t.Logf("compiling: %s%s", output, failure)
		return "", err
	}
	return classes + ":" + jars, nil
}
