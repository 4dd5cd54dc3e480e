# Answers never; a program that it has started holds its output open.
sleep 3600 &
echo $! >"$1/pid"
wait
