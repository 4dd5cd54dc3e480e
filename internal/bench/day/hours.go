package main

import "time"

// hours are how busy a hospital is at each full hour of a day. Admissions and moves
// come with the morning's rounds and before the evening.
var hours = [24]float64{
	0.35, 0.30, 0.25, 0.25, 0.30, 0.50, 0.90, 1.40, 1.90, 2.10, 2.00, 1.80,
	1.50, 1.60, 1.70, 1.60, 1.40, 1.20, 1.00, 0.80, 0.60, 0.50, 0.40, 0.35,
}

// busyness is how busy the hospital is at a moment of the day, 0 to 1, in proportion to
// the day's mean: between full hours on a straight line.
func busyness(moment float64) float64 {
	mean := 0.0
	for _, h := range hours {
		mean += h / float64(len(hours))
	}
	at := moment * float64(len(hours))
	hour := int(at)
	share := at - float64(hour)
	from, to := hours[hour%len(hours)], hours[(hour+1)%len(hours)]
	return (from + (to-from)*share) / mean
}

// moment is how far a time is into the day that began then and lasts so long: 0 to 1.
func moment(begin time.Time, length time.Duration, now time.Time) float64 {
	return min(max(now.Sub(begin).Seconds()/length.Seconds(), 0), 1)
}
