# Classes of one record less than k.
sh "$(dirname "$0")/behaves.sh" "$1" $(($2 - 1))
