package wire

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/loopback"
	"contextinfinity/backend/internal/pattern"
	"contextinfinity/backend/llm"
)

// Words is a provider's error message, in the common forms: {"error":{...}}, {"error":"..."}, {"message":...},
// {"detail":...}, one of these in a list, or with the message of the provider behind a gateway in metadata.raw.
type Words struct {
	Type    string
	Code    string
	Message string
	Param   string // the rejected member of the request
}

// ReadWords finds a provider's message in a JSON body. ok is false if the body does not look like an error.
func ReadWords(body []byte) (w Words, ok bool) {
	var top struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
		Type    json.RawMessage `json:"type"`
		Code    json.RawMessage `json:"code"`
		Param   json.RawMessage `json:"param"`
		Msg     json.RawMessage `json:"msg"`
		// Baidu, Cloudflare, Apigee and MiniMax.
		ErrorMsg  json.RawMessage   `json:"error_msg"`
		ErrorCode json.RawMessage   `json:"error_code"`
		Errors    []json.RawMessage `json:"errors"`
		Fault     struct {
			Message json.RawMessage `json:"faultstring"`
		} `json:"fault"`
		Base struct {
			Message json.RawMessage `json:"status_msg"`
			Code    json.RawMessage `json:"status_code"`
		} `json:"base_resp"`
	}
	if !Decodes(firstOf(body), &top) {
		return Words{}, false
	}
	var inner struct {
		Message  json.RawMessage `json:"message"`
		Type     json.RawMessage `json:"type"`
		Code     json.RawMessage `json:"code"`
		Param    json.RawMessage `json:"param"`
		Metadata struct {
			Raw json.RawMessage `json:"raw"`
		} `json:"metadata"`
		Counted int `json:"n_prompt_tokens"` // llama.cpp
		Window  int `json:"n_ctx"`
	}
	switch {
	case len(top.Error) > 0 && top.Error[0] == '{' && Decodes(top.Error, &inner):
		w = Words{Unquote(inner.Type), scalar(inner.Code), Unquote(inner.Message), Unquote(inner.Param)}
		if inner.Window > 0 && inner.Counted > inner.Window && len(counts(w.Message)) == 0 {
			w.Message += fmt.Sprintf(" (%d tokens of %d)", inner.Counted, inner.Window)
		}
		return w.withUpstream(inner.Metadata.Raw), true
	case len(top.Error) > 0 && top.Error[0] == '"':
		return Words{Code: scalar(top.Code), Message: Unquote(top.Error), Param: Unquote(top.Param)}, true
	case Unquote(top.Message) != "":
		return Words{Unquote(top.Type), scalar(top.Code), Unquote(top.Message), Unquote(top.Param)}, true
	case Unquote(top.Msg) != "" && !slices.Contains([]string{"", "0", "200"}, scalar(top.Code)):
		return Words{Code: scalar(top.Code), Message: Unquote(top.Msg)}, true
	case Unquote(top.ErrorMsg) != "":
		return Words{Code: scalar(top.ErrorCode), Message: Unquote(top.ErrorMsg)}, true
	case Unquote(top.Fault.Message) != "":
		return Words{Message: Unquote(top.Fault.Message)}, true
	case Unquote(top.Base.Message) != "" && scalar(top.Base.Code) != "0":
		return Words{Code: scalar(top.Base.Code), Message: Unquote(top.Base.Message)}, true
	case len(top.Errors) > 0 && len(top.Errors[0]) > 0 && top.Errors[0][0] == '{':
		return ReadWords(top.Errors[0])
	case len(top.Detail) > 0:
		if s := Unquote(top.Detail); s != "" {
			return Words{Message: s}, true
		}
		return Words{Message: string(top.Detail)}, string(top.Detail) != "null"
	}
	return Words{}, false
}

// firstOf returns the first element of a JSON list, and other JSON unchanged: Gemini puts its errors into a list.
func firstOf(body []byte) []byte {
	var list []json.RawMessage
	if trimmed := bytes.TrimSpace(body); len(trimmed) > 0 && trimmed[0] == '[' && json.Unmarshal(trimmed, &list) == nil && len(list) > 0 {
		return list[0]
	}
	return body
}

// withUpstream adds the message of the provider behind a gateway, JSON or text in a string: the gateway's own message
// only says that there was an error.
func (w Words) withUpstream(raw json.RawMessage) Words {
	upstream := Unquote(raw)
	if upstream == "" {
		return w
	}
	if inner, ok := ReadWords([]byte(upstream)); ok {
		upstream = inner.Message
	}
	if !strings.Contains(w.Message, upstream) {
		w.Message = strings.TrimPrefix(w.Message+": "+upstream, ": ")
	}
	return w
}

// Decodes decodes JSON into v, and reports success. A member of an unexpected type is skipped.
func Decodes(data []byte, v any) bool {
	err := json.Unmarshal(data, v)
	var wrongType *json.UnmarshalTypeError
	return err == nil || errors.As(err, &wrongType)
}

// scalar returns a code that is a JSON string or a number.
func scalar(raw json.RawMessage) string {
	if s := Unquote(raw); s != "" {
		return s
	}
	if s := string(raw); s != "null" && s != "" && s[0] != '{' && s[0] != '[' && s[0] != '"' {
		return s
	}
	return ""
}

// responseError classifies an HTTP response that is not a success. It reads a limited part of the body and closes it;
// if reading fails, the status decides. If the request is cancelled meanwhile, that is the error.
func (s Server) responseError(ctx context.Context, resp *http.Response) *llm.Error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	_ = resp.Body.Close()
	if ctx.Err() != nil {
		return Cancelled(ctx)
	}
	secrets := s.Endpoint.Secrets()
	body = redactAll(body, secrets) // it may also contain codes
	words, ok := ReadWords(body)
	var own chat.Phrase
	if !ok {
		words.Message, own = plainWords(resp, body)
	}
	e := classify(resp.StatusCode, words)
	if e.Message = cleanWords(words.Message, secrets...); !own.IsZero() {
		e.Say("%s", own)
	}
	e.RetryAfter = retryAfter(resp.Header, time.Now())
	switch resp.Header.Get("x-should-retry") {
	case "true":
		e.Retry = true
	case "false":
		e.Retry = false
	}
	if e.Message == "" {
		e.Say("the server answered with status %d and said nothing else", resp.StatusCode)
	}
	return e
}

// plainWords describes a response that is not JSON, such as a redirect or a proxy's page: the text of the response, or
// our own.
func plainWords(resp *http.Response, body []byte) (string, chat.Phrase) {
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		if u, err := url.Parse(resp.Header.Get("Location")); err == nil && u.Host != "" {
			return "", chat.Say("the server redirects to %s; a key is not sent there, correct the address of the server", u.Host)
		}
		return "", chat.Say("the server redirects to another address; a key is not sent there, correct the address of the server")
	}
	text := strings.TrimSpace(string(body))
	if text == "" || text[0] == '<' {
		return "", chat.Say(
			"the server answered with status %d and no explanation; check the address of the server", resp.StatusCode)
	}
	return text, chat.Phrase{}
}

// EventError classifies the failure in an error event.
func EventError(data []byte) *llm.Error {
	words, _ := ReadWords(data)
	if words.Type == "error" { // the event's own type
		words.Type = ""
	}
	return StreamError(words)
}

// StreamError classifies a failure that the provider reports inside a stream or an otherwise successful body.
func StreamError(w Words) *llm.Error {
	status := statusOfType[w.Type]
	if status == 0 {
		status = statusOfType[w.Code]
	}
	if n, err := strconv.Atoi(w.Code); err == nil && status == 0 && n >= 400 && n < 600 { // others are the provider's own
		status = n
	}
	e := classify(status, w)
	e.Status = 0
	e.Message = cleanWords(w.Message)
	e.Message = cmp.Or(e.Message, "the provider ended the answer with an error and said nothing else")
	return e
}

// UnknownEnd is the error for an answer that ended for a reason that is none of the known ones, in the provider's word: it
// is not complete.
func UnknownEnd(reason string) *llm.Error {
	if strings.EqualFold(reason, "error") {
		return EventError(nil)
	}
	return (&llm.Error{Code: chat.CodeProvider, Type: reason}).Say(
		"the provider ended the answer with the reason %q", display.Start(cleanWords(reason), maxWords))
}

// statusOfType is the HTTP status for a provider's own error code.
var statusOfType = map[string]int{
	"invalid_request_error": 400, "invalid_prompt": 400, "authentication_error": 401,
	"invalid_api_key": 401, "billing_error": 402, "permission_error": 403, "not_found_error": 404,
	"model_not_found": 404, "request_too_large": 413, "rate_limit_error": 429,
	"rate_limit_exceeded": 429, "api_error": 500, "server_error": 500, "internal_error": 500,
	"vector_store_timeout": 504, "timeout_error": 504, "overloaded_error": 529, "overloaded": 529,
	"server_is_overloaded": 529, "slow_down": 529, "service_unavailable": 503,
}

// tooLarge recognizes the messages of vendors and servers for a request that is too large. A limit on the answer ("at
// most 16384 completion tokens") does not count.
var tooLarge = pattern.New(`(?i)context_length_exceeded|context[ _]length|maximum context|context[ _]window` +
	`|(prompt|input) (is )?too long|input length and .?max_tokens|exceed_context_size|available context size|context size has been exceeded` +
	`|too many (input )?tokens|too many total text bytes|n_ctx|n_keep|request_too_large|request exceeds the maximum (allowed )?(size|number of bytes)` +
	`|string_above_max_length|exceed(s|ed)? (the |your )?(model'?s )?(maximum|max)(imum)?( allowed)?( number of)?( input| prompt| token)* (tokens|length)` +
	`|maximum (prompt|input|model) length|max_prompt_tokens_exceeded|(token|prompt|input)s?( token)? (count|length|limit)\b.{0,40}\b(exceed(s|ed)?|greater|longer)\b` +
	`|exceed(s|ed)? (the |your )?(model'?s? )?token limit|range of input length|longer than the maximum|max supported is` +
	`|\binputs\S? tokens \+ \S*max_new_tokens|must have less than \d+ tokens|longer than \d+ tokens|maximum (supported )?sequence length` +
	`|\b(prompt|input|messages?|conversation|context)( text| length)? (is |are )?too (long|large)|too (long|large) (a )?(prompt|input|conversation|context)` +
	`|\btokens?\b\W{0,3}[^.;]{0,40}\bexceed(s|ed)?\b[^.;]{0,30}\b(max|limit|window)|\b(context|input|prompt)( token)? (length |size |limit )?(was |is )?exceeded` +
	`|must be less than max_seq_len|max input characters|超长|(长度|token|输入|上下文)[^。]{0,16}(超出|超过|过长)|超(出|过)[^。]{0,16}(长度|token|上下文)` +
	`|(reduce|shorten) (the (length|number|size) of )?(the |your )?(input |prompt )?(message|prompt|input|tokens)`)

// otherLimit recognizes the messages for limits other than the context window: the requested answer length, or a
// member that is not part of the conversation.
var otherLimit = pattern.New(`(?i)max_(completion_|new_|output_)?tokens\W{1,3}(or \W?max_completion_tokens\W{1,3})?is too large`)

// conversationParams are the members of a request that contain the conversation.
var conversationParams = pattern.New(`^$|^(messages|inputs?|prompt|contents?|instructions|system)\b`)

// neverFits recognizes per-minute limits that a single request exceeds: waiting does not help.
var neverFits = pattern.New(`(?i)^\W*request too large`)

func isTooLarge(status int, w Words) bool {
	if status == http.StatusRequestEntityTooLarge {
		return true
	}
	text := w.Code + " " + w.Type + " " + w.Message
	switch status {
	case 0, 400, 422, 500: // llama.cpp and LM Studio report it as 500 or in the stream
		if otherLimit().MatchString(w.Message) || !conversationParams().MatchString(w.Param) && w.Code == "string_above_max_length" {
			return false
		}
		return tooLarge().MatchString(text[:min(len(text), maxRefusal)])
	case http.StatusTooManyRequests:
		return neverFits().MatchString(w.Message)
	}
	return false
}

func classify(status int, w Words) *llm.Error {
	e := &llm.Error{Status: status, Type: w.Code}
	e.Type = cmp.Or(e.Type, w.Type)
	switch {
	case isTooLarge(status, w):
		e.Code = chat.CodeTooLarge
		e.SizeLimit, e.SizeCounted = sizes(w.Message)
		if answer := shorterAnswer(w.Message); answer > 0 {
			e.Refused = llm.RefusedMaxTokens + strconv.Itoa(answer)
		}
	case isQuota(status, w):
		e.Code, e.Unpaid = chat.CodeRateLimited, true
	case isBlockedRegion(w):
		e.Code = chat.CodeProvider
	case status == 401 || status == 403:
		e.Code = chat.CodeAuth
	case status == 429:
		e.Code, e.Retry = chat.CodeRateLimited, true
	case status == 408 || status == 409 || status >= 500:
		e.Code, e.Retry = chat.CodeUnavailable, true
	default:
		e.Code = chat.CodeProvider
	}
	if e.Code == chat.CodeProvider || e.Code == chat.CodeUnavailable {
		e.Forgotten, e.NoTools = isForgotten(w), isWithoutTools(w)
		if status == 400 || status == 422 {
			e.Refused = refusedPart(w)
		}
		if e.Forgotten || e.NoTools { // llama.cpp refuses tools with 500, vLLM unknown stored responses with 501
			e.Code, e.Retry = chat.CodeProvider, false
		}
	}
	return e
}

// forgotten recognizes the messages for a stored response that does not exist, or a server that stores none.
var forgotten = pattern.New(`(?i)previous_response_(id|not_found)|previous response.{0,120}not found|response with id.{0,120}not found|store *= *true.{0,40}not supported`)

func isForgotten(w Words) bool {
	text := w.Code + " " + w.Param + " " + w.Message
	return forgotten().MatchString(text[:min(len(text), maxRefusal)])
}

// withoutTools recognizes the messages of vendors and servers for a model without tool support. "parallel_tool_calls"
// and other parameters with "tool" in their name do not count.
var withoutTools = pattern.New(`(?i)(does not|doesn't|do not|don't|not) (currently )?support (the )?(use of )?` + toolWords +
	`|\b` + toolWords + `['"\x60]? (is|are) (not supported|unsupported|not enabled|not available|disabled)` +
	`|endpoints found that support tool use|--enable-auto-tool-choice|tools param requires --jinja`)

const toolWords = `['"\x60]?(tools?|tool[ -]?(use|calls?|calling)|function[ -]?(calls?|calling))\b`

func isWithoutTools(w Words) bool {
	return withoutTools().MatchString(w.Message[:min(len(w.Message), maxRefusal)])
}

// blockedRegion recognizes refusals because of the country: the key is not the reason.
var blockedRegion = pattern.New(`(?i)(country|region|territory|location)[^.]{0,40}(is )?(not|un) ?(supported|available|allowed)` +
	`|unsupported_country|not available in your (country|region)`)

func isBlockedRegion(w Words) bool {
	text := w.Code + " " + w.Type + " " + w.Message
	return blockedRegion().MatchString(text[:min(len(text), maxRefusal)])
}

// outOfCredit recognizes accounts without credit whose server has no code for it.
var outOfCredit = pattern.New(`(?i)insufficient (balance|credits?|funds|quota)|credit balance is too low|余额不足|欠费`)

// isQuota recognizes limits that waiting does not lift.
func isQuota(status int, w Words) bool {
	for _, code := range []string{w.Code, w.Type} {
		switch code {
		case "insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active":
			return true
		}
	}
	return status == http.StatusPaymentRequired || outOfCredit().MatchString(w.Message[:min(len(w.Message), maxRefusal)])
}

// maxRetryAfter limits what a header may ask for; below it the turn decides.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads Retry-After in milliseconds, seconds or as a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	seconds := func(v string, unit time.Duration) (time.Duration, bool) {
		f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if err != nil || math.IsNaN(f) {
			return 0, false
		}
		f = min(max(f, 0), float64(maxRetryAfter/unit))
		return time.Duration(f * float64(unit)), true
	}
	if d, ok := seconds(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	v := h.Get("Retry-After")
	if d, ok := seconds(v, time.Second); ok {
		return d
	}
	if t, err := http.ParseTime(v); err == nil {
		return min(max(t.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

// transportError classifies a call without a complete response. A cancelled context takes precedence over the
// connection's error; its cause stays in the chain.
func (s Server) transportError(ctx context.Context, err error) *llm.Error {
	if ctx.Err() != nil {
		return Cancelled(ctx)
	}
	host, secrets := hostOf(s.Base), s.Endpoint.Secrets()
	e := &llm.Error{Code: chat.CodeUnavailable, Retry: true, Err: scrub(err, secrets)}
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var op *net.OpError
	switch {
	case errors.Is(err, errEventTooLarge):
		e.Code, e.Retry, e.Message = chat.CodeProvider, false, errEventTooLarge.Error()
	case errors.As(err, &op) && (op.Op == "proxyconnect" || strings.HasPrefix(op.Op, "socks")):
		e.Say("the proxy of this system's settings does not answer; check it, or the variables HTTPS_PROXY, HTTP_PROXY and ALL_PROXY")
	case errors.As(err, &cert):
		e.Say("the certificate of %s is not trusted", host).Retry = false
	case errors.As(err, &record):
		e.Say("%s does not speak HTTPS; check the address of the server", host).Retry = false
	case errors.As(err, &dns):
		e.Say("can't reach %s; check your connection and the address of the server", host)
	case errors.Is(err, syscall.ECONNREFUSED):
		if ownServer(s.Base) {
			e.Say("nothing answers at %s; is the server running?", host)
		} else {
			e.Say("nothing answers at %s; check the network connection", host)
		}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		e.Say("the connection to %s was lost", host)
	case isTimeout(err):
		e.Say("%s did not answer in time", host).Code = chat.CodeTimeout
	default:
		e.Say("the connection to %s failed: %s", host, cleanWords(rootCause(err).Error(), secrets...))
	}
	return e
}

// Cancelled describes the end of ctx by its cause: a timeout stays a timeout, a coded error keeps its code.
func Cancelled(ctx context.Context) *llm.Error {
	cause := context.Cause(ctx)
	e := &llm.Error{Code: chat.CodeCancelled, Message: "the request was cancelled", Err: cause}
	var coded *chat.Error
	var own *llm.Error
	switch {
	case errors.As(cause, &coded):
		e.Say("%s", coded).Code = coded.Code
	case errors.As(cause, &own):
		e.Say("%s", own).Code = own.Code
	case isTimeout(cause):
		e.Code, e.Retry, e.Message = chat.CodeTimeout, true, "the provider did not answer in time"
	}
	return e
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &t) && t.Timeout()
}

// rootCause removes wrapping that would repeat the URL, which may contain a key.
func rootCause(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// scrub keeps err as the cause unless its text contains a secret or a URL.
func scrub(err error, secrets []llm.Secret) error {
	err = rootCause(err)
	if text := err.Error(); Redact(text, secrets...) != text {
		return errors.New(cleanWords(text, secrets...))
	}
	return err
}

func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return "the server"
	}
	return u.Host
}

// ownServer reports whether an address belongs to this machine or the local network, so that the user runs its server.
func ownServer(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	}
	inside := func(domain string) bool { return strings.HasSuffix(host, domain) }
	return loopback.IsHost(host) || !strings.Contains(host, ".") ||
		slices.ContainsFunc([]string{".local", ".lan", ".home", ".internal", ".home.arpa"}, inside)
}
