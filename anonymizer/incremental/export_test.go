package incremental

// SetScanLimit makes small work count as large.
func SetScanLimit(p *Partition, limit int) { p.scanLimit = limit }
