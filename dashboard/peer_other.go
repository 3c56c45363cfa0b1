//go:build !linux

package dashboard

import "net/http"

// peerOf knows nothing where the system doesn't tell: the cookie alone decides.
func peerOf(*http.Request) peer { return peer{} }

func (p peer) processes() []int { return nil }
