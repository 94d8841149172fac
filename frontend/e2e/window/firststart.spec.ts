import { expect } from '@playwright/test';
import { until } from '../harness/process.ts';
import { waitForWindow } from './desktop.ts';
import { xdotool } from './dragging.ts';
import { test, waitForFirstRun } from './fixtures.ts';

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
