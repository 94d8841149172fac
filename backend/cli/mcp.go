package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/mcpserver"
)

// unnamed is the name of a program that was configured without one.
const unnamed = "unnamed"

func (c *call) mcpCommand() *cobra.Command {
	var client string
	var http bool
	cmd := &cobra.Command{
		Use: "mcp", Short: "Let another program use this memory over MCP, on stdin and stdout", Args: exactly(),
		Long: `Speaks the Model Context Protocol on stdin and stdout, for a program that starts it: its tools are
search_memory, get_turn, list_sessions, and remember if that is allowed. It works with or without an open
window, and ends when stdin closes.

A program sees nothing until it is allowed to, in the window or with: contextinfinity mcp clients allow NAME.

With --http it serves programs on this computer that have a token (contextinfinity mcp clients token NAME),
at the port mcp.server.port, until it is interrupted. The window does the same while mcp.server.http is on.`,
	}
	cmd.Flags().StringVar(&client, "client", unnamed, "the name of the program that starts it, as it is in the list of programs")
	cmd.Flags().BoolVar(&http, "http", false, "serve over HTTP on this computer instead")
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		if c.json {
			return reply{}, usagef("--json is for verbs that answer with one document; mcp speaks its own protocol.")
		}
		if http {
			return reply{}, c.serveHTTP(ctx)
		}
		if err := chat.CheckClientName(client); err != nil {
			return reply{}, usagef("%s", chat.AsError(err).Message)
		}
		in := c.app.In
		if in == nil {
			in = bytes.NewReader(nil)
		}
		return reply{}, mcpserver.Stdio(ctx, c.mcpOptions(client), in, c.out)
	})
	cmd.AddCommand(c.mcpServersCommand(), c.mcpClientsCommand(), c.mcpAccessCommand(), c.mcpCallCommand())
	return cmd
}

func (c *call) mcpOptions(client string) mcpserver.Options {
	return mcpserver.Options{Version: c.app.Version, Client: client, Tools: c.app.MemoryTools, Send: (&carrier{call: c}).carry}
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
	app.In, app.Out, app.Err, app.Terminals, app.Signals = bytes.NewReader(raw), &out, r.call.note, &Terminals{}, make(chan os.Signal)
	Run(ctx, app, r.call.withLocations("mcp", "call", "--json"))
	var doc struct {
		mcpserver.Answer
		Error *errorJSON `json:"error"`
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		return mcpserver.Answer{}, chat.WrapError(chat.CodeInternal, op, errors.Join(err, out.err), "The program that has the data open returned an answer that cannot be read.")
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

// mcpCallCommand runs one request of another program, which mcp has read. As a verb, it runs in the process that has
// the data open.
func (c *call) mcpCallCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "call", Short: "Carry out a request that mcp has read", Args: exactly(), Hidden: true}
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		raw, err := io.ReadAll(io.LimitReader(c.in.recorder, maxAnswerBytes))
		if err != nil {
			return reply{}, err
		}
		var q mcpserver.Request
		if err := json.Unmarshal(raw, &q); err != nil {
			return reply{}, usagef("stdin contains no request.")
		}
		return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
			answer, err := s.Programs.Do(ctx, q)
			r := reply{doc: answer}
			if err == nil && answer.Noted {
				c.flush(r, nil)
				c.indexNotes(ctx, s)
			}
			return r, err
		})
	})
	return cmd
}

// indexNotes runs background work for a moment, so that a note can be found soon.
func (c *call) indexNotes(ctx context.Context, s *Services) {
	limit := s.Config.Config().Librarian.AfterSend()
	if limit <= 0 {
		return
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, _ = s.Jobs.Drain(limited) // unfinished work stays queued
}
