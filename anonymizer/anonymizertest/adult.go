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

// ErrNoAdult says that the Adult data set is not at hand.
var ErrNoAdult = errors.New("the Adult census data is absent")

// adultFields are the fields of the Adult census files, and whether they are
// numbers, in their order.
var adultFields = []struct {
	name    string
	numeric bool
}{
	{"age", true},
	{"workclass", false},
	{"fnlwgt", true},
	{"education", false},
	{"education-num", true},
	{"marital-status", false},
	{"occupation", false},
	{"relationship", false},
	{"race", false},
	{"sex", false},
	{"capital-gain", true},
	{"capital-loss", true},
	{"hours-per-week", true},
	{"native-country", false},
	{"salary-class", false},
}

// Adult reads the 30,162 complete records of adult.data below the folder, with
// the eight quasi-identifiers of the rounded-partition paper and the salary class
// as the only sensitive attribute. Categories are flat. The error is ErrNoAdult
// where the file is absent.
func Adult(folder string) (*anonymizer.Table, error) {
	return readAdult(
		folder, []string{"adult.data"}, "salary-class",
		"age", "workclass", "education-num", "marital-status", "occupation", "race", "sex", "native-country",
	)
}

// AdultWithTaxonomies is Adult with the hierarchies of its categories, from the folder's
// hierarchies/NAME.csv. A category without such a file is flat.
func AdultWithTaxonomies(folder string) (*anonymizer.Table, error) {
	flat, err := Adult(folder)
	if err != nil {
		return nil, err
	}
	attributes, cells := make([]anonymizer.Attribute, len(flat.Attributes())), make([][]hierarchy.Cell, len(flat.Attributes()))
	for a, attribute := range flat.Attributes() {
		attributes[a], cells[a] = attribute, flat.Cells(a)
		if attribute.Hierarchy.Kind() != hierarchy.Categorical {
			continue
		}
		nodes, err := adultTaxonomy(filepath.Join(folder, "hierarchies", attribute.Name+".csv"))
		if err != nil {
			return nil, err
		}
		attributes[a] = workload.Attribute(attribute.Name, hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: nodes})
		cells[a] = make([]hierarchy.Cell, flat.Len())
		for i, c := range flat.Cells(a) {
			cells[a][i] = attributes[a].Hierarchy.Encode(attribute.Hierarchy.Generalize([]hierarchy.Cell{c}).Value)
		}
	}
	return anonymizer.NewTable(attributes, cells, [][]uint32{flat.Sensitive(0)})
}

// adultTaxonomy is empty where the file is absent.
func adultTaxonomy(path string) ([]hierarchy.Node, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening a hierarchy of the Adult data: %w", err)
	}
	defer func() { _ = file.Close() }()
	nodes, err := hierarchy.ReadTaxonomy(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return nodes, nil
}

// AdultClustering reads the 45,222 complete records of adult.data and
// adult.test below the folder, in this order, as the experiments of CBAD and of
// (alpha,k) clustering use them: eight quasi-identifiers, of which the first four
// are numbers, and the occupation, with 14 values, as the only sensitive
// attribute. Categories are flat. The error is ErrNoAdult where a file is absent.
func AdultClustering(folder string) (*anonymizer.Table, error) {
	return readAdult(
		folder, []string{"adult.data", "adult.test"}, "occupation",
		"age", "education-num", "hours-per-week", "capital-gain", "race", "marital-status", "native-country", "workclass",
	)
}

func readAdult(folder string, files []string, sensitive string, columns ...string) (*anonymizer.Table, error) {
	place := map[string]int{}
	for i, f := range adultFields {
		place[f.name] = i
	}
	attributes := make([]anonymizer.Attribute, len(columns))
	for a, name := range columns {
		spec := hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText}
		if adultFields[place[name]].numeric {
			spec = hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}
		}
		attributes[a] = workload.Attribute(name, spec)
	}
	cells := make([][]hierarchy.Cell, len(columns))
	values, codes := privacy.NewDictionary(), []uint32{}
	for _, file := range files {
		err := adultRecords(filepath.Join(folder, file), func(fields []string) {
			for a, name := range columns {
				cells[a] = append(cells[a], attributes[a].Hierarchy.Encode(fields[place[name]]))
			}
			codes = append(codes, values.Code(strings.TrimSuffix(fields[place[sensitive]], ".")))
		})
		if err != nil {
			return nil, err
		}
	}
	return anonymizer.NewTable(attributes, cells, [][]uint32{codes})
}

// adultRecords gives the fields of each complete record of one file; lines that
// are no records, like the remark at the beginning of adult.test, are passed over.
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
		if len(fields) == len(adultFields) && !strings.Contains(lines.Text(), "?") {
			record(fields)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading the Adult data: %w", err)
	}
	return nil
}
