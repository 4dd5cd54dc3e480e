package rig

import (
	"bytes"
	"errors"
	"regexp"
	"sync"
	"time"
)

// patience bounds what must happen soon; nothing is measured against it.
const patience = 8 * time.Minute

// Log gathers what a process says while others read it. The zero value is empty.
type Log struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

// Write adds to the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(p)
}

// String is all that has been said.
func (l *Log) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

// Await waits until something is said and returns it with its groups.
func (l *Log) Await(what *regexp.Regexp) ([]string, error) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if found := what.FindStringSubmatch(l.String()); found != nil {
			return found, nil
		}
	}
	return nil, errors.New("it was not said in time:\n" + l.String())
}
