package ipc

import (
	"context"
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
	// bodyTimeout is how long the rest of a frame may take once it has begun.
	bodyTimeout = 10 * time.Second
	// maxLarge limits how many command lines over smallFrame are read at once.
	maxLarge = 2
	// maxRequests limits how many requests run at once.
	maxRequests = 64
	// acceptPause is the pause after an error of the listener.
	acceptPause = 50 * time.Millisecond
)

// Options configures a Server; all fields are required.
type Options struct {
	Version string
	// Check returns an error if a request must be refused. It is called before the request starts.
	Check func(Request) error
	// Run runs a request and returns its exit code. It must return soon after a signal, or after its streams have ended.
	Run func(Request, Streams) int
	Log *slog.Logger
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
		v := &serverRequest{conn: &frameConn{Conn: c}, signals: make(chan os.Signal, 8), log: s.o.Log}
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
	if err := checkPeer(v.conn.Conn); err != nil {
		return err
	}
	_ = v.conn.SetDeadline(time.Now().Add(helloTimeout))
	first, release, err := s.readHello(v.conn)
	if err != nil {
		return err
	}
	if err = checkHello(first, s.o.Version); err == nil {
		err = s.o.Check(first.Hello.Request)
	}
	release()
	if err != nil {
		return v.conn.send(refuse(err))
	}
	if !s.start(v) {
		return nil // the server was stopped in the meantime, so the request is not run
	}
	if err := v.conn.send(frame{Kind: kindWelcome}); err != nil {
		return err
	}
	_ = v.conn.SetDeadline(time.Time{})
	in, input := io.Pipe()
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		v.receive(input)
	}()
	code := s.run(v, first.Hello.Request, in)
	err = v.conn.send(frame{Kind: kindExit, Number: code})
	_ = in.Close()
	_ = v.conn.Close()
	<-reading
	if v.hasDisconnected() {
		return nil // the client closed the connection, which is not an error
	}
	return err
}

// readHello reads a client's first frame. A large frame waits for a slot, so that many clients that have not been
// checked yet cannot exhaust memory. release frees the slot.
func (s *Server) readHello(l *frameConn) (first frame, release func(), err error) {
	release = func() {}
	size, err := readSize(l)
	if err != nil {
		return first, release, err
	}
	if size > smallFrame {
		wait := time.NewTimer(helloTimeout)
		defer wait.Stop()
		select {
		case s.large <- struct{}{}:
			release = func() { <-s.large }
			_ = l.SetDeadline(time.Now().Add(helloTimeout))
		case <-wait.C:
			return first, release, errors.New("too many large command lines at once")
		case <-s.stopping:
			return first, release, net.ErrClosed
		}
	}
	if first, err = readBody(l, size); err != nil {
		release()
		return first, func() {}, err
	}
	return first, release, nil
}

// run runs a request and recovers its panics, so that they do not crash this process.
func (s *Server) run(v *serverRequest, c Request, in io.Reader) (code int) {
	defer func() {
		if p := recover(); p != nil {
			s.o.Log.Error("a verb that was run for another process failed", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			_, _ = io.WriteString(frameWriter{v.conn, kindErr}, "error: The verb crashed in the program that ran it. Everything stored before is kept.\n")
			code = 1
		}
	}()
	return s.o.Run(c, Streams{
		In: &remoteInput{conn: v.conn, in: in}, Out: frameWriter{v.conn, kindOut}, Err: frameWriter{v.conn, kindErr}, Signals: v.signals,
	})
}

// serverRequest is the server's end of a request: one connection.
type serverRequest struct {
	conn    *frameConn
	signals chan os.Signal
	log     *slog.Logger
	started bool // guarded by the server's mutex

	mu           sync.Mutex
	disconnected bool
}

// nextFrame reads a frame of a running request. Only the rest of a frame has a time limit, not the pause between two
// frames.
func (v *serverRequest) nextFrame() (frame, error) {
	size, err := readSize(v.conn)
	if err != nil {
		return frame{}, err
	}
	if size > smallFrame {
		return frame{}, fmt.Errorf("a frame of %d bytes is over the limit of %d for a piece of input", size, smallFrame)
	}
	_ = v.conn.SetReadDeadline(time.Now().Add(bodyTimeout))
	defer func() { _ = v.conn.SetReadDeadline(time.Time{}) }()
	return readBody(v.conn, size)
}

// receive handles the client's frames until it disconnects, which ends the request.
func (v *serverRequest) receive(input *io.PipeWriter) {
	defer func() { _ = input.CloseWithError(io.ErrUnexpectedEOF) }()
	for {
		f, err := v.nextFrame()
		if err != nil {
			v.mu.Lock()
			v.disconnected = true
			v.mu.Unlock()
			v.signal(syscall.SIGHUP)
			return
		}
		switch f.Kind {
		case kindIn:
			_, _ = input.Write(f.Data)
		case kindEnd:
			_ = input.Close()
		case kindSignal:
			if sig, err := signalOf(f.Number); err == nil {
				v.signal(sig)
			}
		default:
			v.log.Warn("a client sent a frame of a kind that clients do not send", "kind", string(f.Kind))
			_ = v.conn.Close() // the next read then ends the request
		}
	}
}

// signal delivers a signal. It is dropped if the request no longer receives signals.
func (v *serverRequest) signal(sig os.Signal) {
	select {
	case v.signals <- sig:
	default:
	}
}

func (v *serverRequest) hasDisconnected() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.disconnected
}

// remoteInput is the client's input. Each read requests as many bytes as fit into its buffer, and gets at most that
// many.
type remoteInput struct {
	conn *frameConn
	in   io.Reader
}

func (r *remoteInput) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	p = p[:min(len(p), maxPiece)]
	if err := r.conn.send(frame{Kind: kindWant, Number: len(p)}); err != nil {
		return 0, io.ErrUnexpectedEOF
	}
	return r.in.Read(p)
}
