package peers

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes this test's binary a few programs, too: clients start them by name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"peer-tee":  tee,
		"peer-raw":  rawServer,
		"peer-mail": mailServer,
		"peer-sdk":  sdkServer,
	})
}
