/**
 * Finds displayed texts that are written in code instead of a catalogue, and calls of t() whose text would not follow a
 * change of the language. For tests: it reads the sources with the compilers of Svelte and TypeScript.
 */
import { parse as parseSvelte } from 'svelte/compiler';
import ts from 'typescript';

export interface Finding {
  line: number;
  text: string;
}

interface Node {
  type: string;
  start: number;
  end: number;
  [name: string]: unknown;
}

/** Attributes and properties that are shown or read aloud, whatever their value. */
const shownNames = new Set(['aria-label', 'aria-description', 'aria-valuetext', 'aria-roledescription', 'title', 'placeholder', 'alt', 'label', 'help', 'detail', 'hint', 'lead', 'action', 'words', 'removeLabel', 'retryLabel', 'countLabel', 'smaller', 'larger', 'exact', 'message', 'group', 'why']);
/** Attributes that are never shown. */
const hiddenNames = /^(?:class|style|id|d|href|src|type|name|data-.*|role|for|style:.*|bind:.*|use:.*|on.*|of|xmlns|viewBox|points|transform|accept|rel|target|autocomplete|aria-(?:labelledby|describedby|controls|activedescendant|keyshortcuts|haspopup|live|relevant|autocomplete|current))$/;
/** Functions whose arguments are selectors, names of events and the like. */
const technicalCalls = /^(?:closest|querySelector|querySelectorAll|matches|addEventListener|removeEventListener|getElementById|createElement|setProperty|getPropertyValue|setAttribute|getAttribute|removeAttribute|toggleAttribute|hasAttribute|getItem|setItem|import|split|join|startsWith|endsWith|includes|indexOf|replace|replaceAll|matchAll|test|execCommand|setData|getData|getContext|setContext|t|richParts|Symbol|RegExp|matchMedia|Worker|URL|toHaveTextContent|mock)$/;

/** Names are the same in every language. */
const properNames = /ContextInfinity|\brecall\b|OpenAI(?: Responses)?|Anthropic(?: Messages)?|Chat Completions|Ollama|LM Studio|ChatGPT|Codex|Claude(?: Desktop|\.ai)?|Exa|Tavily|Mermaid|Markdown|CSV|JSON|HTML|SVG|MCP|URI|PDF|LaTeX/g;

/** Names of keys and other names defined by browsers. */
const keyNames = /^(?:Arrow|Page)(?:Up|Down|Left|Right)$|^(?:Up|Down|Left|Right|Plus|Enter|Escape|Home|End|Tab|Delete|Backspace|Space|Control|Meta|Shift|Alt|Ctrl|Esc|Files|F\d+|Mac|Linux|Windows)$|^(?:Ctrl|Alt|Shift)\+/;

/** A name, an address, a key or a symbol is not text; a word of at least two letters is. */
function isText(text: string): boolean {
  return /\p{L}{2}/u.test(text.replace(properNames, ''));
}

/** Whether a string in code looks like text: it contains a space between words, or begins like a sentence. */
function readsLikeText(text: string): boolean {
  if (!isText(text) || /^[\w-]+:\/\/|^[a-z]+:\S|^[./#@]|[{};=<>]|^--/.test(text)) return false;
  if (keyNames.test(text)) return false;
  return /[\p{L}\d][,.:;]? +\p{L}|\p{L}[,.:;]? +[\d“„(]/u.test(text) || /^\p{Lu}\p{Ll}+[….!?:]?$/u.test(text);
}

export function findLiterals(file: string, source: string): Finding[] {
  const findings: Finding[] = [];
  const lineOf = (at: number) => source.slice(0, at).split('\n').length;
  const add = (at: number, text: string) => findings.push({ line: lineOf(at), text: text.trim().replace(/\s+/g, ' ') });
  if (file.endsWith('.svelte')) inSvelte(source, add);
  else inScript(source, 0, add);
  return findings;
}

type Add = (at: number, text: string) => void;

function inSvelte(source: string, add: Add): void {
  const root = parseSvelte(source, { modern: true }) as unknown as Record<'fragment' | 'instance' | 'module', Node | null>;
  for (const script of [root.module, root.instance]) {
    const content = script?.['content'] as Node | undefined;
    if (content) inScript(source.slice(content.start, content.end), content.start, add);
  }
  if (root.fragment) inTemplate(root.fragment, source, add);
}

function inTemplate(node: Node, source: string, add: Add): void {
  switch (node.type) {
    case 'Text':
      if (isText(String(node['data']))) add(node.start, String(node['data']));
      return;
    case 'Attribute':
      return inAttribute(node, source, add);
    case 'StyleDirective':
      return;
    case 'ExpressionTag':
      return inExpression(node['expression'] as Node, source, add);
    case 'RegularElement':
      if (node['name'] === 'pre' || node['name'] === 'style') return;
  }
  for (const [name, value] of Object.entries(node)) {
    if (name === 'parent' || name === 'metadata' || name === 'expression' || name === 'parameters' || name === 'context') continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (child !== null && typeof child === 'object' && typeof (child as Node).type === 'string') inTemplate(child as Node, source, add);
    }
  }
}

function inAttribute(node: Node, source: string, add: Add): void {
  const name = String(node['name']);
  if (hiddenNames.test(name)) return;
  const parts = (Array.isArray(node['value']) ? node['value'] : [node['value']]) as (Node | true)[];
  for (const part of parts) {
    if (part === true) continue;
    if (part.type === 'Text') {
      const text = String(part['data']);
      if (shownNames.has(name) ? isText(text) : readsLikeText(text)) add(part.start, text);
    } else if (part.type === 'ExpressionTag') inExpression(part['expression'] as Node, source, add);
  }
}

function inExpression(expression: Node, source: string, add: Add): void {
  inScript(`(${source.slice(expression.start, expression.end)})`, expression.start - 1, add);
}

function inScript(source: string, offset: number, add: Add): void {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
  const walk = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
      const text = ts.isTemplateExpression(node) ? [node.head.text, ...node.templateSpans.map((span) => span.literal.text)].join('0') : node.text;
      if (!isTechnical(node) && (readsLikeText(text) || (isShownProperty(node) && isText(text) && !keyNames.test(text) && /^\p{Lu}(?!\w*\+)|\s/u.test(text)))) add(offset + node.getStart(), node.getText());
      if (ts.isTemplateExpression(node)) node.templateSpans.forEach((span) => walk(span.expression));
      return;
    }
    ts.forEachChild(node, walk);
  };
  walk(file);
}

/** A value that is compared, looked up, or passed to a function that displays nothing. */
function isTechnical(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isBinaryExpression(parent) && [ts.SyntaxKind.EqualsEqualsEqualsToken, ts.SyntaxKind.ExclamationEqualsEqualsToken, ts.SyntaxKind.InKeyword].includes(parent.operatorToken.kind)) return true;
  if (ts.isCaseClause(parent) || ts.isElementAccessExpression(parent) || ts.isLiteralTypeNode(parent)) return true;
  if ((ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent) || ts.isMethodDeclaration(parent)) && parent.name === node) return true;
  if (ts.isPropertyAssignment(parent) && /^(?:keys|also|type|key|code|kind|id|state|status|tone)$/.test(parent.name.getText())) return true;
  if (ts.isPropertyAssignment(parent) && parent.name.getText() === 'words' && !/\p{Lu}/u.test(node.getText())) return true; // search words of commands
  if (ts.isArrayLiteralExpression(parent) && ts.isPropertyAccessExpression(parent.parent)) return true; // ['a', 'b'].includes(x)
  const call = ts.isCallExpression(parent) || ts.isNewExpression(parent) ? parent.expression : undefined;
  if (!call) return false;
  const name = ts.isPropertyAccessExpression(call) ? call.name.text : ts.isIdentifier(call) ? call.text : call.kind === ts.SyntaxKind.ImportKeyword ? 'import' : '';
  return technicalCalls.test(name);
}

function isShownProperty(node: ts.Node): boolean {
  const property = ts.findAncestor(node, (ancestor) => ts.isPropertyAssignment(ancestor) || ts.isFunctionLike(ancestor));
  return property !== undefined && ts.isPropertyAssignment(property) && shownNames.has(property.name.getText().replace(/['"]/g, ''));
}

/** Calls of t() that run only once, when a module is loaded or a component or an object is created. */
export function findFrozen(file: string, source: string): Finding[] {
  const findings: Finding[] = [];
  const within = (script: string, offset: number) => {
    const walk = (node: ts.Node): void => {
      if (ts.isFunctionLike(node)) return; // runs again whenever it is called
      if (ts.isCallExpression(node)) {
        if (/^\$derived/.test(node.expression.getText())) return;
        if (ts.isIdentifier(node.expression) && (node.expression.text === 't' || node.expression.text === 'richParts')) {
          findings.push({ line: source.slice(0, offset + node.getStart()).split('\n').length, text: node.getText() });
        }
      }
      ts.forEachChild(node, walk);
    };
    walk(ts.createSourceFile('source.ts', script, ts.ScriptTarget.Latest, true));
  };
  if (!file.endsWith('.svelte')) within(source, 0);
  else {
    const root = parseSvelte(source, { modern: true }) as unknown as Record<'instance' | 'module', Node | null>;
    for (const script of [root.module, root.instance]) {
      const content = script?.['content'] as Node | undefined;
      if (content) within(source.slice(content.start, content.end), content.start);
    }
  }
  return findings;
}
