//go:build !linux

package direct

import "time"

// Sleep is [time.Sleep].
func Sleep(d time.Duration) { time.Sleep(d) }
