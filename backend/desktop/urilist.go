package desktop

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// filesOf returns the absolute paths of the local files in a text/uri-list (RFC 2483): one URI per line; lines that
// start with # are comments. Other addresses, and files of other machines, are skipped.
func filesOf(list string) []string {
	host, _ := os.Hostname()
	var paths []string
	for line := range strings.Lines(list) {
		uri, err := url.Parse(strings.TrimRight(line, "\r\n\x00"))
		if err != nil || uri.Scheme != "file" || (uri.Host != "" && uri.Host != "localhost" && !strings.EqualFold(uri.Host, host)) {
			continue
		}
		if filepath.IsAbs(uri.Path) {
			paths = append(paths, filepath.Clean(uri.Path))
		}
	}
	return paths
}
