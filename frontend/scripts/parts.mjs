// Renders src/parts in a browser and saves the result: docs/parts/index.html, one file that works without the program,
// and a picture of each theme. CHROMIUM names the browser if it is not found automatically.
import { execSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { createServer } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = fileURLToPath(new URL('../../docs/parts/', import.meta.url));
const browserPath = process.env.CHROMIUM || execSync('command -v chromium || command -v chromium-browser || command -v google-chrome', { encoding: 'utf8' }).trim();

const server = await createServer({ root, logLevel: 'warn', server: { port: 0, host: '127.0.0.1', hmr: false } });
await server.listen();
const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
try {
  const page = await browser.newPage({ viewport: { width: 1100, height: 800 }, reducedMotion: 'reduce' });
  const faults = [];
  page.on('pageerror', (error) => faults.push(error.message));
  await page.goto(`${server.resolvedUrls.local[0]}parts.html`);
  await page.waitForSelector('.theme .skeleton');
  await page.evaluate(() => document.fonts.ready);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  await mkdir(out, { recursive: true });
  for (const theme of ['light', 'dark', 'contrast']) await page.locator(`#${theme}`).screenshot({ path: `${out}${theme}.png` });
  await writeFile(`${out}index.html`, await page.evaluate(asOneFile));
} finally {
  await browser.close();
  await server.close();
}

/** Runs in the page: returns its styles without the fonts, which are files, and its elements without the scripts. */
function asOneFile() {
  // The styles as they were written: browsers return an empty value for a shorthand that contains variables.
  const rules = [...document.querySelectorAll('style')].map((style) => style.textContent.replace(/@font-face\s*{[^}]*}|\/\*[^]*?\*\//g, ''));
  for (const field of document.querySelectorAll('input')) field.setAttribute('value', field.value);
  for (const option of document.querySelectorAll('option')) option.toggleAttribute('selected', option.selected);
  return `<!doctype html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${document.title}</title>
<!-- Made by: npm run parts -->
<style>
${rules.join('\n')}
</style>
</head>
<body>
${document.getElementById('app').innerHTML.replace(/<!--.*?-->/g, '')}
</body>
</html>
`;
}
