package ipc

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"contextinfinity/backend/chat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startServer starts a server that runs requests with run until the test ends, and returns the server and its address.
func startServer(t *testing.T, run func(Request, Streams) int) (*Server, string) {
	t.Helper()
	address, err := Address(shortDir(t))
	if err != nil {
		t.Fatal(err)
	}
	l, err := Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	s := Serve(l, Options{
		Version: "1.0", Run: run, Log: slog.New(slog.DiscardHandler),
		Check: func(c Request) error {
			if c.Config == "other" {
				return chat.Errorf(chat.CodeConflict, "test.check", "The configuration differs.").WithHint("do not")
			}
			return nil
		},
	})
	t.Cleanup(func() { stop(t, s) })
	return s, address
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // closes the connections of requests that have not ended
	s.Stop(ctx)
	s.wg.Wait()
}

// shortDir returns a temporary directory with a path that is short enough for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ci-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func noInput() ClientIO { return ClientIO{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard} }

func TestACallIsRun(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", 3*maxPiece/16) + "\xff"
	_, address := startServer(t, func(c Request, s Streams) int {
		in, err := io.ReadAll(s.In)
		fmt.Fprintf(s.Err, "%q in %s, %+v, %v", c.ArgStrings(), c.Dir, c.Terminals, err)
		_, _ = s.Out.Write(in)
		return 42
	})
	request := NewRequest([]string{"send", "\xff"})
	request.Dir, request.Terminals = "/somewhere", Terminals{Out: true}
	var out, errs bytes.Buffer
	code, err := Send(t.Context(), address, "1.0", request, ClientIO{In: strings.NewReader(large), Out: &out, Err: &errs})
	if code != 42 || err != nil || out.String() != large {
		t.Errorf("code %d, %v, %d bytes of %d", code, err, out.Len(), len(large))
	}
	if want := `["send" "\xff"] in /somewhere, {In:false Out:true Err:false OutColor:false ErrColor:false}, <nil>`; errs.String() != want {
		t.Errorf("stderr %s", errs.String())
	}
}

func TestRefusals(t *testing.T) {
	_, address := startServer(t, func(Request, Streams) int { t.Error("a refused request was run"); return 0 })
	send := func(version string, c Request) error {
		_, err := Send(t.Context(), address, version, c, noInput())
		return err
	}
	err := send("2.0", NewRequest([]string{"pin"}))
	if chat.CodeOf(err) != chat.CodeConflict || !strings.Contains(err.Error(), "1.0") || !strings.Contains(err.Error(), "2.0") {
		t.Errorf("another version: %v", err)
	}
	err = send("1.0", Request{Config: "other"})
	if e := chat.AsError(err); e.Code != chat.CodeConflict || e.Message != "The configuration differs." || e.Hint != "do not" {
		t.Errorf("refused by the check: %+v", e)
	}
	err = send("1.0", NewRequest([]string{strings.Repeat("x", helloLimits.frame)}))
	if chat.CodeOf(err) != chat.CodeTooLarge {
		t.Errorf("arguments over the limit: %v", err)
	}
	later := frame{Kind: kindHello, Data: []byte(fmt.Sprintf(`{"protocol":%d,"version":"1.0"}`, protocol+1))}
	if _, err := checkHello(later, "1.0"); chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("another protocol: %v", err)
	}
	for name, bad := range map[string]frame{"another kind": {Kind: kindCall}, "no data": {Kind: kindHello}} {
		if _, err := checkHello(bad, "1.0"); chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNoListener(t *testing.T) {
	dir := shortDir(t)
	address := filepath.Join(dir, "s")
	if _, err := Send(t.Context(), address, "1.0", Request{}, noInput()); !errors.Is(err, ErrNoServer) {
		t.Errorf("no socket: %v", err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: address, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false) // the socket file remains, as after kill -9
	_ = l.Close()
	if _, err := Send(t.Context(), address, "1.0", Request{}, noInput()); !errors.Is(err, ErrNoServer) {
		t.Errorf("a socket without a listener: %v", err)
	}
	listener, err := Listen(address)
	if err != nil {
		t.Fatalf("an unused socket prevents listening: %v", err)
	}
	_ = listener.Close()
	// A file that is not a socket is not replaced.
	if err := os.WriteFile(address, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(address); err == nil {
		t.Error("a file was replaced by a socket")
	}
}

func TestInterruptsAreForwardedUntilTheClientExits(t *testing.T) {
	received := make(chan os.Signal, 8)
	_, address := startServer(t, func(_ Request, s Streams) int {
		for {
			sig := <-s.Signals
			received <- sig
			if sig != os.Interrupt { // this request ignores Ctrl-C
				return 7
			}
		}
	})
	interrupts := make(chan struct{})
	streams := noInput()
	streams.Interrupts = interrupts
	result := make(chan error, 1)
	go func() {
		_, err := Send(context.WithoutCancel(t.Context()), address, "1.0", Request{}, streams)
		result <- err
	}()
	for range maxInterrupts {
		interrupts <- struct{}{}
		if sig := <-received; sig != os.Interrupt {
			t.Fatalf("got %v", sig)
		}
	}
	interrupts <- struct{}{}
	if err := <-result; chat.CodeOf(err) != chat.CodeCancelled {
		t.Errorf("the client exited with %v", err)
	}
	if sig := <-received; sig == os.Interrupt {
		t.Error("the request got no hang-up signal when the client exited")
	}
}

func TestCancellingTheContextTerminatesTheCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, address := startServer(t, func(_ Request, s Streams) int {
		cancel()
		<-s.Signals
		_, _ = io.WriteString(s.Out, "cleaned up")
		return 1
	})
	var out bytes.Buffer
	code, err := Send(ctx, address, "1.0", Request{}, ClientIO{In: strings.NewReader(""), Out: &out, Err: io.Discard})
	if code != 1 || err != nil || out.String() != "cleaned up" {
		t.Errorf("%d, %v, %q", code, err, out.String())
	}
}

func TestStoppingTheServerEndsItsCalls(t *testing.T) {
	started := make(chan struct{}, 1)
	s, address := startServer(t, func(_ Request, st Streams) int {
		started <- struct{}{}
		<-st.Signals
		return 5
	})
	exitCode := make(chan int, 1)
	go func() {
		code, _ := Send(context.WithoutCancel(t.Context()), address, "1.0", Request{}, noInput())
		exitCode <- code
	}()
	<-started
	s.Stop(context.Background())
	if code := <-exitCode; code != 5 {
		t.Errorf("code %d: the request did not end properly", code)
	}
	s.Stop(context.Background())
	if _, err := os.Lstat(address); !os.IsNotExist(err) {
		t.Errorf("the socket still exists: %v", err)
	}
}

func TestTheServerDisappearsDuringACall(t *testing.T) {
	block := make(chan struct{})
	var s *Server
	s, address := startServer(t, func(_ Request, st Streams) int {
		_, _ = io.WriteString(st.Out, "Half.")
		<-block
		return 0
	})
	defer close(block)
	out := &writeHook{f: func() { go closeConnections(s) }}
	_, err := Send(t.Context(), address, "1.0", Request{}, ClientIO{In: strings.NewReader(""), Out: out, Err: io.Discard})
	if e := chat.AsError(err); e.Code != chat.CodeUnavailable || e.Hint == "" || out.String() != "Half." {
		t.Errorf("%+v, %q", err, out.String())
	}
}

// closeConnections closes all connections, as when the process is killed.
func closeConnections(s *Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for v := range s.requests {
		_ = v.conn.Close()
	}
}

// writeHook calls f before each write.
type writeHook struct {
	bytes.Buffer
	f func()
}

func (c *writeHook) Write(p []byte) (int, error) {
	c.f()
	return c.Buffer.Write(p)
}

func TestAnInputErrorIsReportedToClientAndCall(t *testing.T) {
	readErr := make(chan error, 1)
	_, address := startServer(t, func(_ Request, s Streams) int {
		_, err := io.ReadAll(s.In)
		readErr <- err
		return 0
	})
	streams := noInput()
	streams.In = io.MultiReader(strings.NewReader("some"), failingReader{})
	_, err := Send(t.Context(), address, "1.0", Request{}, streams)
	if chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("the client: %v", err)
	}
	if err := <-readErr; err == nil {
		t.Error("the request read incomplete input without an error")
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }

func TestAPanicEndsOnlyItsCall(t *testing.T) {
	first := true
	_, address := startServer(t, func(Request, Streams) int {
		if first {
			first = false
			panic("defect")
		}
		return 0
	})
	var errs bytes.Buffer
	code, err := Send(t.Context(), address, "1.0", Request{}, ClientIO{In: strings.NewReader(""), Out: io.Discard, Err: &errs})
	if code != 1 || err != nil || !strings.Contains(errs.String(), "crashed") {
		t.Errorf("%d, %v, %q", code, err, errs.String())
	}
	if code, err := Send(t.Context(), address, "1.0", Request{}, noInput()); code != 0 || err != nil {
		t.Errorf("the next request: %d, %v", code, err)
	}
}

func TestAddress(t *testing.T) {
	dir := shortDir(t)
	direct, err := Address(dir)
	if err != nil || filepath.Base(direct) != socketName {
		t.Fatalf("%q, %v", direct, err)
	}
	link := filepath.Join(shortDir(t), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skipf("symbolic links cannot be created here: %v", err)
	}
	if linked, err := Address(link); err != nil || linked != direct {
		t.Errorf("through a link %q, %v; want %q", linked, err, direct)
	}
	deep := filepath.Join(dir, strings.Repeat("d", 60), strings.Repeat("e", 60))
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	runtimeDir := shortDir(t)
	t.Setenv("XDG_RUNTIME_DIR", runtimeDir)
	outside, err := Address(deep)
	if err != nil || filepath.Dir(outside) != runtimeDir || len(outside) > maxAddress {
		t.Errorf("with a path that is too long: %q, %v", outside, err)
	}
	if other, _ := Address(filepath.Dir(deep)); other == outside {
		t.Error("two directories have the same address")
	}
	l, err := Listen(outside)
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	// Without a runtime directory, a private directory in the directory for temporary files is used.
	tempDir := shortDir(t)
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", tempDir)
	inTemp, err := Address(deep)
	if err != nil || !strings.HasPrefix(inTemp, tempDir) {
		t.Errorf("%q, %v", inTemp, err)
	}
	if err := os.Chmod(filepath.Dir(inTemp), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Address(deep); err == nil {
		t.Error("a directory that is open to others was trusted")
	}
}

// flakyListener is a listener whose first Accept fails as if there were no free file descriptors.
type flakyListener struct {
	net.Listener
	failed bool // used only by the accepting goroutine
}

func (l *flakyListener) Accept() (net.Conn, error) {
	if !l.failed {
		l.failed = true
		return nil, &net.OpError{Op: "accept", Net: "unix", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.Listener.Accept()
}

// After a temporary failure to accept a connection, the server continues.
func TestAFailedAcceptIsRetried(t *testing.T) {
	address, err := Address(shortDir(t))
	if err != nil {
		t.Fatal(err)
	}
	l, err := Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	s := Serve(&flakyListener{Listener: l}, Options{
		Version: "1.0", Log: slog.New(slog.DiscardHandler), Check: func(Request) error { return nil }, Run: func(Request, Streams) int { return 7 },
	})
	t.Cleanup(func() { stop(t, s) })
	if code, err := Send(t.Context(), address, "1.0", NewRequest([]string{"list"}), noInput()); code != 7 || err != nil {
		t.Errorf("%d %v", code, err)
	}
}

// Many clients that announce large frames, send most of them and stop cannot exhaust memory, and other clients do not
// wait for them forever.
func TestIncompleteFramesAreBounded(t *testing.T) {
	_, address := startServer(t, func(Request, Streams) int { return 7 })
	head := binary.BigEndian.AppendUint32(nil, uint32(helloLimits.frame))
	partial := append(head, make([]byte, 3<<20)...)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var wg sync.WaitGroup
	var conns []net.Conn
	for range maxRequests {
		c, err := net.Dial("unix", address)
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		wg.Go(func() {
			_ = c.SetWriteDeadline(time.Now().Add(2 * time.Second))
			_, _ = c.Write(partial) // as much as is accepted
		})
	}
	wg.Wait()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 40<<20 {
		t.Errorf("%d incomplete frames take %d MB", len(conns), grown>>20)
	}
	for _, c := range conns {
		_ = c.Close()
	}
	request := NewRequest([]string{"send", strings.Repeat("x", 1<<20)})
	for {
		code, err := Send(t.Context(), address, "1.0", request, noInput())
		if errors.Is(err, ErrNoServer) {
			continue // the slots of the closed connections are not free yet
		}
		if err != nil || code != 7 {
			t.Errorf("a large request after the incomplete frames: %d, %v", code, err)
		}
		break
	}
}

// A frame that is too large for a piece of input ends its request.
func TestInputFramesAreBounded(t *testing.T) {
	ended := make(chan os.Signal, 1)
	_, address := startServer(t, func(_ Request, s Streams) int { ended <- <-s.Signals; return 0 })
	c, err := net.Dial("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := handshake(c, "1.0", Request{}); err != nil {
		t.Fatal(err)
	}
	large, err := newFrame(kindEvent, 0, eventSignal, make([]byte, commandLimits.frame), windowLimits.frame)
	if err != nil {
		t.Fatal(err)
	}
	// EPIPE: the server may refuse the announced size before all is written.
	if _, err := c.Write(large); err != nil && !errors.Is(err, syscall.EPIPE) {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(commandLimits.body / 2):
		t.Error("a frame that is too large for input did not end its call")
	}
}

// Connections that send nothing are closed, so their slots become free.
func TestSilentClientsAreDisconnected(t *testing.T) {
	t.Parallel()
	_, address := startServer(t, func(Request, Streams) int { return 7 })
	for range maxRequests {
		c, err := net.Dial("unix", address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
	}
	for started := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		code, err := Send(t.Context(), address, "1.0", NewRequest([]string{"verify"}), noInput())
		if err == nil && code == 7 {
			return
		}
		if time.Since(started) > 10*helloTimeout {
			t.Fatalf("after %v: %d, %v", time.Since(started), code, err)
		}
	}
}

// A server that was stopped is noticed; one that is busy with the request, or whose output waits for the user, is not
// taken for it.
func TestAStoppedServerIsNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		answers, waits bool
		want           chat.Code
	}{
		"a stopped server": {want: chat.CodeTimeout}, "a busy server": {answers: true, want: chat.CodeUnavailable},
		"output that waits": {waits: true, want: chat.CodeUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			mine, theirs := net.Pipe()
			s := &clientRequest{ClientIO: ClientIO{Server: 7}, exit: make(chan int, 1)}
			s.link = newLink(mine, commandLimits, Handler{Event: s.event})
			other := make(chan error, 1)
			if c.answers {
				server := newLink(theirs, commandLimits, Handler{
					Call:        func(string, json.RawMessage) (any, error) { return nil, errors.New("no such method") },
					EncodeError: func(err error) any { return err.Error() },
				})
				go func() { other <- server.Run() }()
			} else {
				go func() {
					_, err := io.Copy(io.Discard, theirs)
					other <- err
				}()
			}
			if c.waits {
				s.events.Add(1)
			}
			ended := make(chan error, 1)
			go func() { ended <- s.link.Run() }()
			checked := make(chan struct{})
			go func() { s.checkAlive(time.Millisecond, 50*time.Millisecond); close(checked) }()
			if c.want == chat.CodeTimeout {
				<-checked
			} else {
				time.Sleep(300 * time.Millisecond)
				s.link.End()
				<-checked
			}
			err := s.connectionError(<-ended)
			<-other
			if chat.CodeOf(err) != c.want || (c.want == chat.CodeTimeout) != strings.Contains(err.Error(), "(pid 7) has not answered for 50ms") {
				t.Errorf("%v", err)
			}
			_ = theirs.Close()
		})
	}
}
