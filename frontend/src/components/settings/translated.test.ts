import { screen, waitFor } from '@testing-library/svelte';
import { afterEach, describe, expect, it } from 'vitest';
import type { Setting } from '$lib/backend/types';
import { chooseLanguage, t } from '$lib/i18n/i18n.svelte';
import userEvent from '@testing-library/user-event';
import { mountIn, startedApp } from '../../test/mount';
import ModelsPage from './ModelsPage.svelte';
import { SettingsEditor } from './settings.svelte';
import SettingRow from './SettingRow.svelte';
import { helpIn } from './labels';

afterEach(() => chooseLanguage('en'));

const durability: Setting = {
  key: 'stream.durability', group: 'Streaming', label: 'Durability', help: 'buffered shows text at once.', type: 'choice', value: 'buffered', default: 'buffered',
  choices: ['buffered', 'write_ahead'], min: 0, max: 0, unit: '', origin: 'default', reserved: false,
} as Setting;

describe('a setting', () => {
  it('is named and described in the language of the window, also after a change', async () => {
    const { app, backend } = await startedApp({ data: 'rich' });
    mountIn(app, SettingRow, { setting: durability, editor: new SettingsEditor(backend) });
    expect(screen.getByRole('radiogroup', { name: 'Durability' })).toBeVisible();
    await chooseLanguage('de', []);
    await waitFor(() => expect(screen.getByRole('radiogroup', { name: 'Sicherung' })).toBeVisible());
    expect(screen.getByText(/zeigt Text sofort/)).toBeVisible();
    expect(screen.getByText(/Standard:/)).toBeVisible();
  });

  it.each([['de', 'buffered zeigt Text. write_ahead nicht.', '„G“ zeigt Text. „W“ nicht.'], ['zh-CN', 'buffered 显示。write_ahead 不显示。', '“G” 显示。“W” 不显示。']])('shows its choices as the window names them in %s', async (language, help, expected) => {
    await chooseLanguage(language, []);
    expect(helpIn({ buffered: 'G', write_ahead: 'W' }, help)).toBe(expected);
  });
});

it.each([['de', 'Zum Standard machen'], ['zh-CN', '设为默认']])('a model can be made the default in %s', async (language, item) => {
  const { app, backend } = await startedApp({ data: 'rich' });
  await chooseLanguage(language, []);
  mountIn(app, ModelsPage, {});
  const model = app.models.list.find((candidate) => candidate.usable && !candidate.default)!;
  const user = userEvent.setup();
  await user.click(screen.getByRole('button', { name: t('settings.actionsFor', { name: model.name }) }));
  await user.click(screen.getByRole('menuitem', { name: item }));
  expect(backend.calls.filter(({ name }) => name === 'settings.setDefaultModel').map(({ args }) => args)).toEqual([[model.name]]);
});
