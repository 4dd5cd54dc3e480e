package linked

import (
	"strconv"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/people"
)

// Measurement is one release of all tables.
type Measurement struct {
	// Knows is what an outsider is granted to know, as catalog.ParseKnowledge reads it,
	// and Explained what that means.
	Knows       string   `json:"knows"`
	Explained   string   `json:"explained"`
	K           int      `json:"k"`
	Constraints []string `json:"constraints"`
	// Refused says why there is no release. Everything below is then empty.
	Refused string `json:"refused,omitempty"`

	Classes  int     `json:"classes"`
	Smallest int     `json:"smallest_class"`
	Average  float64 `json:"average_class"`
	Largest  int     `json:"largest_class"`
	// Root and Tables say what becomes of the records.
	Root   TableFigures   `json:"root"`
	Tables []TableFigures `json:"tables"`
	// Linked is the share of the rows of all tables that keep their keys, 0 to 1, and Loss
	// the mean over these tables, by their rows, of TableFigures.Loss.
	Linked float64 `json:"linked"`
	Loss   float64 `json:"information_loss"`
	// Risks are those for outsiders who know more and more.
	Risks   []RiskFigures `json:"risks"`
	Queries []Summary     `json:"queries"`
	Answers []Answer      `json:"answers"`
}

// TableFigures say what becomes of the records of one table. Shares are 0 to 1.
type TableFigures struct {
	Table string `json:"table"`
	Rows  int    `json:"rows"`
	// Orphans are rows that belong to nobody, which are withheld.
	Orphans int `json:"orphans"`
	// Linked rows keep their keys, pooled ones do not, and withheld ones are not published.
	Linked   float64 `json:"linked"`
	Pooled   float64 `json:"pooled"`
	Withheld float64 `json:"withheld"`
	// Cells are the classes of linked rows.
	Cells int `json:"cells"`
	// Loss is metric.PublishedLoss over all quasi-identifying columns.
	Loss    float64        `json:"information_loss"`
	Columns []ColumnLosses `json:"columns"`
}

// ColumnLosses is what becomes of one quasi-identifying column.
type ColumnLosses struct {
	Column string  `json:"column"`
	Loss   float64 `json:"information_loss"`
	// Width is the mean width of published ranges, in days for dates and points in time,
	// else in the column's unit; of numbers and dates that are published, else 0.
	Width float64 `json:"width,omitempty"`
	// Ordered says that Width is one.
	Ordered bool `json:"ordered"`
	Days    bool `json:"days"`
}

// RiskFigures is what an outsider achieves who knows so many rows.
type RiskFigures struct {
	// Known is a number of rows, or all.
	Known   string `json:"known_rows"`
	Targets int    `json:"targets"`
	// Mean of 1/candidates over the targets, Fewest candidates of one, and the share
	// Below k.
	Mean   float64 `json:"mean_risk"`
	Fewest int     `json:"fewest_candidates"`
	Below  float64 `json:"below_k"`
}

func riskOf(r people.Risk, known int) RiskFigures {
	f := RiskFigures{Known: strconv.Itoa(known), Targets: r.Targets, Mean: r.Mean, Fewest: r.Fewest, Below: r.Below}
	if known == people.AllRows {
		f.Known = "all"
	}
	return f
}

// classes fills in the figures of classes, tables and columns.
func (m *Measurement) classes(d *people.Data, r *people.Release) {
	whole := &anonymizer.Release{Classes: r.Classes, Withheld: r.Withheld}
	m.Classes, m.Average, m.Largest = metric.Classes(whole), metric.AverageClassSize(whole), metric.LargestClass(whole)
	m.Smallest = m.Largest
	for _, class := range r.Classes {
		m.Smallest = min(m.Smallest, len(class))
	}
	m.Root = TableFigures{Rows: d.Root.Len(), Linked: 1, Cells: len(r.Classes)}
	m.Root.losses(d.Root, whole)
	linked, rows := 0.0, 0
	for i, t := range d.Tables {
		f := TableFigures{Table: t.Name, Rows: t.Rows.Len(), Cells: len(r.Tables[i].Cells)}
		published := &anonymizer.Release{Withheld: r.Tables[i].Withheld}
		inCells, pooled := 0, 0
		for _, cell := range r.Tables[i].Cells {
			published.Classes = append(published.Classes, cell.Rows)
			inCells += len(cell.Rows)
		}
		for _, class := range r.Tables[i].Pooled {
			published.Classes = append(published.Classes, class)
			pooled += len(class)
		}
		all := float64(max(1, f.Rows))
		f.Linked, f.Pooled, f.Withheld = float64(inCells)/all, float64(pooled)/all, float64(len(published.Withheld))/all
		for _, p := range personsOf(d, i) {
			if p == people.Nobody {
				f.Orphans++
			}
		}
		f.losses(t.Rows, published)
		m.Tables = append(m.Tables, f)
		linked, rows, m.Loss = linked+float64(inCells), rows+f.Rows, m.Loss+f.Loss*float64(f.Rows)
	}
	m.Linked, m.Loss = linked/float64(max(1, rows)), m.Loss/float64(max(1, rows))
}

// losses fills in what is lost of the columns.
func (f *TableFigures) losses(t *anonymizer.Table, r *anonymizer.Release) {
	f.Columns = []ColumnLosses{}
	for a, attribute := range t.Attributes() {
		alone := t.Project([]int{a})
		c := ColumnLosses{Column: attribute.Name, Loss: metric.PublishedLoss(alone, r)}
		f.Loss += c.Loss / float64(len(t.Attributes()))
		kind := attribute.Hierarchy.Kind()
		if c.Ordered = kind == hierarchy.Date || kind == hierarchy.Numeric; c.Ordered {
			c.Days = kind == hierarchy.Date
			c.Width = meanWidth(alone, r)
		}
		f.Columns = append(f.Columns, c)
	}
}

// meanWidth is the mean width of what is published of the rows in the only column.
func meanWidth(t *anonymizer.Table, r *anonymizer.Release) float64 {
	h := t.Attributes()[0].Hierarchy
	sum, rows := 0.0, 0
	for _, class := range r.Classes {
		if m, ok := momentOf(h, t.Generalize(class)[0]); ok {
			sum += (m.high - m.low) * float64(len(class))
			rows += len(class)
		}
	}
	return sum / float64(max(1, rows)) / dayOf(h)
}
