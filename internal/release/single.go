package release

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
)

// Options of a release; the zero value is valid.
type Options struct {
	// Seed decides ties. The same seed, files and policy give the same release, but for pseudonyms.
	Seed uint64
	// Progress, if not nil, is called with how far the method is.
	Progress func(done, total int)
}

// Figures describe a release for its owner.
type Figures struct {
	Table string `json:"table"`
	// Audience is the one that the release is for.
	Audience string `json:"audience,omitempty"`
	Records  int    `json:"records"`
	// Dropped counts the incomplete records of the file that csv.drop_incomplete leaves out; they are not
	// among Records.
	Dropped int `json:"dropped"`
	Rows    int `json:"rows"`
	// Withheld counts the records that are not published.
	Withheld int `json:"withheld"`
	// Classes counts the equivalence classes; of tables about the same persons, cells and classes of the pool. Smallest
	// and Largest are their sizes, in records.
	Classes  int `json:"classes"`
	Smallest int `json:"smallest"`
	Largest  int `json:"largest"`
	// Loss is the share of the information that generalization removes, of 0 to 1.
	Loss float64 `json:"loss"`
}

// Single is the release of one table.
type Single struct {
	*Rows
	Figures Figures
	// Audience is the one that the release is for; empty for the table's own readers.
	Audience string
	// Constraints are those of the policy.
	Constraints privacy.ConstraintSet

	table  *dataset.Table
	parts  []anonymizer.Part
	whole  catalog.Publication   // of the table's own readers
	finest []*anonymizer.Release // theirs, of each part
}

// InfeasibleError says that no release can meet the constraints.
type InfeasibleError struct{ Why error }

func (e *InfeasibleError) Error() string {
	return fmt.Sprintf("nothing can be released: %v", e.Why)
}

// Code and Hint are for scripts and operators.
func (e *InfeasibleError) Code() string { return "failed" }

// Hint says what to do.
func (e *InfeasibleError) Hint() string {
	return "loosen the constraints, or release more records; 'kproxy eval' tries values of k, l and alpha"
}

func (e *InfeasibleError) Unwrap() error { return e.Why }

// Of makes the release of a file's table by the method of its policy. Errors: a policy that cannot be
// applied to the file, an *InfeasibleError, and the context's.
func Of(ctx context.Context, file *dataset.File, policy *config.PolicyFile, o Options) (s *Single, warnings []string, err error) {
	if every := dataset.CheckEveryColumn(file, policy, nil); every != nil {
		return nil, nil, errors.Join(dataset.CheckColumns(file, policy), every)
	}
	once := *policy
	once.Table.Updates = catalog.Updates{} // a file is published once
	table, err := file.Anonymizable(&once, "")
	if err != nil {
		return nil, nil, err
	}
	publication := table.Publication
	if err := file.CheckNearlyUnique(publication, policy, table.Records.Subjects()); err != nil {
		return nil, nil, err
	}
	set, err := publication.ConstraintSet(table.Schema)
	if err != nil {
		return nil, nil, err
	}
	if err := set.Feasible(table.Records.Population().Summary); err != nil {
		return nil, nil, &InfeasibleError{err}
	}
	method, err := methods.Trying(publication.Policy.Method, publication.Policy.Effort)
	if err != nil {
		return nil, nil, err
	}
	parts, err := anonymizer.Anonymize(ctx, method, table.Records, set, anonymizer.Options{
		Seed: o.Seed, Progress: o.Progress, Suppression: publication.Policy.Suppression,
	})
	if err != nil {
		return nil, nil, err
	}
	s = &Single{Rows: newRows(publication, file), Constraints: set, table: table, parts: parts, whole: publication}
	for i, p := range parts {
		// Like a table that is served, a file shows of each class what its members cover.
		parts[i].Release = &anonymizer.Release{Classes: p.Release.Classes, Withheld: p.Release.Withheld}
		s.addPart(p.Attributes, p.Table, p.Release.Classes)
		s.finest = append(s.finest, parts[i].Release)
	}
	s.arrange()
	if s.Len() == 0 {
		return nil, nil, &InfeasibleError{fmt.Errorf("the method %s puts no record into a class", method.Name())}
	}
	s.measure()
	return s, table.Warnings(), ctx.Err()
}

func (s *Single) measure() {
	s.Figures = Figures{
		Table: s.Publication.Policy.Table.String(), Audience: s.Audience, Records: s.file.Len(), Dropped: s.file.Dropped, Rows: s.Len(), Withheld: s.Withheld(),
		Loss: metric.MeanOfParts(s.parts, metric.PublishedLoss), Smallest: math.MaxInt,
	}
	for _, p := range s.parts {
		s.Figures.addClasses(p.Release.Classes)
	}
}

func (f *Figures) addClasses(classes []anonymizer.EquivalenceClass) {
	for _, class := range classes {
		f.Classes++
		f.Smallest, f.Largest = min(f.Smallest, len(class)), max(f.Largest, len(class))
	}
}
