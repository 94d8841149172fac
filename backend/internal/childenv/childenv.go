// Package childenv builds the environment of child processes, and of the processes that WebKit starts inside this
// one: only variables that they need, by name, so that no key in the environment reaches them.
package childenv

import (
	"slices"
	"strings"

	"contextinfinity/backend/internal/lexical"
)

// minimal are the variables of a program that only reads its input and writes its output.
var minimal = lexical.Set("PATH HOME USER LOGNAME LANG LANGUAGE TZ TMPDIR TMP TEMP SYSTEMROOT SYSTEMDRIVE WINDIR LD_LIBRARY_PATH DYLD_LIBRARY_PATH GODEBUG GOTRACEBACK GOCOVERDIR GORACE")

// desktop are the variables of programs with windows, and of the libraries that draw them.
var (
	desktop = lexical.Set("DISPLAY XAUTHORITY XMODIFIERS SESSION_MANAGER DESKTOP_SESSION DESKTOP_AUTOSTART_ID DESKTOP_STARTUP_ID INPUT_METHOD BROWSER SHELL PWD TERM COLORTERM NO_COLOR HOSTNAME " +
		"HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY FTP_PROXY SSL_CERT_FILE SSL_CERT_DIR LD_PRELOAD GOMAXPROCS GOGC GOMEMLIMIT " +
		"APPDATA LOCALAPPDATA USERPROFILE USERNAME USERDOMAIN COMPUTERNAME PROGRAMDATA PROGRAMW6432 DRIVERDATA PSMODULEPATH ONEDRIVE ALLUSERSPROFILE PUBLIC COMSPEC PATHEXT " +
		"HOMEDRIVE HOMEPATH OS NUMBER_OF_PROCESSORS SESSIONNAME APPIMAGE APPDIR DEVSERVER ASSETDIR FRONTENDDEVSERVERURL LOGLEVEL")
	desktopPrefixes = strings.Fields("LC_ XDG_ DBUS_ GTK_ GDK_ GIO_ GSETTINGS_ GST_ G_ GNOME_ KDE_ QT_ MATE_ CINNAMON_ WAYLAND_ LIBGL_ MESA_ EGL_ " +
		"VK_ DRI_ __GLX_ __NV_ LIBVA_ VDPAU_ PANGO_ CAIRO_ FREETYPE_ CLUTTER_ XKB_ UBUNTU_ WEBKIT_ WEBVIEW2_ JSC_ FONTCONFIG_ XCURSOR_ IBUS_ AT_SPI_ NO_AT_ PULSE_ PIPEWIRE_ SNAP_ FLATPAK_ PROCESSOR_ PROGRAMFILES " +
		"COMMONPROGRAM __CF CONTEXTINFINITY")
)

// tool are the variables of external programs, and of the interpreters that run them.
var tool = lexical.Set("SHELL TERM APPDATA LOCALAPPDATA USERPROFILE USERNAME COMPUTERNAME PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 COMSPEC PATHEXT HOMEDRIVE HOMEPATH OS NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE XDG_DATA_HOME XDG_CONFIG_HOME XDG_CACHE_HOME XDG_STATE_HOME")

// secretWords occur in names of variables that hold secrets; such a variable is never passed on.
var secretWords = strings.Fields("KEY TOKEN SECRET PASSWORD PASSWD CREDENTIAL")

// Minimal returns the part of an environment that a filter program needs.
func Minimal(env []string) []string { return filter(env, isMinimal) }

// Tool returns the part of an environment that an external program needs to run as a server: paths of programs, its home
// and its language. Nothing in it leads to the session bus or to agents.
func Tool(env []string) []string { return filter(env, isTool) }

// IsTool reports whether Tool keeps a variable.
func IsTool(name string) bool { return isTool(strings.ToUpper(name)) }

func isTool(name string) bool {
	return (isMinimal(name) || tool[name]) &&
		!strings.HasPrefix(name, "GO") && !strings.HasPrefix(name, "LD_") && !strings.HasPrefix(name, "DYLD_")
}

// Desktop returns the part of an environment that a program with a window needs.
func Desktop(env []string) []string { return filter(env, isDesktop) }

func filter(env []string, keep func(name string) bool) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return !keep(strings.ToUpper(name))
	})
}

func isMinimal(name string) bool { return minimal[name] || strings.HasPrefix(name, "LC_") }

// IsDesktop reports whether Desktop keeps a variable.
func IsDesktop(name string) bool { return isDesktop(strings.ToUpper(name)) }

func isDesktop(name string) bool {
	if slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(name, w) }) {
		return false
	}
	return isMinimal(name) || desktop[name] || slices.ContainsFunc(desktopPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}
