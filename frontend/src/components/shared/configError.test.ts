import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { mountIn, startedApp } from '../../test/mount';
import ConfigError from './ConfigError.svelte';

it.each([[true, /default settings are used, without your models/], [false, /last good settings are used/]])('says what is in effect, and shows the file: defaults %s', async (defaults, text) => {
  const { app, backend } = await startedApp();
  mountIn(app, ConfigError, { error: 'line 2: no value', path: '/home/ada/config.toml', defaults });
  expect(screen.getByText('line 2: no value')).toBeVisible();
  expect(screen.getByText(text)).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Show the file' }));
  expect(backend.calls.filter((call) => call.name === 'transfer.reveal').map((call) => call.args)).toEqual([['/home/ada/config.toml']]);
});
