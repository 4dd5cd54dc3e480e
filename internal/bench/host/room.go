package host

import (
	"fmt"
	"os"
	"syscall"
)

// Room is what a measurement needs of the machine, in bytes.
type Room struct{ Memory, Disk float64 }

// Lacking tells what of the room is not free: memory that programs could have without
// anything being swapped out, and space where temporary files are made. What the system does
// not tell is taken to be enough.
func (r Room) Lacking() (lacking []string) {
	if free := sizes("/proc/meminfo")["MemAvailable"]; free > 0 && free < r.Memory {
		lacking = append(lacking, fmt.Sprintf("%s of memory, of which %s are free", gigabytes(r.Memory), gigabytes(free)))
	}
	var disk syscall.Statfs_t
	if syscall.Statfs(os.TempDir(), &disk) != nil {
		return lacking
	}
	if free := float64(disk.Bavail) * float64(disk.Bsize); free < r.Disk {
		lacking = append(lacking, fmt.Sprintf("%s of disk in %s, of which %s are free", gigabytes(r.Disk), os.TempDir(), gigabytes(free)))
	}
	return lacking
}

func gigabytes(bytes float64) string { return fmt.Sprintf("%.1f GB", bytes/1e9) }
