package metamorphic

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// comparison is of what readers see of two worlds.
type comparison struct {
	left, right *world
	// leftURL and rightURL are where the reader connects.
	leftURL, rightURL string
	list              []observable
	// base are the answers of the left world, in which nothing changes.
	base []digest
	// asked are how many statements were compared, and passing how many differed once and
	// not when asked again.
	asked, passing int
}

type digest [16]byte

// difference is an observable that tells the worlds apart.
type difference struct {
	observable  observable
	left, right []byte
	// mutation is after which it does.
	mutation string
}

// compareThrough compares two worlds through the program, or past it.
func compareThrough(left, right *world, list []observable, straight bool) *comparison {
	c := &comparison{left: left, right: right, list: list, leftURL: left.url(user, database), rightURL: right.url(user, database)}
	if straight {
		c.leftURL, c.rightURL = left.straight(), right.straight()
	}
	return c
}

func digestOf(o observable, answer []byte) digest {
	sum := sha256.Sum256(normalize(o, answer))
	return digest(sum[:16])
}

// digests asks a world for everything on the list, and logs how far it is with a long one.
func digests(t *testing.T, url string, list []observable) ([]digest, error) {
	found := make([]digest, len(list))
	began := time.Now()
	return found, ask(t.Context(), url, list, func(i int, answer []byte) {
		found[i] = digestOf(list[i], answer)
		if i > 0 && i%progressed == 0 {
			t.Logf("%d of %d observables are tried after %v", i, len(list), time.Since(began).Round(time.Second))
		}
	})
}

// progressed is after how many observables the log says so.
const progressed = 20_000

// differences compares the right world, as it is now, with the left one.
func (c *comparison) differences(t *testing.T) []difference {
	t.Helper()
	var right []digest
	var errs [2]error
	var group sync.WaitGroup
	if c.base == nil {
		group.Go(func() { c.base, errs[0] = digests(t, c.leftURL, c.list) })
	}
	group.Go(func() { right, errs[1] = digests(t, c.rightURL, c.list) })
	group.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	c.asked += len(c.list)
	var suspects []observable
	for i, o := range c.list {
		if c.base[i] != right[i] {
			suspects = append(suspects, o)
		}
	}
	found := c.confirm(t, suspects)
	c.passing += len(suspects) - len(found)
	return found
}

// slow is how many bytes an answer has from which on it may take longer than the time limit of
// statements, or not. Answers that end with fewer have waited for something.
const slow = 1 << 20

// patient is how often an answer that the time limit of statements ended in one world alone is
// asked for again: whoever waits for something hidden waits each time, and a busy machine is
// not busy for ever.
const patient = 3

// confirm asks both worlds again.
func (c *comparison) confirm(t *testing.T, suspects []observable) []difference {
	t.Helper()
	var found []difference
	for try := 1; len(suspects) > 0; try++ {
		var late []observable
		for _, d := range c.again(t, suspects) {
			switch {
			case !d.late() || try == patient:
				found = append(found, d)
			case min(len(d.left), len(d.right)) <= slow:
				late = append(late, d.observable)
			}
		}
		suspects = late
	}
	return found
}

// again asks both worlds, and returns what still differs.
func (c *comparison) again(t *testing.T, suspects []observable) []difference {
	t.Helper()
	var answers [2][][]byte
	var errs [2]error
	var group sync.WaitGroup
	for side, url := range []string{c.leftURL, c.rightURL} {
		answers[side] = make([][]byte, len(suspects))
		group.Go(func() {
			errs[side] = ask(t.Context(), url, suspects, func(i int, answer []byte) { answers[side][i] = answer })
		})
	}
	group.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	var differ []difference
	for i, o := range suspects {
		if left, right := answers[0][i], answers[1][i]; digestOf(o, left) != digestOf(o, right) {
			differ = append(differ, difference{observable: o, left: left, right: right})
		}
	}
	return differ
}

// late says whether the time limit of statements ended the answer of one world alone.
func (d difference) late() bool { return endless(d.left) != endless(d.right) }

// reordered says whether the answers can be of the same rows in another order: they are the
// same bytes, or one of them fails by a row's value (class 22), and which row comes first
// decides by which, and after how many.
func (d difference) reordered() bool {
	left, right := messages(normalize(d.observable, d.left)), messages(normalize(d.observable, d.right))
	return ofRow(left) || ofRow(right) || slices.Equal(sortedBytes(left), sortedBytes(right))
}

// ofRow says whether an answer fails by the value of a row.
func ofRow(answer []string) bool {
	return slices.ContainsFunc(answer, func(m string) bool { return strings.HasPrefix(m, "E ") && strings.Contains(m, `\x00C22`) })
}

func sortedBytes(answer []string) []byte {
	sorted := []byte(strings.Join(answer, ""))
	slices.Sort(sorted)
	return sorted
}

// String names the observable, the mutation and the two answers, where they begin to differ.
func (d difference) String() string {
	left, right := messages(d.left), messages(d.right)
	i := 0
	for i < len(left) && i < len(right) && left[i] == right[i] {
		i++
	}
	at := func(list []string) string {
		if i >= len(list) {
			return "nothing more"
		}
		return list[i]
	}
	a, b := around(at(left), at(right))
	return fmt.Sprintf("%s\n    after:   %s\n    message %d of %d and %d\n    without: %s\n    with:    %s", d.observable, d.mutation, i+1, len(left), len(right), a, b)
}

// around cuts two texts to where they begin to differ.
func around(a, b string) (string, string) {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	cut := func(s string) string {
		from, to := max(i-60, 0), min(i+100, len(s))
		head, tail := "", ""
		if from > 0 {
			head = s[:2] + "..."
		}
		if to < len(s) {
			tail = "..."
		}
		return head + strings.ToValidUTF8(s[from:to], "?") + tail
	}
	return cut(a), cut(b)
}
