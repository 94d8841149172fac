package handover

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
	// helloTime is how long a client may take to send its first frame.
	helloTime = 5 * time.Second
	// bodyTime is how long the rest of a frame may take once it has begun.
	bodyTime = 10 * time.Second
	// maxLarge limits how many command lines over smallFrame are read at once.
	maxLarge = 2
	// maxCalls limits how many calls run at once.
	maxCalls = 64
	// acceptPause is the pause after an error of the listener.
	acceptPause = 50 * time.Millisecond
)

// Options configures a Server; all fields are required.
type Options struct {
	Version string
	// Check returns an error if a call must be refused. It is called before the call starts.
	Check func(Call) error
	// Run runs a call and returns its exit code. It must return soon after a signal, or after its streams have ended.
	Run func(Call, Streams) int
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

	mu     sync.Mutex
	calls  map[*served]bool
	closed bool
}

// Serve accepts calls on l until Stop.
func Serve(l net.Listener, o Options) *Server {
	s := &Server{
		o: o, listener: l, slots: make(chan struct{}, maxCalls), large: make(chan struct{}, maxLarge),
		stopping: make(chan struct{}), calls: map[*served]bool{},
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
		if err != nil { // for example, no file descriptors left: that may pass
			s.o.Log.Warn("a connection of another process could not be accepted", "err", err)
			time.Sleep(acceptPause)
			continue
		}
		select {
		case s.slots <- struct{}{}:
		default:
			_ = c.Close() // more than anybody starts at once
			continue
		}
		v := &served{line: &line{Conn: c}, signals: make(chan os.Signal, 8), log: s.o.Log}
		if !s.enter(v) {
			_ = c.Close()
			return
		}
		s.wg.Go(func() {
			defer func() { s.leave(v); <-s.slots }()
			if err := s.serve(v); err != nil {
				s.o.Log.Warn("a command of another process could not be run", "err", err)
			}
		})
	}
}

func (s *Server) enter(v *served) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.calls[v] = true
	return true
}

// begin marks a call as started, so that Stop terminates it instead of closing its connection.
func (s *Server) begin(v *served) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	v.begun = !s.closed
	return v.begun
}

func (s *Server) leave(v *served) {
	_ = v.line.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, v)
}

// Stop sends SIGTERM to every call and waits until all have ended or ctx is done; then it closes the connections of
// those that are left. Stopping twice is harmless.
func (s *Server) Stop(ctx context.Context) {
	s.mu.Lock()
	if !s.closed {
		close(s.stopping)
	}
	s.closed = true
	for v := range s.calls {
		if v.begun {
			v.end(syscall.SIGTERM)
		} else {
			_ = v.line.Close()
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
	for v := range s.calls {
		_ = v.line.Close()
	}
	s.mu.Unlock()
}

// serve handles one connection.
func (s *Server) serve(v *served) error {
	if err := checkPeer(v.line.Conn); err != nil {
		return err
	}
	_ = v.line.SetDeadline(time.Now().Add(helloTime))
	first, free, err := s.readHello(v.line)
	if err != nil {
		return err
	}
	if err = checkHello(first, s.o.Version); err == nil {
		err = s.o.Check(first.Hello.Call)
	}
	free()
	if err != nil {
		return v.line.send(refuse(err))
	}
	if !s.begin(v) {
		return nil // stopped in the meantime: the call was not started
	}
	if err := v.line.send(frame{Kind: kindWelcome}); err != nil {
		return err
	}
	_ = v.line.SetDeadline(time.Time{})
	in, input := io.Pipe()
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		v.receive(input)
	}()
	code := s.run(v, first.Hello.Call, in)
	err = v.line.send(frame{Kind: kindExit, Number: code})
	_ = in.Close()
	_ = v.line.Close()
	<-reading
	if v.gone() {
		return nil // the client closed the connection, which it may do
	}
	return err
}

// readHello reads a client's first frame. A large one waits for a slot, so that clients that have not been checked
// yet cannot fill memory together.
func (s *Server) readHello(l *line) (first frame, free func(), err error) {
	free = func() {}
	size, err := readSize(l)
	if err != nil {
		return first, free, err
	}
	if size > smallFrame {
		wait := time.NewTimer(helloTime)
		defer wait.Stop()
		select {
		case s.large <- struct{}{}:
			free = func() { <-s.large }
			_ = l.SetDeadline(time.Now().Add(helloTime))
		case <-wait.C:
			return first, free, errors.New("too many large command lines at once")
		case <-s.stopping:
			return first, free, net.ErrClosed
		}
	}
	if first, err = readBody(l, size); err != nil {
		free()
		return first, func() {}, err
	}
	return first, free, nil
}

// run runs a call and recovers its panics, so that they do not crash this process.
func (s *Server) run(v *served, c Call, in io.Reader) (code int) {
	defer func() {
		if p := recover(); p != nil {
			s.o.Log.Error("a verb that was run for another process failed", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			_, _ = io.WriteString(pieces{v.line, kindErr}, "error: The verb crashed in the program that ran it. Everything stored before is kept.\n")
			code = 1
		}
	}()
	return s.o.Run(c, Streams{
		In: &wanted{line: v.line, in: in}, Out: pieces{v.line, kindOut}, Err: pieces{v.line, kindErr}, Signals: v.signals,
	})
}

// served is one connection.
type served struct {
	line    *line
	signals chan os.Signal
	log     *slog.Logger
	begun   bool // guarded by the server's mutex

	mu   sync.Mutex
	left bool
}

// next reads a frame of a running call. The client may wait as long as it likes between two frames, but not within
// one.
func (v *served) next() (frame, error) {
	size, err := readSize(v.line)
	if err != nil {
		return frame{}, err
	}
	if size > smallFrame {
		return frame{}, fmt.Errorf("a frame of %d bytes is over the limit of %d for a piece of input", size, smallFrame)
	}
	_ = v.line.SetReadDeadline(time.Now().Add(bodyTime))
	defer func() { _ = v.line.SetReadDeadline(time.Time{}) }()
	return readBody(v.line, size)
}

// receive handles the client's frames until it disconnects, which ends the call.
func (v *served) receive(input *io.PipeWriter) {
	defer func() { _ = input.CloseWithError(io.ErrUnexpectedEOF) }()
	for {
		f, err := v.next()
		if err != nil {
			v.mu.Lock()
			v.left = true
			v.mu.Unlock()
			v.end(syscall.SIGHUP)
			return
		}
		switch f.Kind {
		case kindIn:
			_, _ = input.Write(f.Data)
		case kindEnd:
			_ = input.Close()
		case kindSignal:
			if sig, err := signalOf(f.Number); err == nil {
				v.end(sig)
			}
		default:
			v.log.Warn("a caller sent a frame that callers do not send", "kind", string(f.Kind))
			_ = v.line.Close() // the next read then ends the call
		}
	}
}

// end delivers a signal. It is dropped if the call no longer receives signals.
func (v *served) end(sig os.Signal) {
	select {
	case v.signals <- sig:
	default:
	}
}

func (v *served) gone() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.left
}

// wanted is the client's input: each read requests as many bytes as it can take, and gets at most that many.
type wanted struct {
	line *line
	in   io.Reader
}

func (w *wanted) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	p = p[:min(len(p), maxPiece)]
	if err := w.line.send(frame{Kind: kindWant, Number: len(p)}); err != nil {
		return 0, io.ErrUnexpectedEOF
	}
	return w.in.Read(p)
}
