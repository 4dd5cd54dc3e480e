//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package reactor

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// poller is a kqueue, level-triggered, with a pipe to wake it.
type poller struct {
	fd            int
	waker, waking int // the pipe's ends
	events        [256]unix.Kevent_t
	watched       map[int]interest
}

func (p *poller) open() error {
	var err error
	if p.fd, err = unix.Kqueue(); err != nil {
		return os.NewSyscallError("kqueue", err)
	}
	unix.CloseOnExec(p.fd)
	var ends [2]int
	if err := unix.Pipe(ends[:]); err != nil {
		_ = unix.Close(p.fd)
		return os.NewSyscallError("pipe", err)
	}
	p.waker, p.waking, p.watched = ends[0], ends[1], make(map[int]interest)
	for _, end := range ends {
		unix.CloseOnExec(end)
		if err := unix.SetNonblock(end, true); err != nil {
			p.close()
			return os.NewSyscallError("fcntl", err)
		}
	}
	if err := p.add(p.waker, interest{read: true}); err != nil {
		p.close()
		return err
	}
	return nil
}

func (p *poller) close() {
	for _, fd := range []int{p.fd, p.waker, p.waking} {
		_ = unix.Close(fd)
	}
}

func (p *poller) add(fd int, of interest) error { return p.change(fd, of) }

// change adds and deletes the two filters of a descriptor. One that is watched for
// nothing is heard of when it is watched again: kqueue has no event for its end alone.
func (p *poller) change(fd int, to interest) error {
	before := p.watched[fd]
	var changes []unix.Kevent_t
	set := func(was, is bool, filter int) {
		if was == is {
			return
		}
		flags := unix.EV_DELETE
		if is {
			flags = unix.EV_ADD
		}
		var change unix.Kevent_t
		unix.SetKevent(&change, fd, filter, flags)
		changes = append(changes, change)
	}
	set(before.read, to.read, unix.EVFILT_READ)
	set(before.write, to.write, unix.EVFILT_WRITE)
	if len(changes) > 0 {
		if _, err := unix.Kevent(p.fd, changes, nil, nil); err != nil {
			return os.NewSyscallError("kevent", err)
		}
	}
	p.watched[fd] = to
	return nil
}

func (p *poller) remove(fd int) {
	_ = p.change(fd, interest{})
	delete(p.watched, fd)
}

// wake has wait return; it may be called from anywhere.
func (p *poller) wake() {
	_, _ = unix.Write(p.waking, []byte{1}) // it fails only where it is awake already
}

// wait calls tell for each descriptor that is ready, after at most so long; negative
// is for ever.
func (p *poller) wait(most time.Duration, tell func(fd int, event Event)) error {
	var timeout *unix.Timespec
	if most >= 0 {
		t := unix.NsecToTimespec(most.Nanoseconds())
		timeout = &t
	}
	n, err := unix.Kevent(p.fd, nil, p.events[:], timeout)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return os.NewSyscallError("kevent", err)
	}
	for _, event := range p.events[:max(n, 0)] {
		fd := int(event.Ident)
		if fd == p.waker {
			var drained [64]byte
			_, _ = unix.Read(p.waker, drained[:])
			continue
		}
		tell(fd, Event{
			Readable: event.Filter == unix.EVFILT_READ,
			Writable: event.Filter == unix.EVFILT_WRITE,
			Gone:     event.Flags&unix.EV_EOF != 0,
		})
	}
	return nil
}
