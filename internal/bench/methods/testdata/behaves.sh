# Classes of k in the order of the records; what is left over is withheld.
awk -F, -v k="$2" 'NR > 1 {
	for (a = 1; a <= NF; a++) {
		value = $a
		sub("v", "", value)
		class = int(n / k)
		if (n % k == 0 || value + 0 < low[class, a]) low[class, a] = value + 0
		if (n % k == 0 || value + 0 > high[class, a]) high[class, a] = value + 0
	}
	n++
}
END {
	print "version 1.0"
	print "seconds 0.5"
	print "cpu 0.75"
	print "memory 2500000"
	for (i = 0; i < n; i++) {
		class = int(i / k)
		line = ""
		for (a = 1; a <= NF; a++) line = line (a > 1 ? "," : "") (class < int(n / k) ? low[class, a] "~" high[class, a] : "*")
		print line
	}
}' "$1"
