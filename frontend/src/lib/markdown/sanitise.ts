/**
 * The second line of defence. The model's text is turned into HTML by our own renderer, which lets no HTML of the model
 * through (render.ts). In case the renderer has an error, this permits only a fixed list of tags, attributes, classes
 * and addresses.
 */
import DOMPurify from 'dompurify';

const tags = [
  'a', 'b', 'blockquote', 'br', 'button', 'code', 'dd', 'del', 'details', 'div', 'dl', 'dt', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr',
  'i', 'img', 'ins', 'kbd', 'li', 'mark', 'ol', 'p', 'pre', 's', 'small', 'span', 'strong', 'sub', 'summary', 'sup', 'table', 'tbody', 'td',
  'th', 'thead', 'tr', 'u', 'ul',
];
const attributes = ['href', 'title', 'src', 'alt', 'class', 'start', 'type', 'aria-label', 'dir', 'data-lang', 'data-tex', 'data-align', 'data-act', 'data-lines', 'data-file', 'data-note'];
const classes = new Set([
  'block', 'code', 'code__act', 'code__acts', 'code__bar', 'code__copy', 'code__lang', 'code__more', 'data', 'data-scroll', 'host', 'host--plain', 'long', 'math', 'math--display', 'note',
  'note-ref', 'note__back', 'note__mark', 'note__text', 'number', 'ref', 'remote', 'short', 'table', 'table__acts', 'task',
]);
/** The actions of the buttons in an answer (components/transcript/answerActs.ts). */
const acts = new Set(['back', 'beside', 'copy', 'csv', 'fold', 'markdown', 'note', 'preview', 'save', 'wrap']);

/** Web addresses, and turns of this history. Nothing else ever becomes a link. */
export const linkPattern = /^(?:https?:\/\/|contextinfinity:\/\/turn\/[\w-]+$)/i;
/**
 * Pictures that are part of the text. External ones would be downloaded, and reveal to their server who reads the text.
 */
export const imagePattern = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=\s]+$/i;

const purifier = DOMPurify(window);

purifier.addHook('uponSanitizeAttribute', (element, attribute) => {
  const value = attribute.attrValue;
  if (attribute.attrName === 'class') attribute.attrValue = value.split(/\s+/).filter((name) => classes.has(name)).join(' ');
  if (attribute.attrName === 'href') attribute.keepAttr = element.nodeName === 'A' && linkPattern.test(value);
  if (attribute.attrName === 'src') attribute.keepAttr = element.nodeName === 'IMG' && imagePattern.test(value);
});

purifier.addHook('afterSanitizeAttributes', (element) => {
  if (element.nodeName === 'IMG' && !element.getAttribute('src')) element.remove();
  if (element.nodeName === 'BUTTON' && !acts.has(element.getAttribute('data-act') ?? '')) element.remove();
});

export function sanitise(html: string): string {
  return purifier.sanitize(html, {
    ALLOWED_TAGS: tags,
    ALLOWED_ATTR: attributes,
    ALLOWED_URI_REGEXP: /^(?:https?:|contextinfinity:|data:image\/)/i,
    ADD_URI_SAFE_ATTR: attributes.filter((name) => name !== 'href' && name !== 'src'), // plain words, never followed
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    KEEP_CONTENT: true,
  });
}
