package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/jackc/pgx/v5"
)

// protected is a table of the policy tests: how its rows are made, how it is
// protected, and what may therefore be found in every published class.
//
// Every table has the key id, published as ref besides. Rows come in pairs, with
// ids 2n and 2n+1, and every source transaction leaves whole pairs behind.
type protected struct {
	name     string
	policy   string // but for its columns
	columns  []made
	parts    [][]string // the columns divided into classes together
	promises []promise
	subject  string // the column of persons
}

// made is a column whose values are made at random.
type made struct {
	name, sqlType, policy string
	value                 func(*rand.Rand) string // an SQL literal
	// shown are the published columns of a quasi-identifying one, the last of which
	// covers its value; none where the value is published as it is.
	shown  []string
	covers func(published, value *string) bool
}

func oneOf(values ...string) func(*rand.Rand) string {
	return func(rng *rand.Rand) string { return "'" + values[rng.IntN(len(values))] + "'" }
}

// now and then makes NULL of a value.
func rarelyNull(value func(*rand.Rand) string) func(*rand.Rand) string {
	return func(rng *rand.Rand) string {
		if v := value(rng); rng.IntN(30) > 0 {
			return v
		}
		return "NULL"
	}
}

func integers(from, to int) func(*rand.Rand) string {
	return func(rng *rand.Rand) string { return fmt.Sprint(from + rng.IntN(to-from)) }
}

func days(rng *rand.Rand) string {
	return fmt.Sprintf("'%d-%02d-%02d'", 1930+rng.IntN(80), 1+rng.IntN(12), 1+rng.IntN(28))
}

func moments(rng *rand.Rand) string {
	return fmt.Sprintf("'20%02d-%02d-%02d %02d:30:00'", 10+rng.IntN(15), 1+rng.IntN(12), 1+rng.IntN(28), rng.IntN(24))
}

func digits(rng *rand.Rand) string { return fmt.Sprintf("'%05d'", 10000+rng.IntN(3000)) }

// jobs is the taxonomy file of the column job.
const jobs = "nurse;care;people;*\nphysician;care;people;*\nteacher;school;people;*\ndriver;machines;things;*\nwelder;machines;things;*\nfarmer;land;things;*\n"

const townTaxonomy = "{north: {coast: [Kiel, Husum], inland: [Celle]}, south: [Ulm, Passau, Lindau]}"

// policyTables are six tables that together have every constraint, every kind of
// hierarchy and every option.
func policyTables() []protected {
	return []protected{visits(), journeys(), staff(), loans(), probes(), letters()}
}

// visits is divided into two parts.
func visits() protected {
	return protected{
		name: "visits",
		policy: `
    method: mondrian-strict
    updates: immediate
    constraints:
      - {k: 4, over: [age, town]}
      - {k: 3, over: [postcode, born]}
      - {k: 2, over: [town]}`,
		parts: [][]string{{"age", "town"}, {"postcode", "born"}},
		promises: []promise{
			{"k of age and town", []string{"age", "town"}, "", atLeast(4)},
			{"k of postcode and born", []string{"postcode", "born"}, "", atLeast(3)},
			{"k of town", []string{"town"}, "", atLeast(2)},
		},
		columns: []made{
			{"age", "integer", "{role: quasi-identifying, hierarchy: numeric, publish: both}", rarelyNull(integers(0, 90)), []string{"age", "age_range"}, inRange(byNumber)},
			{
				"town", "text", "{role: quasi-identifying, hierarchy: {kind: categorical, taxonomy: " + townTaxonomy + "}}",
				rarelyNull(oneOf("Kiel", "Husum", "Celle", "Ulm", "Passau", "Lindau", "Nowhere")),
				[]string{"town"},
				below(map[string]string{"Kiel": "coast", "Husum": "coast", "Celle": "inland", "coast": "north", "inland": "north", "Ulm": "south", "Passau": "south", "Lindau": "south"}),
			},
			{"postcode", "text", "{role: quasi-identifying, hierarchy: {kind: prefix, keep: [3, 2]}}", rarelyNull(digits), []string{"postcode"}, beginning(3, 2)},
			{"born", "date", "{role: quasi-identifying, hierarchy: {kind: date, units: [month, year, decade]}, publish: range}", rarelyNull(days), []string{"born"}, inRange(byText)},
			{"illness", "text", "sensitive", rarelyNull(oneOf("flu", "gout", "asthma", "measles", "mumps")), nil, nil},
		},
	}
}

// journeys has several rows for each person.
func journeys() protected {
	return protected{
		name: "journeys",
		policy: `
    method: mondrian-relaxed
    subject: traveler
    updates: immediate
    constraints: [{k: 3}, {l: 3, of: purpose}, {entropy_l: 1.8, of: purpose}, {alpha: 0.6, of: purpose, values: [holiday]}]`,
		parts:    [][]string{{"distance", "departed", "comfort"}},
		subject:  "traveler",
		promises: []promise{{"k", nil, "", atLeast(3)}, {"l", nil, "purpose", distinctL(3)}, {"entropy l", nil, "purpose", entropyL(1.8)}, {"alpha", nil, "purpose", alphaBound(0.6, "holiday")}},
		columns: []made{
			{"traveler", "bigint", "", rarelyNull(integers(1, 1000)), nil, nil},
			{"distance", "numeric(8,2)", "{role: quasi-identifying, hierarchy: {kind: numeric, steps: [5, 10, 50, 500], origin: 2.5}, publish: range}", rarelyNull(integers(-20, 900)), []string{"distance"}, inRange(byNumber)},
			{"departed", "timestamp", "{role: quasi-identifying, hierarchy: {kind: date, units: [day, quarter, century]}, publish: both}", moments, []string{"departed", "departed_range"}, inRange(byText)},
			{
				"comfort", "text", "{role: quasi-identifying, hierarchy: {kind: ordered, values: [third, second, first, sleeper]}}",
				rarelyNull(oneOf("third", "second", "first", "sleeper", "roof")),
				[]string{"comfort"},
				between("third", "second", "first", "sleeper"),
			},
			{"purpose", "text", "sensitive", oneOf("holiday", "work", "visit", "study", "other"), nil, nil},
		},
	}
}

// staff bounds how even sensitive values are.
func staff() protected {
	return protected{
		name: "staff",
		policy: `
    method: bottom-up
    updates: immediate
    constraints: [{k: 3}, {entropy_l: 2.5, of: grade}, {recursive_l: 2, c: 1.5, of: grade}, {alpha: 0.6, of: grade}]`,
		parts: [][]string{{"salary", "job", "race", "region"}},
		promises: []promise{
			{"k", nil, "", atLeast(3)},
			{"entropy l", nil, "grade", entropyL(2.5)},
			{"recursive l", nil, "grade", recursiveL(1.5, 2)},
			{"alpha", nil, "grade", alphaBound(0.6)},
		},
		columns: []made{
			{"salary", "bigint", "{role: quasi-identifying, hierarchy: numeric, publish: range}", rarelyNull(integers(900, 9000)), []string{"salary"}, inRange(byNumber)},
			{
				"job", "text", "{role: quasi-identifying, hierarchy: {kind: categorical, file: jobs.csv}}",
				rarelyNull(oneOf("nurse", "physician", "teacher", "driver", "welder", "farmer")),
				[]string{"job"},
				below(map[string]string{
					"nurse": "care", "physician": "care", "teacher": "school", "driver": "machines", "welder": "machines", "farmer": "land",
					"care": "people", "school": "people", "machines": "things", "land": "things",
				}),
			},
			{"race", "text", "{role: quasi-identifying, hierarchy: suppression}", oneOf("elf", "dwarf", ""), []string{"race"}, below(nil)},
			{"region", "text", "{role: quasi-identifying, hierarchy: categorical}", rarelyNull(oneOf("east", "west", "no", "*")), []string{"region"}, below(nil)},
			{"grade", "text", "sensitive", rarelyNull(oneOf("A", "B", "C", "D", "E", "F")), nil, nil},
		},
	}
}

// loans compares distributions over every ground distance.
func loans() protected {
	return protected{
		name: "loans",
		policy: `
    method: datafly
    suppression: 0.05
    updates: immediate
    constraints:
      - {k: 4}
      - {t: 0.25, of: purpose}
      - {t: 0.2, of: purpose, distance: hierarchical}
      - {t: 0.15, of: amount, distance: ordered}
      - {t: 0.15, of: rating, distance: ordered}`,
		parts: [][]string{{"age", "branch"}},
		promises: []promise{
			{"k", nil, "", atLeast(4)},
			{"t", nil, "purpose", closeness(0.25, equalDistance)},
			{"t by taxonomy", nil, "purpose", closeness(0.2, hierarchicalDistance(map[string]string{"car": "things", "boat": "things", "school": "people", "wedding": "people"}))},
			{"t by numbers", nil, "amount", orderedCloseness(0.15, "100", "200", "500", "1000", "9000")},
			{"t by order", nil, "rating", orderedCloseness(0.15, "bad", "fair", "good")},
		},
		columns: []made{
			{"age", "smallint", "{role: quasi-identifying, hierarchy: {kind: numeric, steps: [10, 20]}, publish: both}", rarelyNull(integers(18, 80)), []string{"age", "age_range"}, inRange(byNumber)},
			{"branch", "integer", "{role: quasi-identifying, hierarchy: prefix}", integers(1000, 1400), []string{"branch"}, beginning(4, 3, 2, 1)},
			{
				"purpose", "text", "{role: sensitive, hierarchy: {kind: categorical, taxonomy: {things: [car, boat], people: [school, wedding]}}}",
				oneOf("car", "boat", "school", "wedding"), nil, nil,
			},
			{"amount", "integer", "sensitive", oneOf("100", "200", "500", "1000", "9000"), nil, nil},
			{"rating", "text", "{role: sensitive, hierarchy: {kind: ordered, values: [bad, fair, good]}}", oneOf("bad", "fair", "good"), nil, nil},
		},
	}
}

// probes bounds how much a class tells in comparison with the table.
func probes() protected {
	return protected{
		name: "probes",
		policy: `
    method: classfly
    updates: immediate
    constraints: [{k: 3}, {beta: 1.5, of: outcome}, {delta: 1.5, of: outcome}, {beta: 2, of: strain, enhanced: true}]`,
		parts: [][]string{{"taken", "sex"}},
		promises: []promise{
			{"k", nil, "", atLeast(3)},
			{"beta", nil, "outcome", likeness(1.5, false)},
			{"delta", nil, "outcome", disclosure(1.5)},
			{"enhanced beta", nil, "strain", likeness(2, true)},
		},
		columns: []made{
			{"taken", "date", "{role: quasi-identifying, hierarchy: date, publish: value}", days, []string{"taken"}, anything},
			{"sex", "text", "{role: quasi-identifying, hierarchy: categorical}", oneOf("f", "m", "x"), []string{"sex"}, below(nil)},
			{"outcome", "text", "sensitive", oneOf("positive", "negative", "unclear"), nil, nil},
			{"strain", "text", "sensitive", rarelyNull(oneOf("a", "b", "c", "d", "e")), nil, nil},
		},
	}
}

// letters has constraints that are tied together by a common column.
func letters() protected {
	return protected{
		name: "letters",
		policy: `
    method: alpha-k-multi
    updates: immediate
    constraints: [{k: 5, over: [sent, sex]}, {k: 3, over: [sex, weight]}, {alpha: 0.5, of: topic, values: [love, money]}]`,
		parts: [][]string{{"sent", "sex", "weight"}},
		promises: []promise{
			{"k of sent and sex", []string{"sent", "sex"}, "", atLeast(5)},
			{"k of sex and weight", []string{"sex", "weight"}, "", atLeast(3)},
			{"alpha", nil, "topic", alphaBound(0.5, "love", "money")},
		},
		columns: []made{
			{"sent", "date", "{role: quasi-identifying, hierarchy: {kind: date, units: [year]}, publish: range}", rarelyNull(days), []string{"sent"}, inRange(byText)},
			{"sex", "text", "{role: quasi-identifying, hierarchy: suppression}", oneOf("f", "m"), []string{"sex"}, below(nil)},
			{"weight", "double precision", "{role: quasi-identifying, hierarchy: numeric, publish: range}", rarelyNull(oneOf("1.5", "20.25", "0", "-0", "1e3", "7", "8", "9", "Infinity", "NaN")), []string{"weight"}, inRange(byNumber)},
			{"topic", "text", "sensitive", oneOf("love", "money", "weather", "trade", "war"), nil, nil},
		},
	}
}

// create is the statement that makes the table.
func (p protected) create() string {
	columns := []string{"id bigint PRIMARY KEY", "ref bigint NOT NULL"}
	for _, c := range p.columns {
		columns = append(columns, c.name+" "+c.sqlType)
	}
	return fmt.Sprintf("CREATE TABLE %s (%s)", p.name, strings.Join(columns, ", "))
}

// insert adds pairs of rows, the first of which has the number first.
func (p protected) insert(rng *rand.Rand, first int64, pairs int) string {
	rows := make([]string, 2*pairs)
	for i := range rows {
		id := 2*first + int64(i)
		row := fmt.Sprintf("(%d, %d", id, id)
		for _, c := range p.columns {
			row += ", " + c.value(rng)
		}
		rows[i] = row + ")"
	}
	return fmt.Sprintf("INSERT INTO %s VALUES %s", p.name, strings.Join(rows, ", "))
}

// section is the table's place in the configuration.
func (p protected) section() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  public.%s:%s\n    acknowledge: {joinable: [ref]}\n    columns:\n      id: identifying\n      ref: insensitive\n", p.name, p.policy)
	for _, c := range p.columns {
		if c.policy != "" {
			fmt.Fprintf(&b, "      %s: %s\n", c.name, c.policy)
		}
	}
	return b.String()
}

// stored are the source columns that the private store keeps.
func (p protected) stored() string {
	names := []string{"id", "ref"}
	for _, c := range p.columns {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// protectedSite is a database of the tables with some rows in them, and further
// tables as they are.
func protectedSite(o siteOptions, seed uint64, pairs int, tables []protected, statements string) siteOptions {
	o.tables = "tables:\n" + o.tables
	for _, p := range tables {
		o.tables += p.section()
	}
	o.load = func(ctx context.Context, conn *pgx.Conn) error {
		rng := rand.New(rand.NewPCG(seed, 0))
		for _, p := range tables {
			statements += ";" + p.create() + ";" + p.insert(rng, 1, pairs)
		}
		_, err := conn.Exec(ctx, statements)
		return err
	}
	return o
}
