package answers

import (
	"hash/maphash"
	"time"
)

const (
	// LeastTime is how long the server must take for a question whose answer is kept, unless
	// Store.LeastTime is another time. Two looks at the state take some tenths of a millisecond.
	LeastTime = 5 * time.Millisecond

	// costlySlots is how many questions are remembered for having taken so long. A question that
	// falls on the same place takes that of another one.
	costlySlots = 1 << 13
)

// Question is a statement with its parameters, by a hash: enough to tell what is worth a look.
type Question uint64

// Question returns the question of a statement.
func (s *Store) Question(statement string, parameters []byte) Question {
	sum := maphash.String(s.seed, statement)
	if len(parameters) > 0 {
		sum = sum*0x9e3779b97f4a7c15 ^ maphash.Bytes(s.seed, parameters) // an odd number
	}
	return Question(sum | 1) // 0 is none
}

// Costly tells whether a question has taken long when it was asked last. It is a guess: two questions
// may have one hash.
func (s *Store) Costly(q Question) bool {
	return s.costly[q%costlySlots].Load() == uint64(q)
}

// Took notes how long the server took for a question.
func (s *Store) Took(q Question, time time.Duration) {
	slot := &s.costly[q%costlySlots]
	switch {
	case time >= s.LeastTime:
		slot.Store(uint64(q))
	case slot.Load() == uint64(q):
		slot.Store(0)
	}
}
