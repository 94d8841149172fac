package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/mcpserver"
)

// unnamed is the name of a program that was configured without one.
const unnamed = "unnamed"

func mcpVerb() verb {
	return verb{
		use:   "mcp",
		short: "Let another program use this memory over MCP, on stdin and stdout",
		long: `Speaks the Model Context Protocol on stdin and stdout, for a program that starts it: its tools are
search_memory, get_turn, list_sessions, and remember if that is allowed. It works with or without an open
window, and ends when stdin closes.

A program sees nothing until it is allowed to, in the window or with: contextinfinity mcp clients allow NAME.

With --http it serves programs on this computer that have a token (contextinfinity mcp clients token NAME),
at the port mcp.server.port, until it is interrupted. The window does the same while mcp.server.http is on.`,
		flags: []flag{
			{name: "client", value: unnamed, usage: "the name of the program that starts it, as it is in the list of programs"},
			boolFlag("http", "serve over HTTP on this computer instead"),
		},
		prepare: func(_ context.Context, r *run) error {
			if r.json {
				return usagef("--json is for verbs that answer with one document; mcp speaks its own protocol.")
			}
			if err := chat.CheckClientName(r.text("client")); err != nil && !r.on("http") {
				return usagef("%s", chat.AsError(err).Message)
			}
			return nil
		},
		do: func(ctx context.Context, r *run) (reply, error) {
			if r.on("http") {
				return reply{}, r.serveHTTP(ctx)
			}
			in := r.app.In
			if in == nil {
				in = bytes.NewReader(nil)
			}
			return reply{}, mcpserver.Stdio(ctx, r.mcpOptions(r.text("client")), in, r.out)
		},
		verbs: []verb{
			serversVerb(),
			clientsVerb(),
			accessVerb(),
			{
				// It runs in the process that has the data open.
				use:     "call",
				short:   "Carry out a request that mcp has read",
				hidden:  true,
				prepare: readRequest,
				opens:   writes,
				do:      answerRequest,
			},
		},
	}
}

func (c *call) mcpOptions(client string) mcpserver.Options {
	return mcpserver.Options{
		Version: c.app.Version,
		Client:  client,
		Tools:   c.app.MemoryTools,
		Send:    (&carrier{call: c}).carry,
	}
}

// serveHTTP serves programs on this computer until ctx ends.
func (c *call) serveHTTP(ctx context.Context) error {
	s, err := c.app.OpenSetup(ctx, c.options(true, silent{}))
	if err != nil {
		return err
	}
	server := mcpserver.NewHTTP(c.mcpOptions(""))
	defer server.Close()
	if err := server.Apply(s.Config.Config().Programs.Port); err != nil {
		return err
	}
	address, _ := server.Address()
	c.notef("serving %s until interrupted", address)
	<-ctx.Done()
	return nil
}

// carrier runs requests one by one, each as a separate command: the data is opened only for that command, or the
// request runs in the window that has the data open.
type carrier struct {
	call *call
	mu   sync.Mutex
}

// maxAnswerBytes limits the output of a call.
const maxAnswerBytes = 4 << 20

func (r *carrier) carry(ctx context.Context, q mcpserver.Request) (mcpserver.Answer, error) {
	const op = "mcp.carry"
	raw, err := json.Marshal(q)
	if err != nil {
		return mcpserver.Answer{}, chat.WrapError(chat.CodeInvalid, op, err, "The request cannot be passed on.")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var out bounded
	app := r.call.app
	app.In, app.Out, app.Err = bytes.NewReader(raw), &out, r.call.note
	app.Terminals, app.Signals, app.Passphrase = &Terminals{}, make(chan os.Signal), r.call.passphrase
	Run(ctx, app, r.call.withLocations("mcp", "call", "--json"))
	var doc struct {
		mcpserver.Answer
		Error *errorJSON `json:"error"`
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		const problem = "The program that has the data open returned an answer that cannot be read."
		return mcpserver.Answer{}, chat.WrapError(chat.CodeInternal, op, errors.Join(err, out.err), problem)
	}
	if doc.Error != nil {
		e := chat.Errorf(doc.Error.Code, op, "%s", doc.Error.Message)
		if doc.Error.Hint != "" {
			e = e.WithHint("%s", doc.Error.Hint)
		}
		return mcpserver.Answer{}, e
	}
	return doc.Answer, nil
}

// withLocations returns arguments for another verb that uses the same data directory and configuration as this one.
func (c *call) withLocations(args ...string) []string {
	for _, flag := range [][2]string{{"--data-dir", c.dataDir}, {"--config", c.configPath}} {
		if flag[1] != "" {
			args = append(args, flag[0], flag[1])
		}
	}
	for _, set := range c.set {
		args = append(args, "--set", set)
	}
	return args
}

// bounded collects output up to maxAnswerBytes.
type bounded struct {
	bytes.Buffer
	err error
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxAnswerBytes {
		b.err = chat.Errorf(chat.CodeTooLarge, "mcp.carry", "The answer is larger than %d bytes.", maxAnswerBytes)
		return 0, b.err
	}
	return b.Buffer.Write(p)
}

func readRequest(_ context.Context, r *run) error {
	raw, err := io.ReadAll(io.LimitReader(r.in.recorder, maxAnswerBytes))
	if err != nil {
		return err
	}
	if !json.Valid(raw) {
		return usagef("stdin contains no request.")
	}
	r.input = string(raw)
	return nil
}

func answerRequest(ctx context.Context, r *run) (reply, error) {
	var q mcpserver.Request
	if err := json.Unmarshal([]byte(r.input), &q); err != nil {
		return reply{}, usagef("stdin contains no request.")
	}
	answer, err := r.s.Programs.Do(ctx, q)
	done := reply{doc: answer}
	if limit := r.s.afterSend(); err == nil && answer.Noted && limit > 0 { // the note can be found soon
		r.flush(done, nil)
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		_, _ = r.s.Jobs.Drain(limited) // unfinished work stays queued
	}
	return done, err
}
