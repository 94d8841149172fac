package ipc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"syscall"
	"time"
)

const (
	// helloTimeout is how long a client may take to send its first frame.
	helloTimeout = 5 * time.Second
	// maxLarge limits how many long command lines are read at once: frames over the limit of a command's pieces.
	maxLarge = 2
	// maxRequests limits how many requests run at once.
	maxRequests = 64
	// acceptPause is the pause after an error of the listener.
	acceptPause = 50 * time.Millisecond
)

// Options configures a Server; all fields are required, Window only if Check accepts windows.
type Options struct {
	Version string
	// Check returns an error if a request must be refused. It is called before the request starts.
	Check func(Request) error
	// Run runs a command and returns its exit code. It must return soon after a signal, or after its streams have ended.
	Run func(Request, Streams) int
	// Window serves a window until its connection ends. It must return soon after a signal.
	Window func(Request, net.Conn, <-chan os.Signal)
	Log    *slog.Logger
}

// Server runs calls for other starts of the program.
type Server struct {
	o        Options
	listener net.Listener
	slots    chan struct{}
	large    chan struct{} // a slot for each large command line
	stopping chan struct{}
	wg       sync.WaitGroup

	mu       sync.Mutex
	requests map[*serverRequest]bool
	closed   bool
}

// Serve accepts requests on l until Stop.
func Serve(l net.Listener, o Options) *Server {
	s := &Server{
		o: o, listener: l, slots: make(chan struct{}, maxRequests), large: make(chan struct{}, maxLarge),
		stopping: make(chan struct{}), requests: map[*serverRequest]bool{},
	}
	s.wg.Go(s.accept)
	return s
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // for example, the process has no free file descriptors; this is often temporary
			s.o.Log.Warn("a connection of another process could not be accepted", "err", err)
			time.Sleep(acceptPause)
			continue
		}
		select {
		case s.slots <- struct{}{}:
		default:
			_ = c.Close() // the limit of concurrent requests is reached
			continue
		}
		v := &serverRequest{conn: c, signals: make(chan os.Signal, 8)}
		if !s.register(v) {
			_ = c.Close()
			return
		}
		s.wg.Go(func() {
			defer func() { s.unregister(v); <-s.slots }()
			if err := s.serve(v); err != nil {
				s.o.Log.Warn("a command of another process could not be run", "err", err)
			}
		})
	}
}

func (s *Server) register(v *serverRequest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.requests[v] = true
	return true
}

// start marks a request as started, so that Stop terminates it instead of closing its connection. It returns false if the
// server has been stopped.
func (s *Server) start(v *serverRequest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	v.started = !s.closed
	return v.started
}

func (s *Server) unregister(v *serverRequest) {
	_ = v.conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.requests, v)
}

// Stop sends SIGTERM to every request and waits until all have ended or ctx is done; then it closes the remaining
// connections. Stopping twice is harmless.
func (s *Server) Stop(ctx context.Context) {
	s.mu.Lock()
	if !s.closed {
		close(s.stopping)
	}
	s.closed = true
	for v := range s.requests {
		if v.started {
			v.signal(syscall.SIGTERM)
		} else {
			_ = v.conn.Close()
		}
	}
	s.mu.Unlock()
	_ = s.listener.Close()
	done := make(chan struct{})
	go func() { s.wg.Wait(); close(done) }()
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	s.mu.Lock()
	for v := range s.requests {
		_ = v.conn.Close()
	}
	s.mu.Unlock()
}

// serve handles one connection.
func (s *Server) serve(v *serverRequest) error {
	if err := checkPeer(v.conn); err != nil {
		return err
	}
	_ = v.conn.SetDeadline(time.Now().Add(helloTimeout))
	first, release, err := s.readHello(v.conn)
	if err != nil {
		return err
	}
	request, err := checkHello(first, s.o.Version)
	if err == nil {
		err = s.o.Check(request)
	}
	release()
	if err != nil {
		return answer(v.conn, kindRefused, refusalOf(err))
	}
	if !s.start(v) {
		return nil // the server was stopped in the meantime, so the request is not run
	}
	if err := answer(v.conn, kindWelcome, nil); err != nil {
		return err
	}
	_ = v.conn.SetDeadline(time.Time{})
	if request.Window {
		s.o.Window(request, v.conn, v.signals)
	} else {
		s.command(v, request)
	}
	return nil
}

func answer(c net.Conn, kind kind, data any) error {
	encoded, err := newFrame(kind, 0, "", data, commandLimits.frame)
	if err == nil {
		_, err = c.Write(encoded)
	}
	return err
}

// readHello reads a client's first frame. A large frame waits for a slot, so that many clients that have not been
// checked yet cannot exhaust memory. release frees the slot.
func (s *Server) readHello(c net.Conn) (first frame, release func(), err error) {
	release = func() {}
	size, err := readSize(c, helloLimits.frame)
	if err != nil {
		return first, release, err
	}
	if size > commandLimits.frame {
		wait := time.NewTimer(helloTimeout)
		defer wait.Stop()
		select {
		case s.large <- struct{}{}:
			release = func() { <-s.large }
			_ = c.SetDeadline(time.Now().Add(helloTimeout))
		case <-wait.C:
			return first, release, errors.New("too many large command lines at once")
		case <-s.stopping:
			return first, release, net.ErrClosed
		}
	}
	if first, err = readBody(c, size); err != nil {
		release()
		return first, func() {}, err
	}
	return first, release, nil
}

// Events and methods of a command's link.
const (
	eventOut    = "out"    // to the client: output
	eventErr    = "err"    // to the client: output of errors
	eventExit   = "exit"   // to the client, last: the exit code
	eventSignal = "signal" // from the client: a number of a signal
	methodRead  = "read"   // to the client: returns at most so many bytes of input
)

// command runs a command and sends its exit code. A client that disconnects ends it, which is not an error.
func (s *Server) command(v *serverRequest, c Request) {
	link := newLink(v.conn, commandLimits, Handler{
		Call: func(method string, _ json.RawMessage) (any, error) {
			return nil, fmt.Errorf("a client has no method %q", method)
		},
		EncodeError: func(err error) any { return err.Error() },
		Event: func(_ string, data json.RawMessage) {
			var number int
			if json.Unmarshal(data, &number) == nil {
				if sig, err := signalOf(number); err == nil {
					v.signal(sig)
				}
			}
		},
	})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = link.Run()
		v.signal(syscall.SIGHUP)
	}()
	code := s.run(v, c, link)
	if link.enqueue(context.Background(), kindEvent, 0, eventExit, code) == nil {
		select {
		case <-ended: // the client has read everything
		case <-time.After(exitTimeout):
		}
	}
	link.End()
	<-ended
}

// run runs a request and recovers its panics, so that they do not crash this process.
func (s *Server) run(v *serverRequest, c Request, link *Link) (code int) {
	defer func() {
		if p := recover(); p != nil {
			s.o.Log.Error("a verb that was run for another process failed", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			_, _ = io.WriteString(remoteOutput{link, eventErr}, "error: The verb crashed in the program that ran it. Everything stored before is kept.\n")
			code = 1
		}
	}()
	return s.o.Run(c, Streams{
		In: remoteInput{link}, Out: remoteOutput{link, eventOut}, Err: remoteOutput{link, eventErr}, Signals: v.signals,
	})
}

// serverRequest is the server's end of a request: one connection.
type serverRequest struct {
	conn    net.Conn
	signals chan os.Signal
	started bool // guarded by the server's mutex
}

// signal delivers a signal. It is dropped if the request no longer receives signals.
func (v *serverRequest) signal(sig os.Signal) {
	select {
	case v.signals <- sig:
	default:
	}
}

// remoteInput is the client's input. Each read requests as many bytes as fit into its buffer.
type remoteInput struct{ link *Link }

func (r remoteInput) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	p = p[:min(len(p), maxPiece)]
	var piece []byte
	if err := r.link.Call(context.Background(), methodRead, len(p), &piece); err != nil || len(piece) > len(p) {
		return 0, io.ErrUnexpectedEOF // incomplete input
	}
	if len(piece) == 0 {
		return 0, io.EOF
	}
	return copy(p, piece), nil
}

// remoteOutput is an output of the client.
type remoteOutput struct {
	link *Link
	name string
}

func (r remoteOutput) Write(data []byte) (int, error) {
	written := 0
	for written < len(data) {
		n := min(maxPiece, len(data)-written)
		if err := r.link.enqueue(context.Background(), kindEvent, 0, r.name, data[written:written+n]); err != nil {
			return written, err
		}
		written += n
	}
	return written, nil
}
