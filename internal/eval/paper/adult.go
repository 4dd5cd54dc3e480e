package paper

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
)

// adultFields are the fields of the Adult census files (UCI machine learning
// repository), in their order.
var adultFields = []string{
	"age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
	"race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary-class",
}

// adultNumbers are those of the fields that are numbers.
var adultNumbers = []string{"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}

// The quasi-identifiers of the papers' experiments, in their order.
var (
	partitionColumns = []string{"age", "workclass", "education-num", "marital-status", "occupation", "race", "sex", "native-country"}
	clusterColumns   = []string{
		"age", "education-num", "hours-per-week", "capital-gain",
		"race", "marital-status", "native-country", "workclass",
	}
)

// adultTable says what of the Adult data an experiment takes.
type adultTable struct {
	columns   []string // quasi-identifiers
	sensitive string
	// whole adds the 15,060 complete records of the test file to the 30,162.
	whole bool
	// taxonomies takes the hierarchies that come with the data; without them,
	// categories are flat, in the order of their first appearance.
	taxonomies bool
}

func (s Setup) adult(a adultTable) (*anonymizer.Table, error) {
	records, err := s.adultRecords(a.whole)
	if err != nil {
		return nil, err
	}
	attributes := make([]anonymizer.Attribute, len(a.columns))
	cells := make([][]hierarchy.Cell, len(a.columns))
	for i, name := range a.columns {
		spec := hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText}
		if slices.Contains(adultNumbers, name) {
			spec = hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}
		} else if a.taxonomies {
			if spec.Taxonomy, err = s.adultTaxonomy(name); err != nil {
				return nil, err
			}
		}
		h, err := hierarchy.New(spec)
		if err != nil {
			return nil, fmt.Errorf("hierarchy of %s: %w", name, err)
		}
		attributes[i] = anonymizer.Attribute{Name: name, Hierarchy: h}
		column := slices.Index(adultFields, name)
		for _, r := range records {
			cells[i] = append(cells[i], h.Encode(r[column]))
		}
	}
	values, codes := privacy.NewDictionary(), make([]uint32, len(records))
	for i, r := range records {
		codes[i] = values.Code(strings.TrimSuffix(r[slices.Index(adultFields, a.sensitive)], "."))
	}
	return anonymizer.NewTable(attributes, cells, [][]uint32{codes})
}

func (s Setup) adultRecords(whole bool) ([][]string, error) {
	if s.Adult == "" {
		return nil, fmt.Errorf("%w: name the folder that holds adult.data and adult.test with --adult", ErrNoData)
	}
	files := []string{"adult.data"}
	if whole {
		files = append(files, "adult.test")
	}
	var records [][]string
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(s.Adult, name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: the folder %s that --adult names has no %s", ErrNoData, s.Adult, name)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the Adult data: %w", err)
		}
		if remark, after, _ := strings.Cut(string(text), "\n"); strings.HasPrefix(remark, "|") {
			text = []byte(after) // the test file begins so, if nobody has removed it
		}
		file, err := dataset.Parse(text, config.CSV{Delimiter: ',', Columns: adultFields, Missing: "?", TrimSpaces: true, DropIncomplete: true})
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		for i := range file.Len() {
			record := make([]string, len(file.Columns))
			for column := range record {
				record[column] = file.Field(i, column)
			}
			records = append(records, record)
		}
	}
	if s.Quick {
		records = thin(records)
	}
	return records, nil
}

// quickRecords is about how many records a quick look takes.
const quickRecords = 4000

// thin takes every so-many-th record.
func thin(records [][]string) [][]string {
	var some [][]string
	for i := 0; i < len(records); i += max(1, len(records)/quickRecords) {
		some = append(some, records[i])
	}
	return some
}

// adultTaxonomy reads the hierarchy that comes with the data. Without one, the
// categories are flat.
func (s Setup) adultTaxonomy(column string) ([]hierarchy.Node, error) {
	f, err := os.Open(filepath.Join(s.Adult, "hierarchies", column+".csv"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening a hierarchy of the Adult data: %w", err)
	}
	defer func() { _ = f.Close() }()
	nodes, err := hierarchy.ReadTaxonomy(f)
	if err != nil {
		return nil, fmt.Errorf("hierarchy of %s: %w", column, err)
	}
	return nodes, nil
}
