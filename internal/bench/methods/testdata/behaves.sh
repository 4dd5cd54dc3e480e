# Classes of k in the order of the records; what is left over is withheld.
awk -v k="$2" 'NR > 1 { n++ }
END {
	print "version 1.0"
	print "seconds 0.5"
	print "cpu 0.75"
	for (i = 0; i < n; i++) print int(i / k) < int(n / k) ? int(i / k) : -1
}' "$1"
