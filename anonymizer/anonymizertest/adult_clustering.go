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
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// clusteringColumns are the quasi-identifiers of the clustering papers, as
// column numbers of adult.data: four numeric, then four categorical ones.
var clusteringColumns = []struct {
	name   string
	column int
	kind   hierarchy.Kind
}{
	{"age", 0, hierarchy.Numeric},
	{"education-num", 4, hierarchy.Numeric},
	{"hours-per-week", 12, hierarchy.Numeric},
	{"capital-gain", 10, hierarchy.Numeric},
	{"race", 8, hierarchy.Categorical},
	{"marital-status", 5, hierarchy.Categorical},
	{"native-country", 13, hierarchy.Categorical},
	{"workclass", 1, hierarchy.Categorical},
}

const occupationColumn = 6

// AdultClustering reads the 45,222 complete records of adult.data and
// adult.test below the folder, in this order, as the experiments of CBAD and of
// (alpha,k) clustering use them: eight quasi-identifiers and the occupation,
// with 14 values, as the only sensitive attribute. Categories are flat. The
// error is ErrNoAdult where a file is absent.
func AdultClustering(folder string) (*anonymizer.Table, error) {
	attributes := make([]anonymizer.Attribute, len(clusteringColumns))
	for a, c := range clusteringColumns {
		domain := hierarchy.DomainText
		if c.kind == hierarchy.Numeric {
			domain = hierarchy.DomainInteger
		}
		attributes[a] = workload.Attribute(c.name, hierarchy.Spec{Kind: c.kind, Domain: domain})
	}
	cells := make([][]hierarchy.Cell, len(attributes))
	occupations, occupation := privacy.NewDictionary(), []uint32{}
	for _, name := range []string{"adult.data", "adult.test"} {
		err := adultRecords(filepath.Join(folder, name), func(fields []string) {
			for a, c := range clusteringColumns {
				cells[a] = append(cells[a], attributes[a].Hierarchy.Encode(fields[c.column]))
			}
			occupation = append(occupation, occupations.Code(fields[occupationColumn]))
		})
		if err != nil {
			return nil, err
		}
	}
	return anonymizer.NewTable(attributes, cells, [][]uint32{occupation})
}

// adultRecords gives the fields of each complete record of one file; lines that
// are no records, like the first one of adult.test, are passed over.
func adultRecords(path string, record func(fields []string)) error {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return ErrNoAdult
	}
	if err != nil {
		return fmt.Errorf("opening the Adult data: %w", err)
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ", ")
		if len(fields) > salaryColumn && !strings.Contains(lines.Text(), "?") {
			record(fields)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading the Adult data: %w", err)
	}
	return nil
}
