import { chromium } from 'playwright-core';
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] });
const shots = process.argv.slice(2);
const scenes = {
  cards: async (p) => {},
  top: async (p) => { await p.locator('.transcript').evaluate((n) => n.scrollTo(0, 0)); await p.waitForTimeout(300); },
  queue: async (p) => { await p.keyboard.press('Control+Shift+A'); await p.waitForTimeout(400); },
  unknown: async (p) => { await p.keyboard.press('Control+Shift+A'); await p.waitForTimeout(300); await p.keyboard.press('ArrowUp'); await p.waitForTimeout(200); },
  tools: async (p) => { await p.keyboard.press('Control+,'); await p.getByRole('button', { name: 'Tools', exact: true }).click(); await p.waitForTimeout(400); },
  servers: async (p) => { await p.keyboard.press('Control+,'); await p.getByRole('button', { name: 'Tool servers', exact: true }).click(); await p.waitForTimeout(400); },
};
for (const spec of shots) {
  const [name, size = '1280x800', theme = 'light', extra] = spec.split(',');
  const [width, height] = size.split('x').map(Number);
  const page = await browser.newPage({ viewport: { width, height }, reducedMotion: 'reduce' });
  page.on('pageerror', (e) => console.log('ERR', e.message));
  page.on('console', (m) => m.type() === 'error' && console.log('CON', m.text()));
  await page.goto(`http://127.0.0.1:5199/?fake=rich&tools=some&theme=${theme}`);
  await page.waitForSelector('article');
  await page.waitForTimeout(700);
  await (scenes[name] ?? (await import('/tmp/scenes.mjs')).default[name])(page);
  await page.screenshot({ path: `/tmp/shots/${name}-${size}-${theme}.png` });
  await page.close();
}
await browser.close();
