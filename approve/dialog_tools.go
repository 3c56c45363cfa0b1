package approve

import (
	"encoding/base64"
	"encoding/binary"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// window prepares the tool that shows a text here. There is none without a screen.
//
// The texts come from tools, so no tool gets to see one as part of a script, and none as markup. They may be private, so
// they aren't on a command line either, which every user can list and which audit systems keep; but kdialog knows no
// other way.
func (d *Dialog) window(text string, seconds int) (window, bool) {
	envs := d.envs()
	switch {
	case over(envs, "SSH_CONNECTION") && (d.os == "darwin" || d.os == "windows"):
		return window{}, false // the screen is somewhere else than the person
	case d.os == "darwin":
		return d.osascript(envs, text, seconds)
	case d.os == "windows":
		return d.powershell(envs, text, seconds)
	}
	env := screen(envs)
	if env == nil {
		return window{}, false
	}
	// Not by PATH, which the entry of a server may set.
	for _, dir := range []string{"/usr/bin", "/usr/local/bin", "/run/current-system/sw/bin"} {
		if tool := path.Join(dir, "zenity"); d.find(tool) {
			return zenity(tool, env, text, seconds), true
		}
		if tool := path.Join(dir, "kdialog"); d.find(tool) {
			return kdialog(tool, env, text), true
		}
	}
	return window{}, false
}

// zenity shows the text as it comes in on standard input. Enter presses its OK button, wherever the focus is, so that one
// says no; the yeses are extra buttons, whose labels it prints.
func zenity(tool string, env []string, text string, seconds int) window {
	return window{
		path: tool,
		args: []string{
			"--text-info", "--title=bouncer", "--width=680", "--height=420", "--timeout=" + strconv.Itoa(seconds),
			"--ok-label=" + labelNo, "--cancel-label=Close", "--extra-button=" + labelSession, "--extra-button=" + labelOnce,
		},
		env: env, stdin: text,
		yes:  map[string]Answer{labelOnce: Once, labelSession: Session},
		late: 5,
	}
}

// kdialog has a list instead of buttons, since its buttons are told apart by exit codes that its failures share. It reads
// \n and the like in a text as escapes.
func kdialog(tool string, env []string, text string) window {
	text = strings.ReplaceAll(text, `\`, `\\`)
	return window{
		path: tool,
		args: []string{
			"--title", "bouncer", "--default", labelNo,
			"--menu", text, sayNo, labelNo, Once.String(), labelOnce, Session.String(), labelSession,
		},
		env: env,
		yes: ownWords(),
	}
}

func ownWords() map[string]Answer {
	return map[string]Answer{Once.String(): Once, Session.String(): Session}
}

// macScript asks in JavaScript, where what it reads is text of the right encoding, unlike AppleScript's environment.
const macScript = `function run(argv) {
  ObjC.import("Foundation")
  const input = $.NSFileHandle.fileHandleWithStandardInput.readDataToEndOfFile
  const text = ObjC.unwrap($.NSString.alloc.initWithDataEncoding(input, $.NSUTF8StringEncoding))
  const app = Application.currentApplication()
  app.includeStandardAdditions = true
  app.activate()
  try {
    const r = app.displayDialog(text, {
      withTitle: "bouncer", withIcon: "caution", givingUpAfter: Number(argv[0]),
      buttons: ["` + labelNo + `", "` + labelSession + `", "` + labelOnce + `"], defaultButton: 1, cancelButton: 1,
    })
    if (r.gaveUp) return "late"
    return { "` + labelOnce + `": "once", "` + labelSession + `": "session" }[r.buttonReturned] || "no"
  } catch (e) {
    if (e.errorNumber === -128) return "no"
    throw e
  }
}`

func (d *Dialog) osascript(envs [][]string, text string, seconds int) (window, bool) {
	const tool = "/usr/bin/osascript"
	return window{
		path:  tool,
		args:  []string{"-l", "JavaScript", "-e", macScript, strconv.Itoa(seconds)},
		env:   keep(envs[0], "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "__CF_USER_TEXT_ENCODING"),
		stdin: text,
		yes:   ownWords(),
	}, d.find(tool)
}

// windowsScript takes the text from the environment: what is piped into PowerShell it wants to read itself.
const windowsScript = `$ErrorActionPreference = 'Stop'
if (-not [Environment]::UserInteractive) { exit 9 }
Add-Type -AssemblyName System.Windows.Forms, System.Drawing
[Windows.Forms.Application]::EnableVisualStyles()
$form = New-Object Windows.Forms.Form
$form.Text = 'bouncer'
$form.ClientSize = New-Object Drawing.Size 680, 420
$form.StartPosition = 'CenterScreen'
$form.FormBorderStyle = 'FixedDialog'
$form.MinimizeBox = $false
$form.MaximizeBox = $false
$form.TopMost = $true
$text = New-Object Windows.Forms.TextBox
$text.Multiline = $true
$text.ReadOnly = $true
$text.TabStop = $false
$text.ScrollBars = 'Vertical'
$text.SetBounds(12, 12, 656, 352)
$text.Text = $env:BOUNCER_QUESTION
$form.Controls.Add($text)
function Add-Choice($label, $result, $left, $width) {
  $b = New-Object Windows.Forms.Button
  $b.Text = $label
  $b.DialogResult = $result
  $b.SetBounds($left, 378, $width, 30)
  $form.Controls.Add($b)
  $b
}
$no = Add-Choice "` + labelNo + `" 'Cancel' 208 130
$session = Add-Choice "` + labelSession + `" 'Retry' 348 180
$once = Add-Choice "` + labelOnce + `" 'Yes' 538 130
$form.AcceptButton = $no
$form.CancelButton = $no
$timer = New-Object Windows.Forms.Timer
$timer.Interval = 1000 * [int]$env:BOUNCER_SECONDS
$timer.add_Tick({ $form.DialogResult = 'Abort' })
$timer.Start()
$form.add_Shown({ $form.Activate(); $no.Select() })
switch ($form.ShowDialog()) {
  'Yes' { $said = 'once' }
  'Retry' { $said = 'session' }
  'Abort' { $said = 'late' }
  default { $said = 'no' }
}
[Console]::Out.Write($said)
`

func (d *Dialog) powershell(envs [][]string, text string, seconds int) (window, bool) {
	system := lookUp(envs[0], "SystemRoot")
	tool := system + `\System32\WindowsPowerShell\v1.0\powershell.exe`
	env := keep(envs[0], "SystemRoot", "SystemDrive", "windir", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "USERNAME")
	env = append(env, "BOUNCER_QUESTION="+strings.ReplaceAll(text, "\n", "\r\n"), "BOUNCER_SECONDS="+strconv.Itoa(seconds))
	return window{
		path: tool,
		args: []string{"-NoLogo", "-NoProfile", "-NonInteractive", "-STA", "-EncodedCommand", encodeCommand(windowsScript)},
		env:  env,
		yes:  ownWords(),
	}, system != "" && d.find(tool)
}

// encodeCommand is a script as -EncodedCommand takes it: base64 of UTF-16.
func encodeCommand(script string) string {
	var raw []byte
	for _, unit := range utf16.Encode([]rune(script)) {
		raw = binary.LittleEndian.AppendUint16(raw, unit)
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// screen is the environment of a program that is to open a window on Linux and its like: from this process if it knows of a
// screen, else from the nearest of those that have started it, since many clients give their servers HOME and PATH and little
// else. One that is set to nothing says that there is none.
func screen(envs [][]string) []string {
	names := func(v string) bool {
		return strings.HasPrefix(v, "DISPLAY=") || strings.HasPrefix(v, "WAYLAND_DISPLAY=")
	}
	i := slices.IndexFunc(envs, func(env []string) bool { return slices.ContainsFunc(env, names) })
	if i < 0 || lookUp(envs[i], "DISPLAY") == "" && lookUp(envs[i], "WAYLAND_DISPLAY") == "" {
		return nil
	}
	return append(keep(envs[i],
		"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP",
		"XDG_DATA_DIRS", "HOME", "USER", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "GDK_SCALE", "QT_SCALE_FACTOR", "QT_SCREEN_SCALE_FACTORS",
	), "PATH=/usr/bin:/bin")
}

// keep picks variables by name. What else there is, such as the libraries to load first, came from a server's entry.
func keep(env []string, names ...string) []string {
	kept := []string{}
	for _, name := range names {
		if value := lookUp(env, name); value != "" {
			kept = append(kept, name+"="+value)
		}
	}
	return kept
}

func over(envs [][]string, name string) bool {
	return slices.ContainsFunc(envs, func(env []string) bool { return lookUp(env, name) != "" })
}

// lookUp ignores the case of names, as Windows does; elsewhere none of them differ in case alone.
func lookUp(env []string, name string) string {
	for _, v := range env {
		if n, value, ok := strings.Cut(v, "="); ok && strings.EqualFold(n, name) {
			return value
		}
	}
	return ""
}
