package pgserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// mountMemory mounts a tmpfs on a folder.
func mountMemory(dir string, size int64) (mount, error) {
	options := "mode=0700,size=" + strconv.FormatInt(size, 10)
	if os.Geteuid() != 0 {
		return mountInNamespace(dir, options)
	}
	if err := syscall.Mount("kproxy", dir, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, options); err != nil {
		return mount{}, fmt.Errorf("mounting a tmpfs as root, who needs CAP_SYS_ADMIN for it: %w", err)
	}
	return mount{dir, func() error { return syscall.Unmount(dir, syscall.MNT_DETACH) }}, nil
}

// unmountLeftBehind takes away the disk of a process that has ended.
func unmountLeftBehind(dir string) {
	_ = syscall.Unmount(dir, syscall.MNT_DETACH|umountNoFollow) // mostly nothing is mounted
}

// umountNoFollow is UMOUNT_NOFOLLOW of umount2(2).
const umountNoFollow = 8

// mountScript mounts a tmpfs and keeps its namespace until standard input ends,
// which it does at the latest with the process that holds the other end.
const mountScript = `mount -t tmpfs -o "$1" kproxy "$0" && echo mounted && exec cat`

// mountInNamespace mounts a tmpfs in a user and mount namespace (user_namespaces(7))
// of a process that does nothing but keep it. The others of the same user get at
// it by way of /proc (proc_pid_root(5)), servers included.
func mountInNamespace(dir, options string) (_ mount, err error) {
	cmd := exec.Command("sh", "-c", mountScript, dir, options)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	input, err := cmd.StdinPipe()
	if err != nil {
		return mount{}, err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return mount{}, err
	}
	if err := cmd.Start(); err != nil {
		return mount{}, fmt.Errorf("making a user namespace to mount a tmpfs in: %w", err)
	}
	release := func() error { return errors.Join(input.Close(), cmd.Wait()) }
	if _, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("mount refuses")
		}
		return mount{}, errors.Join(fmt.Errorf("mounting a tmpfs in a user namespace: %w", err), release())
	}
	return mount{"/proc/" + strconv.Itoa(cmd.Process.Pid) + "/root" + dir, release}, nil
}
