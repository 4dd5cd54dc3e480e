package clients

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// versionOf reads a version: of a module in go.mod, of packages in a folder of testdata that
// pins them, of a Debian package, or of a program.
func versionOf(t *testing.T, of string) string {
	t.Helper()
	fields := strings.Fields(of)
	if len(fields) == 0 {
		return ""
	}
	kind, names := fields[0], fields[1:]
	pinned := func(file, pattern string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var versions []string
		for _, name := range names {
			found := regexp.MustCompile(fmt.Sprintf(pattern, regexp.QuoteMeta(name))).FindSubmatch(text)
			if found == nil {
				t.Fatalf("%s does not pin %s", file, name)
			}
			versions = append(versions, string(found[1]))
		}
		return strings.Join(versions, ", ")
	}
	folder := ""
	if len(names) > 0 {
		folder = filepath.Join("testdata", names[0])
	}
	switch kind {
	case "go":
		return pinned("../../go.mod", `\s%s v(\S+)`)
	case "gomod":
		names = names[1:]
		return pinned(filepath.Join(folder, "go.mod"), `\s%s v(\S+)`)
	case "haproxy":
		return numberOf(t, rig.Program("haproxy", "/usr/sbin/haproxy"), "-v")
	case "lock":
		names = names[1:]
		return pinned(filepath.Join(folder, "package-lock.json"), `"node_modules/%s": \{\s*"version": "([^"]+)"`)
	case "pins":
		names = names[1:]
		return pinned(filepath.Join(folder, "requirements.txt"), `(?m)^%s(?:\[\w+\])?==(\S+)`)
	case "pom":
		names = names[1:]
		return pinned(filepath.Join(folder, "pom.xml"), `<artifactId>%s</artifactId><version>([0-9.]*[0-9])`)
	case "cargo":
		names = names[1:]
		return pinned(filepath.Join(folder, "Cargo.lock"), `name = "%s"\s*version = "([^"]+)"`)
	case "debian":
		return numberOf(t, "dpkg-query", "-W", "-f", "${Version}", names[0])
	case "psql":
		var versions []string
		for _, version := range names {
			versions = append(versions, numberOf(t, psqlOf(t, version), "--version"))
		}
		return strings.Join(versions, ", ")
	case "libpq":
		var versions []string
		for _, major := range names {
			const script = "import ctypes, sys; v = ctypes.CDLL(sys.argv[1]).PQlibVersion(); print(f'{v // 10000}.{v % 10000}')"
			versions = append(versions, numberOf(t, python("ctypes"), "-c", script, libpqOf(t, major)))
		}
		return strings.Join(versions, ", ")
	default:
		return numberOf(t, rig.Program(names[0]), "--version")
	}
}

// numberOf is the first version in what a program prints, without an epoch and the part that is a distributor's.
func numberOf(t *testing.T, name string, arguments ...string) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), name, arguments...).Output()
	found := regexp.MustCompile(`(?:^|[\s:])([0-9]+[0-9.]*[0-9])`).FindSubmatch(output)
	if err != nil || found == nil {
		t.Fatalf("%s %v: %v\n%s", name, arguments, err, output)
	}
	return string(found[1])
}
