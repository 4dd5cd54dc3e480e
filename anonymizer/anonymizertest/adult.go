package anonymizertest

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// ErrNoAdult says that the Adult data set is not at hand.
var ErrNoAdult = errors.New("the Adult census data is absent")

// adultColumns are the quasi-identifiers of the rounded-partition paper, as
// column numbers of adult.data.
var adultColumns = []struct {
	name   string
	column int
	kind   hierarchy.Kind
}{
	{"age", 0, hierarchy.Numeric},
	{"workclass", 1, hierarchy.Categorical},
	{"education-num", 4, hierarchy.Numeric},
	{"marital-status", 5, hierarchy.Categorical},
	{"occupation", 6, hierarchy.Categorical},
	{"race", 8, hierarchy.Categorical},
	{"sex", 9, hierarchy.Categorical},
	{"native-country", 13, hierarchy.Categorical},
}

const salaryColumn = 14

// Adult reads the 30,162 complete records of adult.data below the folder, with
// eight quasi-identifiers and the salary class as the only sensitive
// attribute. Categories are flat. The error is ErrNoAdult where the file is
// absent.
func Adult(folder string) (*anonymizer.Table, error) {
	file, err := os.Open(filepath.Join(folder, "adult.data"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrNoAdult
	}
	if err != nil {
		return nil, fmt.Errorf("opening the Adult data: %w", err)
	}
	defer func() { _ = file.Close() }()

	attributes := make([]anonymizer.Attribute, len(adultColumns))
	for a, c := range adultColumns {
		domain := hierarchy.DomainText
		if c.kind == hierarchy.Numeric {
			domain = hierarchy.DomainInteger
		}
		attributes[a] = workload.Attribute(c.name, hierarchy.Spec{Kind: c.kind, Domain: domain})
	}
	cells := make([][]hierarchy.Cell, len(attributes))
	salary := []uint32{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ", ")
		if len(fields) <= salaryColumn || strings.Contains(lines.Text(), "?") {
			continue
		}
		for a, c := range adultColumns {
			cells[a] = append(cells[a], attributes[a].Hierarchy.Encode(fields[c.column]))
		}
		code := uint32(0)
		if fields[salaryColumn] == ">50K" {
			code = 1
		}
		salary = append(salary, code)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the Adult data: %w", err)
	}
	return anonymizer.NewTable(attributes, cells, [][]uint32{salary})
}
