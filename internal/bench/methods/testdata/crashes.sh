# Ends within the answer, with a complaint.
echo "seconds 0.5"
echo "*,*,*,*,*,*,*,*"
echo "out of luck" >&2
exit 3
