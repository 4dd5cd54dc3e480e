package pgserver

import (
	"fmt"
	"regexp"
	"strconv"
)

// oldest is the first major version that kproxy supports.
const oldest = 13

// Version is a PostgreSQL version as counted since release 10: 15.4 is major
// 15, minor 4. A pre-release such as 18beta1 has minor 0.
type Version struct {
	Major, Minor int
}

// String is the version as PostgreSQL writes it.
func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// versionLine is what `postgres --version` prints, such as
// "postgres (PostgreSQL) 15.4 (Debian 15.4-1)".
var versionLine = regexp.MustCompile(`\(PostgreSQL\) (\d{1,4})(?:\.(\d{1,4}))?`)

// parseVersion reads the output of `postgres --version`.
func parseVersion(output string) (Version, error) {
	m := versionLine.FindStringSubmatch(output)
	if m == nil {
		return Version{}, fmt.Errorf("%q is not a PostgreSQL version", output)
	}
	major, _ := strconv.Atoi(m[1]) // at most four digits
	minor, _ := strconv.Atoi(m[2]) // digits, or absent and therefore 0
	return Version{Major: major, Minor: minor}, nil
}
