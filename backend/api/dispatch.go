package api

import (
	"encoding/json"
	"log/slog"
	"reflect"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/panics"
)

// Services calls the bound services by name, as the window's bridge does. It is for a window whose page runs in another
// process.
type Services struct {
	byName map[string]reflect.Value
	log    *slog.Logger
}

// NewServices returns the services that a window binds.
func NewServices(bound []any, log *slog.Logger) Services {
	s := Services{map[string]reflect.Value{}, log}
	for _, service := range bound {
		v := reflect.ValueOf(service)
		s.byName[reflect.Indirect(v).Type().Name()] = v
	}
	return s
}

// Call calls "Service.Method" with its arguments as a JSON list.
//
// Errors: those of the method; CodeInvalid for an unknown method or wrong arguments; CodeInternal if the method panics.
func (s Services) Call(name string, args json.RawMessage) (result any, err error) {
	const op = "window.call"
	service, method, _ := strings.Cut(name, ".")
	v, ok := s.byName[service]
	if !ok {
		return nil, chat.Errorf(chat.CodeInvalid, op, "There is no service %q.", service)
	}
	m := v.MethodByName(method)
	if !m.IsValid() {
		return nil, chat.Errorf(chat.CodeInvalid, op, "There is no method %q.", name)
	}
	var arguments []json.RawMessage
	if err := json.Unmarshal(args, &arguments); err != nil || len(arguments) != m.Type().NumIn() {
		return nil, chat.Errorf(chat.CodeInvalid, op, "%s does not take these arguments.", name)
	}
	in := make([]reflect.Value, len(arguments))
	for i, raw := range arguments {
		arg := reflect.New(m.Type().In(i))
		if err := json.Unmarshal(raw, arg.Interface()); err != nil {
			return nil, chat.WrapError(chat.CodeInvalid, op, err, "%s does not take these arguments.", name)
		}
		in[i] = arg.Elem()
	}
	defer panics.Recover(func(e *chat.Error, stack []byte) {
		s.log.Error("a call from a window panicked", "method", name, "stack", string(stack))
		result, err = nil, e
	})
	return callResult(m.Call(in))
}

// callResult returns the value and the error among the results of a method.
func callResult(out []reflect.Value) (any, error) {
	var result any
	for _, v := range out {
		if err, ok := v.Interface().(error); ok {
			return nil, err
		}
		if !v.Type().Implements(reflect.TypeFor[error]()) {
			result = v.Interface()
		}
	}
	return result, nil
}

// Relay is the service that an additional window's page calls: it forwards calls to the program that has the data open.
type Relay struct {
	call func(name string, args json.RawMessage) (json.RawMessage, error)
}

// NewRelay returns the service. call calls "Service.Method".
func NewRelay(call func(name string, args json.RawMessage) (json.RawMessage, error)) *Relay {
	return &Relay{call}
}

// Call calls a method of a service with its arguments as a JSON list, and returns its result as JSON.
func (r *Relay) Call(service, method, args string) (string, error) {
	result, err := r.call(service+"."+method, json.RawMessage(args))
	return string(result), err
}

// ErrorOf returns the error that FormatError encoded.
func ErrorOf(encoded string) error {
	var v ErrorView
	if err := json.Unmarshal([]byte(encoded), &v); err != nil || v.Message.IsZero() {
		return chat.Errorf(chat.CodeInternal, "window.call", "The program that has the data open returned an error that cannot be read.")
	}
	return chat.NewError(v.Code, v.Op, v.Message, v.Hint)
}
