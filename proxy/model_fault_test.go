package proxy_test

import (
	"testing"
	"testing/synctest"
)

// TestRelayServerEnds ends the server in the middle of random traffic: what the client waits for is answered, also what
// was still before a person or waited for the listing.
func TestRelayServerEnds(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, randomProgram(seed))
			w.greet()
			for range seed % 20 {
				w.batch()
				w.rest()
			}
			for _, c := range w.calls {
				c.takeBack()
				c.spoilt = true
			}
			_ = w.server.to.Close()
			if err := <-w.done; err == nil {
				t.Error("Run: no error")
			}
			w.rest()
			for _, c := range w.calls {
				if c.answers != 1 && !c.cancelled || c.answers > 1 {
					t.Errorf("%d answers to %s", c.answers, c.line)
				}
			}
			_ = w.client.to.Close()
		})
		if t.Failed() {
			return
		}
	}
}
