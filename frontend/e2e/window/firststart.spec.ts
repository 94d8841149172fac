import { expect } from '@playwright/test';
import { until } from '../harness/process.ts';
import { waitForWindow } from './desktop.ts';
import { xdotool } from './dragging.ts';
import { sendMessage, test, turnName, waitForFirstRun } from './fixtures.ts';

// The scrollbar that the hint makes necessary once took its room from the page: everything moved to the left.
test('in the real window: the hint about an unknown key moves nothing aside and stays above the buttons in a small window', async ({ open }) => {
  const desktop = await open();
  const { page } = desktop;
  await waitForFirstRun(desktop);
  const left = () => page.run<number>(`return document.querySelector('h1').getBoundingClientRect().left`);
  const before = await left();
  await page.type('input[type="password"]', 'hello123\uE007');
  await until('the providers are offered', () => page.has('.whose'));
  expect(await left()).toBe(before);
  xdotool('windowsize', '--sync', await waitForWindow(desktop.pid), 900, 600);
  await until('the window is small', () => page.run<boolean>('return innerWidth < 1000'));
  expect(await page.run<number>(`return document.querySelector('.whose').getBoundingClientRect().top - document.querySelector('.verdict > span:last-child').getBoundingClientRect().bottom`)).toBeGreaterThan(0);
});

test('in the real window: a checkbox that is not checked is as dark as the fields in the dark theme', async ({ open }) => {
  const desktop = await open();
  const { page } = desktop;
  await waitForFirstRun(desktop);
  expect(await page.run(`document.documentElement.dataset.theme = 'dark';
    const box = document.body.appendChild(Object.assign(document.createElement('input'), { type: 'checkbox' }));
    const { appearance, backgroundColor } = getComputedStyle(box);
    return [appearance, backgroundColor === getComputedStyle(document.querySelector('.text-input')).backgroundColor]`)).toEqual(['none', true]);
});

test('in the real window: a link of recall opens the other session at the turn', async ({ open }) => {
  const desktop = await open();
  const { page } = desktop;
  await waitForFirstRun(desktop);
  await page.press('Start with recall');
  await sendMessage(desktop, 'The blue bicycle is in the cellar.');
  await until('the first turn is saved', async () => /, saved/.test(await turnName(desktop)));
  const session = () => page.run<string>(`return document.querySelector('[data-session][aria-current]')?.dataset.session ?? ''`);
  const first = await session();
  xdotool('key', 'ctrl+n');
  await until('a new session', async () => (await session()) !== first && !(await page.has('article')));
  await sendMessage(desktop, 'Where is the blue bicycle?');
  await until('the link', () => page.has('article a.ref'));
  await page.click('article a.ref');
  await until('the other session', async () => (await session()) === first);
  await until('its turn has the focus', () => page.run<boolean>(`return document.activeElement.matches('article[data-turn]') && document.activeElement.innerText.includes('in the cellar')`));
});
