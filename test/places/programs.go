package places

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"contextinfinity/test/testtier"
)

// startVersity serves a folder as an object store, by versitygw.
func (s *Server) startVersity() {
	dir := testtier.Disk(s.t) // it keeps its records as attributes of files, which a file system in memory may not have
	s.kept = s.folder(filepath.Join(dir, bucket))
	s.behind(func(address string) *exec.Cmd {
		return exec.Command(tool("versitygw"), "--access", User, "--secret", Password, "--port", address, "--quiet", "posix", dir)
	})
}

// sabre is a WebDAV server by sabre/dav, the library of Nextcloud and ownCloud.
const sabre = `<?php
require 'Sabre/autoload.php';
$server = new Sabre\DAV\Server(new Sabre\DAV\FS\Directory(getenv('PLACE')));
$server->setBaseUri('/dav/');
$users = new class extends Sabre\DAV\Auth\Backend\AbstractBasic {
	protected function validateUserPass($user, $password) {
		return $user === getenv('USER_NAME') && $password === getenv('PASSWORD');
	}
};
$server->addPlugin(new Sabre\DAV\Auth\Plugin($users, 'vaults'));
$server->exec();
`

// startSabre serves a folder through WebDAV, by sabre/dav.
func (s *Server) startSabre(dir string) {
	script := filepath.Join(s.t.TempDir(), "server.php")
	if err := os.WriteFile(script, []byte(sabre), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.behind(func(address string) *exec.Cmd {
		c := exec.Command("php", "-d", "display_errors=0", "-d", "error_reporting=0", "-S", address, script)
		c.Env = append(os.Environ(), "PLACE="+dir, "USER_NAME="+User, "PASSWORD="+Password)
		return c
	})
}

// behind starts a program that serves an address of this machine, and the server in front of it.
func (s *Server) behind(program func(address string) *exec.Cmd) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	said, err := os.Create(filepath.Join(s.t.TempDir(), "output"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer said.Close()
	c := program(address)
	c.Stdout, c.Stderr = said, said
	if err := c.Start(); err != nil {
		s.t.Fatalf("%v (scripts/setup crash installs it)", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	s.t.Cleanup(func() {
		_ = c.Process.Kill()
		<-ended
	})
	for {
		if conn, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			_ = conn.Close()
			break
		}
		select {
		case err := <-ended:
			ended <- nil
			text, _ := os.ReadFile(said.Name())
			s.t.Fatalf("%s ended: %v: %s", c.Path, err, text)
		case <-time.After(20 * time.Millisecond):
		}
	}
	transport := &http.Transport{}
	s.t.Cleanup(transport.CloseIdleConnections)
	s.start(&httputil.ReverseProxy{Transport: transport, ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: address})
		r.Out.Host = r.In.Host // is signed
	}}, func(*http.Request, []byte) bool { return true })
}

// tool returns the path of a program that scripts/setup has built.
func tool(name string) string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..", ".tools", "bin", name)
}
