/** Colours code outside the page's thread, so that slow code blocks nothing. */
import hljs from 'highlight.js/lib/common';

export interface ColouringRequest {
  id: number;
  text: string;
  language: string;
}

addEventListener('message', ({ data }: MessageEvent<ColouringRequest>) => {
  const html = hljs.getLanguage(data.language) ? hljs.highlight(data.text, { language: data.language, ignoreIllegals: true }).value : null;
  postMessage({ id: data.id, html });
});
