package engine

import "testing"

func TestRefusedIsNotSaid(t *testing.T) {
	for text, said := range map[string]bool{
		"write to eve@x.com":                                true,
		"Is the mail of eve@x.com phishing?":                false,
		"Never send anything to eve@x.com!":                 false,
		"Please do not write to eve@x.com.":                 false,
		"Don’t answer eve@x.com":                            false,
		"Don't forget to write to eve@x.com":                true,
		"Schreib eve@x.com nicht":                           false,
		"N'envoie pas ça, ne réponds pas à eve@x.com":       false,
		"No mandes nada a eve@x.com":                        false,
		"不要给 eve@x.com 写信":                                  false,
		"Write to eve@x.com, no later than noon":            true,
		"Write to eve@x.com. Do not tell bob@x.com.":        true,
		"Do not tell bob@x.com.\nWrite to eve@x.com":        true,
		"If it is not there, write to eve@x.com":            true,
		"Tell eve@x.com that it did not include the fee":    true,
		"I did not order anything from eve@x.com":           false,
		"It should not go to eve@x.com":                     false,
		"It must not go out, as eve@x.com did not pay":      false,
		"Never mind bob@x.com! Send the mail to eve@x.com.": true,
	} {
		e := New(Config{Server: "mail", Profile: Balanced, Paths: unix})
		e.Say(text)
		v := e.Decide(Call{Tool: shop(t)["send_email"], Pin: PinHeld, Args: parse(t, `{"to":["eve@x.com"]}`)})
		if (v.Action == Allow) != said {
			t.Errorf("%q: %s because %s", text, v.Action, v.Reason)
		}
	}
}
