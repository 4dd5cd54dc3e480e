package metamorphic

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// observable is something that a reader does, of which the answer is compared byte for
// byte.
type observable struct {
	// family is what enumerates it, and name what is asked; together they name it.
	family, name string
	// texts are sent one after another, each in the same way.
	texts []string
	way   way
	// leaves says that something of the session may be left behind, and has to be undone.
	leaves bool
}

func (o observable) String() string { return o.family + ": " + o.name }

// whole has the texts, too: names of long ones are cut.
func (o observable) whole() string { return o.String() + "\n" + strings.Join(o.texts, "\n") }

// way is how a text is sent.
type way int

const (
	simple   way = iota // as a Query message
	extended            // prepared, described, bound and run, in text
	inBinary            // the same, with binary results
	describe            // prepared and described only
	startup             // not at all: the texts are parameters of a login
)

// messages are what is sent for one text, up to what is answered by one ReadyForQuery.
func (w way) messages(text string) []pgproto3.FrontendMessage {
	switch w {
	case simple:
		return []pgproto3.FrontendMessage{&pgproto3.Query{String: text}}
	case describe:
		return []pgproto3.FrontendMessage{&pgproto3.Parse{Query: text}, &pgproto3.Describe{ObjectType: 'S'}, &pgproto3.Sync{}}
	}
	format := int16(0)
	if w == inBinary {
		format = 1
	}
	return []pgproto3.FrontendMessage{
		&pgproto3.Parse{Query: text}, &pgproto3.Describe{ObjectType: 'S'}, &pgproto3.Bind{ResultFormatCodes: []int16{format}},
		&pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, &pgproto3.Sync{},
	}
}

// one is an observable of one text.
func one(family string, w way, text string) observable {
	return observable{family: family, name: text, texts: []string{text}, way: w}
}

// observables are all that there are, in the order of their families.
func (f facts) observables() ([]observable, error) {
	all := slices.Concat(f.ofRelations(), f.ofFunctions(), f.ofSettings(), f.ofPlans(), f.ofNames(), f.ofHelpers(), f.ofLogins())
	attacks, err := ofAttacks()
	all = append(all, attacks...)
	if *only != "" {
		wanted := regexp.MustCompile(*only)
		all = slices.DeleteFunc(all, func(o observable) bool { return !wanted.MatchString(o.String()) })
	}
	seen := make(map[string]bool, len(all))
	return slices.DeleteFunc(all, func(o observable) bool {
		key := string(rune(o.way)) + o.String()
		defer func() { seen[key] = true }()
		return seen[key]
	}), err
}

// draw takes a sample: of each family a share, and those that must be in it.
func draw(all []observable, size int, seed uint64, must func(observable) bool) []observable {
	families := make(map[string]int)
	for _, o := range all {
		families[o.family]++
	}
	var start [8]byte
	binary.LittleEndian.PutUint64(start[:], seed)
	var chosen []observable
	for _, o := range all {
		h := fnv.New64a()
		_, _ = h.Write(start[:])
		_, _ = h.Write([]byte(o.String()))
		count := families[o.family]
		share := float64(max(min(count, leastOfFamily), size/len(families))) / float64(count)
		if mixed(h.Sum64()) < share || must(o) {
			chosen = append(chosen, o)
		}
	}
	return chosen
}

// leastOfFamily is about how many observables of a family are in every sample.
const leastOfFamily = 50

// mixed spreads a hash over the numbers from 0 to 1.
func mixed(hash uint64) float64 {
	return rand.New(rand.NewPCG(hash, hash)).Float64()
}
