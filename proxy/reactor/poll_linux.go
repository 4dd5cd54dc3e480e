package reactor

import (
	"encoding/binary"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// poller is epoll, level-triggered, with an eventfd to wake it.
type poller struct {
	fd, waker int
	events    [256]unix.EpollEvent
}

func (p *poller) open() error {
	var err error
	if p.fd, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	if p.waker, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		_ = unix.Close(p.fd)
		return os.NewSyscallError("eventfd", err)
	}
	if err := p.add(p.waker, interest{read: true}); err != nil {
		p.close()
		return err
	}
	return nil
}

func (p *poller) close() {
	_ = unix.Close(p.fd)
	_ = unix.Close(p.waker)
}

func (p *poller) add(fd int, of interest) error {
	return p.control(unix.EPOLL_CTL_ADD, fd, of)
}

func (p *poller) change(fd int, to interest) error {
	return p.control(unix.EPOLL_CTL_MOD, fd, to)
}

func (p *poller) remove(fd int) { _ = p.control(unix.EPOLL_CTL_DEL, fd, interest{}) }

func (p *poller) control(operation, fd int, of interest) error {
	event := unix.EpollEvent{Fd: int32(fd), Events: unix.EPOLLRDHUP}
	if of.read {
		event.Events |= unix.EPOLLIN
	}
	if of.write {
		event.Events |= unix.EPOLLOUT
	}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(p.fd, operation, fd, &event))
}

// wake has wait return; it may be called from anywhere.
func (p *poller) wake() {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, _ = unix.Write(p.waker, one[:]) // it fails only where it is awake already
}

// ready returns how many descriptors are ready now. That does not sleep, so that Go's
// scheduler need not hear of it, which a busy loop is spared most of the time.
func (p *poller) ready() (int, unix.Errno) {
	n, _, failed := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd),
		uintptr(unsafe.Pointer(&p.events[0])), uintptr(len(p.events)), 0, 0, 0)
	if failed != 0 {
		return 0, failed
	}
	return int(n), 0
}

// wait calls tell for each descriptor that is ready, after at most so long; negative
// is for ever.
func (p *poller) wait(most time.Duration, tell func(fd int, event Event)) error {
	milliseconds := -1
	if most >= 0 {
		milliseconds = int((most + time.Millisecond - 1) / time.Millisecond)
	}
	n, failed := p.ready()
	if n == 0 && failed == 0 && milliseconds != 0 {
		var err error
		if n, err = unix.EpollWait(p.fd, p.events[:], milliseconds); err != nil {
			failed, _ = err.(unix.Errno) //nolint:errorlint // it is never wrapped
		}
	}
	if failed != 0 && failed != unix.EINTR {
		return os.NewSyscallError("epoll_wait", failed)
	}
	for _, event := range p.events[:max(n, 0)] {
		if int(event.Fd) == p.waker {
			var count [8]byte
			_, _ = unix.Read(p.waker, count[:])
			continue
		}
		tell(int(event.Fd), Event{
			Readable: event.Events&unix.EPOLLIN != 0,
			Writable: event.Events&unix.EPOLLOUT != 0,
			Gone:     event.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0,
		})
	}
	return nil
}
