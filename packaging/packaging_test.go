package packaging

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/integration/rig"
)

// read returns a file of the repository.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// documents are the YAML documents of a file.
func documents(t *testing.T, path string) []map[string]any {
	t.Helper()
	var all []map[string]any
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(read(t, path))))
	for {
		var one map[string]any
		switch err := decoder.Decode(&one); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, one)
	}
}

// at follows keys, and numbers of items, into a document; nil where there is nothing.
func at(document any, path ...any) any {
	for _, step := range path {
		switch where := document.(type) {
		case map[string]any:
			key, _ := step.(string)
			document = where[key]
		case []any:
			i, ok := step.(int)
			if !ok || i >= len(where) {
				return nil
			}
			document = where[i]
		default:
			return nil
		}
	}
	return document
}

// list is the list at a path, empty where there is none.
func list(document any, path ...any) []any {
	all, _ := at(document, path...).([]any)
	return all
}

// TestPackagesAreComplete looks for each file that goes into the packages.
func TestPackagesAreComplete(t *testing.T) {
	t.Parallel()
	described := documents(t, "packaging/nfpm.yaml")[0]
	released := documents(t, ".goreleaser.yaml")[0]
	contents := append(list(described, "contents"), list(released, "nfpms", 0, "contents")...)
	for _, scripts := range []any{at(described, "scripts"), at(released, "nfpms", 0, "scripts")} {
		for _, script := range scripts.(map[string]any) {
			contents = append(contents, map[string]any{"src": script})
		}
	}
	destinations := make(map[any]bool)
	for _, entry := range contents {
		destinations[at(entry, "dst")] = true
		source, _ := at(entry, "src").(string)
		if source == "" || strings.HasPrefix(source, "bin/") {
			continue // made when packages are
		}
		if _, err := os.Stat(filepath.Join("..", source)); err != nil {
			t.Error(err)
		}
	}
	if unit := read(t, "packaging/kproxy.service"); !strings.Contains(unit, "\nExecStart=/usr/bin/kproxy serve") || !destinations["/usr/bin/kproxy"] {
		t.Error("the unit starts another program than the packages install")
	}
}

// TestLicensesArePassedOn makes the bill and the licenses of the program, and looks that each way
// to deliver it has them.
func TestLicensesArePassedOn(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	texts := filepath.Join(folder, "licenses.txt")
	program, err := rig.Build(folder)
	if err != nil {
		t.Fatal(err)
	}
	bill, err := exec.Command("./sbom.sh", program, texts).Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(texts)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nLicense: MPL-2.0\nSource: https://proxy.golang.org/github.com/hashicorp/golang-lru/v2/@v/v", "\nMozilla Public License, version 2.0\n",
		"\nLicense: BSD-3-Clause, PostgreSQL, BSD-2-Clause\nSource: https://github.com/pganalyze/libpg_query/tree/",
		"the protobuf-c authors", "Yann Collet", "PostgreSQL Database Management System", "The Go Authors",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the licenses lack %q", want)
		}
	}
	for _, want := range []string{`"id": "MPL-2.0"`, `"purl": "pkg:github/pganalyze/libpg_query@16-`, `"id": "PostgreSQL"`} {
		if !strings.Contains(string(bill), want) {
			t.Errorf("the bill of materials lacks %s", want)
		}
	}
	const file = "third-party-licenses.txt"
	for path, wants := range map[string][]string{
		"packaging/release.sh": {`packaging/sbom.sh "$stage/kproxy" "$stage/doc/` + file + `"`, `cp -r docs "$stage/doc/"`, "LICENSE"},
		"packaging/nfpm.yaml":  {"{src: bin/stage/doc/, dst: /usr/share/doc/kproxy/, type: tree}"},
		"Dockerfile":           {"COPY --from=build /out/" + file, "LICENSE /usr/share/doc/kproxy/"},
		".goreleaser.yaml":     {"make man licenses", `{src: "bin/` + file, "dst: /usr/share/doc/kproxy/" + file, "dst: /usr/share/doc/kproxy/docs/"},
		"Makefile":             {"packaging/sbom.sh bin/kproxy bin/" + file},
	} {
		for _, want := range wants {
			if !strings.Contains(read(t, path), want) {
				t.Errorf("%s has no %s", path, want)
			}
		}
	}
}

// TestPurge has the package removed with its configuration: what people wrote stays, and it is said
// where it is and why.
func TestPurge(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	secret := filepath.Join(root, "etc/kproxy/owner.password")
	for _, folder := range []string{"etc/kproxy", "var/log/kproxy"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for step, want := range map[string]bool{"remove": false, "purge": true} {
		command := exec.Command("sh", "scripts/postremove.sh", step)
		command.Env = append(os.Environ(), "DPKG_ROOT="+root)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, said := range []string{"/etc/kproxy stays: ", "the database keeps ", "operations.md#removing-kproxy", "the user kproxy stays"} {
			if strings.Contains(string(out), said) != want {
				t.Errorf("%s says\n%s", step, out)
			}
		}
		if strings.Contains(string(out), "/var/log/kproxy") {
			t.Errorf("%s speaks of an empty folder:\n%s", step, out)
		}
	}
	if _, err := os.Stat(secret); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(root, "var/log/kproxy")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the empty folder: %v", err)
	}
	if !strings.Contains(read(t, "docs/operations.md"), "\n## Removing kproxy\n") {
		t.Error("nothing says how kproxy is removed from the database")
	}
}

// TestProgramsAreAlike compares how the program is compiled for packages, image and
// goreleaser.
func TestProgramsAreAlike(t *testing.T) {
	t.Parallel()
	const static, tags = "-s -w -linkmode external -extldflags -static", "netgo,osusergo"
	for _, path := range []string{"packaging/release.sh", "Dockerfile"} {
		text := read(t, path)
		if !strings.Contains(text, "-ldflags '"+static+"'") || !strings.Contains(text, "-tags "+tags) || !strings.Contains(text, "-trimpath") {
			t.Errorf("%s compiles in another way", path)
		}
	}
	for _, build := range list(documents(t, ".goreleaser.yaml")[0], "builds") {
		if at(build, "ldflags", 0) != static || at(build, "tags", 0) != "netgo" || at(build, "tags", 1) != "osusergo" || at(build, "flags", 0) != "-trimpath" {
			t.Errorf("goreleaser compiles %v in another way", at(build, "id"))
		}
	}
}

// TestServiceIsConfined looks for what keeps the service from the rest of its machine, and
// for the user it runs as.
func TestServiceIsConfined(t *testing.T) {
	t.Parallel()
	unit := read(t, "packaging/kproxy.service")
	for _, line := range []string{
		"User=kproxy", "NoNewPrivileges=yes", "CapabilityBoundingSet=", "ProtectSystem=strict", "ProtectHome=yes", "PrivateDevices=yes",
		"PrivateUsers=yes", "MemoryDenyWriteExecute=yes", "RestrictNamespaces=yes", "SystemCallFilter=@system-service", "LimitCORE=0", "UMask=0077",
	} {
		if !strings.Contains(unit, "\n"+line+"\n") {
			t.Errorf("the unit has no %s", line)
		}
	}
	if !strings.Contains(read(t, "packaging/sysusers.conf"), "\nu kproxy ") {
		t.Error("nobody makes the service's user")
	}
}

func TestImageIsNotRoot(t *testing.T) {
	t.Parallel()
	text := read(t, "Dockerfile")
	last := text[strings.LastIndex(text, "\nFROM ")+1:]
	if !strings.HasPrefix(last, "FROM gcr.io/distroless/static") || !regexp.MustCompile(`(?m)^USER [1-9]\d*:[1-9]\d*$`).MatchString(last) {
		t.Error("the image has a shell, or runs as root")
	}
	if !strings.Contains(last, `HEALTHCHECK`) || !strings.Contains(last, `CMD ["/usr/bin/kproxy", "health"]`) {
		t.Error("nobody asks whether the image works")
	}
}

// TestImageTakesNoSecrets looks that nothing of what is kept out of the repository, the
// example's passwords among it, gets into a layer of the builder.
func TestImageTakesNoSecrets(t *testing.T) {
	t.Parallel()
	ignored := strings.Split(read(t, ".dockerignore"), "\n")
	for _, pattern := range append(strings.Fields(read(t, ".gitignore")), "/packaging/compose/secrets/", "/kproxy.yaml", "*.password") {
		if anywhere := "**/" + pattern; !slices.Contains(ignored, pattern) && !slices.Contains(ignored, anywhere) {
			t.Errorf("docker build takes %s along", pattern)
		}
		if !strings.Contains(strings.Trim(pattern, "/"), "/") && !strings.HasPrefix(pattern, "/") && slices.Contains(ignored, pattern) {
			t.Errorf("docker build takes %s along from folders", pattern)
		}
	}
}

// TestCompose looks that the database cannot be reached past kproxy, and that every secret
// is made.
func TestCompose(t *testing.T) {
	t.Parallel()
	file := documents(t, "packaging/compose/compose.yaml")[0]
	if at(file, "services", "postgres", "ports") != nil || at(file, "networks", "database", "internal") != true {
		t.Error("the database can be reached from outside")
	}
	kproxy := at(file, "services", "kproxy")
	if at(kproxy, "read_only") != true || at(kproxy, "cap_drop", 0) != "ALL" || at(kproxy, "security_opt", 0) != "no-new-privileges:true" {
		t.Error("kproxy's container may do more than it needs")
	}
	defined, made := at(file, "secrets").(map[string]any), read(t, "packaging/compose/secrets.sh")
	for service, one := range at(file, "services").(map[string]any) {
		for _, secret := range list(one, "secrets") {
			path, _ := at(defined, secret, "file").(string)
			if path == "" || !strings.Contains(made, "secrets/"+secret.(string)) && !strings.Contains(made, " "+secret.(string)+" ") {
				t.Errorf("%s uses a secret %v that nobody makes", service, secret)
			}
		}
	}
}

// TestManifests compares the objects for Kubernetes with each other and with what the
// strictest profile of pods asks for (Pod Security Standards, restricted).
func TestManifests(t *testing.T) {
	t.Parallel()
	kinds := make(map[any]map[string]any)
	for _, path := range []string{"packaging/kubernetes/kproxy.yaml", "packaging/kubernetes/networkpolicy.yaml"} {
		for _, object := range documents(t, path) {
			kinds[object["kind"]] = object
		}
	}
	deployment := kinds["Deployment"]
	if replicas, _ := at(deployment, "spec", "replicas").(int); replicas < 3 {
		t.Errorf("%d instances", replicas)
	}
	pod := at(deployment, "spec", "template", "spec")
	container := at(pod, "containers", 0)
	for name, held := range map[string]bool{
		"runAsNonRoot":   at(pod, "securityContext", "runAsNonRoot") == true,
		"seccomp":        at(pod, "securityContext", "seccompProfile", "type") == "RuntimeDefault",
		"no token":       at(pod, "automountServiceAccountToken") == false,
		"no escalation":  at(container, "securityContext", "allowPrivilegeEscalation") == false,
		"read-only":      at(container, "securityContext", "readOnlyRootFilesystem") == true,
		"capabilities":   at(container, "securityContext", "capabilities", "drop", 0) == "ALL",
		"liveness":       at(container, "livenessProbe", "httpGet", "path") == "/healthz",
		"readiness":      at(container, "readinessProbe", "httpGet", "path") == "/readyz",
		"a memory limit": at(container, "resources", "limits", "memory") != nil,
		"the configuration, which has verifiers, as a secret": at(pod, "volumes", 0, "name") == "config" && at(pod, "volumes", 0, "secret", "secretName") != nil,
	} {
		if !held {
			t.Errorf("the deployment lacks %s", name)
		}
	}
	const key = "app.kubernetes.io/name"
	label := at(deployment, "spec", "template", "metadata", "labels", key)
	for kind, path := range map[string][]any{
		"Deployment": {"spec", "selector", "matchLabels", key}, "Service": {"spec", "selector", key},
		"PodDisruptionBudget": {"spec", "selector", "matchLabels", key}, "NetworkPolicy": {"spec", "podSelector", "matchLabels", key},
	} {
		if selected := at(kinds[kind], path...); label == nil || selected != label {
			t.Errorf("%s selects %v in place of %v", kind, selected, label)
		}
	}
	var ports []any
	for _, port := range list(container, "ports") {
		ports = append(ports, at(port, "name"))
	}
	asked := []any{at(kinds["Service"], "spec", "ports", 0, "targetPort"), at(container, "readinessProbe", "httpGet", "port")}
	for _, rule := range list(kinds["NetworkPolicy"], "spec", "ingress") {
		asked = append(asked, at(rule, "ports", 0, "port"))
	}
	for _, port := range asked {
		if !slices.Contains(ports, port) {
			t.Errorf("the container has no port %v", port)
		}
	}
}
