package approve

import (
	"net/mail"
	"strings"
)

const maxAddresses = 4096 // bytes of a value that is read as a list of them

// Addresses returns the mail addresses of a value that holds nothing else: one or a list of them, each with or without the name
// of whose it is, as in Dana <dana@example.com>. Of any other value it returns none.
func Addresses(value string) []string {
	if len(value) > maxAddresses || !strings.Contains(value, "@") {
		return nil
	}
	list, err := mail.ParseAddressList(strings.Trim(strings.ReplaceAll(value, ";", ","), ", "))
	if err != nil || strings.Count(value, "@") != len(list) { // an address in a name is somebody else's, or there to look like it
		return nil
	}
	addresses := make([]string, len(list))
	for i, a := range list {
		addresses[i] = a.Address
	}
	return addresses
}
