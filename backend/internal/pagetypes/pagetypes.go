// Package pagetypes generates the page's TypeScript types: the shapes of backend/api with their comments, the bound
// services, the events, and where lists are. The Go source is the only place where they are written by hand
// (docs/adr/0016).
package pagetypes

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// File is the path of the generated file in the module.
const File = "frontend/src/lib/backend/types.ts"

const (
	apiDir  = "backend/api"
	chatDir = "backend/chat"
)

// writer writes one file.
type writer struct {
	bytes.Buffer
	api    *source
	shapes []shape
	names  map[*ast.TypeSpec]string // of the shapes, by the declaration of their fields
	enums  map[string]enum
	lists  lists
}

// shape is a struct that the page knows: of package api, or of another package under the name that api gives it
// (type X = pkg.Y).
type shape struct {
	declared         // in package api
	in       *source // of the fields
	fields   declared
}

// enum is a type whose values are string constants.
type enum struct {
	declared
	values []constant
}

// Generate returns the file for the module at root.
//
// Errors: a type that cannot be converted, with its position.
func Generate(root string) ([]byte, error) {
	others := map[string]*source{}
	var err error
	w := &writer{names: map[*ast.TypeSpec]string{}, enums: map[string]enum{}, lists: lists{}}
	if w.api, err = read(root, apiDir, others); err != nil {
		return nil, err
	}
	if err := w.collectShapes(); err != nil {
		return nil, err
	}
	services := boundServices(w.api, "Bound")
	if len(services) == 0 {
		return nil, fmt.Errorf("%s: there is no function named Bound that creates a service", apiDir)
	}
	fmt.Fprint(w, "// Code generated from "+apiDir+" by `make types`. DO NOT EDIT.\n")
	fmt.Fprint(w, "import type { Phrase } from '../i18n/program';\n")
	for _, step := range []func() error{w.writeShapes, w.writeEvents, func() error { return w.writeServices(services) }} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	w.writeEnums()
	w.writeLists()
	return w.Bytes(), nil
}

// collectShapes finds the shapes of package api, in the order of its files.
func (w *writer) collectShapes() error {
	for _, d := range w.api.types {
		in, fields, err := w.api.original(d)
		if err != nil {
			return err
		}
		if s := (shape{d, in, fields}); s.spec.Name.IsExported() && fields.isShape() {
			w.shapes = append(w.shapes, s)
			w.names[s.fields.spec] = d.name
		}
	}
	slices.SortFunc(w.shapes, func(a, b shape) int {
		return cmp.Or(cmp.Compare(w.api.name(a.file), w.api.name(b.file)), cmp.Compare(a.spec.Pos(), b.spec.Pos()))
	})
	return nil
}

func (w *writer) writeShapes() error {
	file := ""
	for _, d := range w.shapes {
		if name := w.api.name(d.file); name != file {
			file = name
			fmt.Fprintf(w, "\n// ---------------------------------------------------------------- %s/%s\n", apiDir, file)
		}
		fields, err := d.in.fields(d.fields)
		if err != nil {
			return err
		}
		fmt.Fprintln(w)
		w.comment("", cmp.Or(d.doc, d.fields.doc))
		fmt.Fprintf(w, "export interface %s {\n", d.name)
		for _, f := range fields {
			typ, err := w.typeOf(f.in, f.file, f.typ)
			if err != nil {
				return fmt.Errorf("%s.%s: %w", d.name, f.name, err)
			}
			mark := ""
			if f.optional {
				mark = "?"
			}
			w.comment("  ", f.doc)
			fmt.Fprintf(w, "  %s%s: %s;\n", f.name, mark, typ)
			if isTime(f.typ) {
				typ = times
			}
			w.lists.add(d.name, f.name, typ)
		}
		fmt.Fprint(w, "}\n")
	}
	return nil
}

// writeEvents writes the values of the constants EventX, each with its shape X.
func (w *writer) writeEvents() error {
	fmt.Fprint(w, "\n/** Events to the page by their names, and what they carry. */\nexport interface Events {\n")
	for _, c := range w.api.consts {
		shape, ok := strings.CutPrefix(c.name, "Event")
		if !ok || c.typ != "" {
			continue
		}
		if !w.api.types[shape].isKnown() {
			return fmt.Errorf("%s has no shape %s", c.name, shape)
		}
		fmt.Fprintf(w, "  '%s': %s;\n", c.value, shape)
		w.lists.add(results, c.value, shape)
	}
	fmt.Fprint(w, "}\n")
	return nil
}

func (d declared) isKnown() bool { return d.spec != nil }

func (w *writer) writeServices(services []string) error {
	for _, service := range services {
		d, known := w.api.types[service]
		if !known {
			return fmt.Errorf("function Bound creates %s, which is not a type of %s", service, apiDir)
		}
		fmt.Fprintln(w)
		w.comment("", d.doc)
		fmt.Fprintf(w, "export interface %sService {\n", service)
		for _, m := range w.api.methods[service] {
			if err := w.method(service, m); err != nil {
				return fmt.Errorf("%s.%s: %w", service, m.Name, err)
			}
		}
		fmt.Fprint(w, "}\n")
	}
	fmt.Fprint(w, "\n/** The services that the program binds. A failed call rejects with a BackendError: what happened, and what to do. */\nexport interface Services {\n")
	for _, service := range services {
		fmt.Fprintf(w, "  readonly %s: %sService;\n", lowerFirst(service), service)
	}
	fmt.Fprint(w, "}\n\nexport const serviceNames: readonly (keyof Services)[] = [\n")
	for _, service := range services {
		fmt.Fprintf(w, "  '%s',\n", lowerFirst(service))
	}
	fmt.Fprint(w, "];\n")
	return nil
}

func (w *writer) method(service string, m *ast.FuncDecl) error {
	file := w.fileOf(m)
	var parameters []string
	for _, p := range m.Type.Params.List {
		typ, err := w.typeOf(w.api, file, p.Type)
		if err != nil {
			return err
		}
		for _, name := range p.Names {
			parameters = append(parameters, name.Name+": "+typ)
		}
	}
	result := "void"
	if m.Type.Results != nil {
		for _, r := range m.Type.Results.List {
			if baseName(r.Type) == "error" {
				continue
			}
			typ, err := w.typeOf(w.api, file, r.Type)
			if err != nil {
				return err
			}
			if result != "void" || len(r.Names) > 1 {
				return fmt.Errorf("more than one result")
			}
			result = typ
		}
	}
	w.comment("  ", m.Doc.Text())
	fmt.Fprintf(w, "  %s(%s): Promise<%s>;\n", lowerFirst(m.Name.Name), strings.Join(parameters, ", "), result)
	w.lists.add(results, service+"."+m.Name.Name, result)
	return nil
}

func (w *writer) fileOf(n ast.Node) *ast.File {
	for _, f := range w.api.files {
		if f.Pos() <= n.Pos() && n.End() <= f.End() {
			return f
		}
	}
	return nil
}

// isTime reports whether a type is a time, which is a number for the page: Unix milliseconds, 0 for none.
func isTime(t ast.Expr) bool {
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	selector, ok := t.(*ast.SelectorExpr)
	return ok && baseName(selector.X) == "time" && selector.Sel.Name == "Time"
}

// typeOf converts a Go type, as a file of a package names it, to TypeScript.
func (w *writer) typeOf(in *source, file *ast.File, t ast.Expr) (string, error) {
	if isTime(t) {
		return "number", nil
	}
	switch t := t.(type) {
	case *ast.StarExpr:
		base, err := w.typeOf(in, file, t.X)
		return base + " | null", err
	case *ast.ArrayType:
		item, err := w.typeOf(in, file, t.Elt)
		if strings.Contains(item, "|") || strings.HasSuffix(item, "[]") {
			return "", fmt.Errorf("a list of %s is not supported", item)
		}
		return item + "[]", err
	case *ast.MapType:
		item, err := w.typeOf(in, file, t.Value)
		if err == nil && (baseName(t.Key) != "string" || strings.HasSuffix(item, "[]")) {
			err = fmt.Errorf("a map of %s is not supported", item)
		}
		return "Record<string, " + item + ">", err
	case *ast.SelectorExpr:
		pkg, ok := t.X.(*ast.Ident)
		if !ok {
			break
		}
		if pkg.Name == "chat" && t.Sel.Name == "Phrase" {
			return "Phrase", nil // it has its own JSON form, and a type in the page
		}
		other, d, err := in.imported(file, pkg.Name, t.Sel.Name)
		if err != nil {
			return "", err
		}
		return w.named(other, d)
	case *ast.Ident:
		if d, ours := in.types[t.Name]; ours {
			return w.named(in, d)
		}
		if name, known := basic[t.Name]; known {
			return name, nil
		}
		return "", fmt.Errorf("%s is not a type for the page", t.Name)
	}
	return "", fmt.Errorf("this kind of type is not supported")
}

// named returns the name of a shape, or of a type of strings.
func (w *writer) named(in *source, d declared) (string, error) {
	in, d, err := in.original(d)
	if err != nil {
		return "", err
	}
	if name, ok := w.names[d.spec]; ok {
		return name, nil
	}
	if d.isShape() {
		return "", fmt.Errorf("%s needs a name in %s: type X = %s.%s", d.name, apiDir, path.Base(in.dir), d.name)
	}
	return w.enum(in, d)
}

var basic = map[string]string{
	"string": "string", "bool": "boolean",
	"int": "number", "int32": "number", "int64": "number", "uint64": "number", "float64": "number",
}

// enum returns the union of the constants of a type; a string type without constants is a string. A type of another
// package is prefixed with the package's name, unless the package is chat and api has no type of that name.
func (w *writer) enum(in *source, d declared) (string, error) {
	if baseName(d.spec.Type) != "string" {
		return "", fmt.Errorf("%s is neither a shape nor a string", d.name)
	}
	values := in.values(d.name)
	if len(values) == 0 {
		return "string", nil
	}
	if _, taken := w.api.types[d.name]; in.dir != apiDir && (in.dir != chatDir || taken) {
		d.name = upperFirst(path.Base(in.dir)) + d.name
	}
	if other, taken := w.enums[d.name]; taken && other.spec != d.spec {
		return "", fmt.Errorf("two packages have a type %s", d.name)
	}
	w.enums[d.name] = enum{d, values}
	return d.name, nil
}

func (w *writer) writeEnums() {
	for _, name := range slices.Sorted(maps.Keys(w.enums)) {
		e := w.enums[name]
		fmt.Fprintln(w)
		w.comment("", e.doc)
		fmt.Fprintf(w, "export type %s =\n", name)
		for i, c := range e.values {
			w.comment("  ", c.doc)
			end := "\n"
			if i == len(e.values)-1 {
				end = ";\n"
			}
			fmt.Fprintf(w, "  | '%s'%s", strings.ReplaceAll(c.value, "'", `\'`), end)
		}
	}
}

// comment writes a Go comment, on one line if it fits.
func (w *writer) comment(indent, doc string) {
	doc = strings.ReplaceAll(strings.TrimSpace(doc), "*/", "* /")
	if doc == "" {
		return
	}
	lines := wrapped(doc, 116-len(indent))
	if len(lines) == 1 {
		fmt.Fprintf(w, "%s/** %s */\n", indent, lines[0])
		return
	}
	fmt.Fprintf(w, "%s/**\n", indent)
	for _, line := range lines {
		fmt.Fprintf(w, "%s%s\n", indent, strings.TrimRight(" * "+line, " "))
	}
	fmt.Fprintf(w, "%s */\n", indent)
}

// wrapped wraps the paragraphs of a text to a width.
func wrapped(text string, width int) (lines []string) {
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			lines = append(lines, "")
		}
		line := ""
		for _, word := range strings.Fields(paragraph) {
			if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
				lines, line = append(lines, line), ""
			}
			line = strings.TrimSpace(line + " " + word)
		}
		lines = append(lines, line)
	}
	return lines
}

// joinComments joins the comments above and beside a field.
func joinComments(above, beside string) string {
	return strings.TrimSpace(strings.TrimSpace(above) + " " + strings.TrimSpace(beside))
}

func upperFirst(name string) string {
	return string(unicode.ToUpper(rune(name[0]))) + name[1:]
}

func lowerFirst(name string) string {
	return string(unicode.ToLower(rune(name[0]))) + name[1:]
}
