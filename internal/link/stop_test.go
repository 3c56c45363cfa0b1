package link

import (
	"testing"
	"time"
)

// Every phase of a stop can take all of its time, on every system.
func TestPhasesOfAStopAddUp(t *testing.T) {
	if sum := graceMax + termWait + killWait + guardWait + readWait + closeWait; sum >= 5*time.Second {
		t.Errorf("a stop can take %v", sum)
	}
}
