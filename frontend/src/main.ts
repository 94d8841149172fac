import './styles/fonts.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/prose.css';
import { mount } from 'svelte';
import App from './App.svelte';
import type { Backend } from '$lib/backend/backend';
import { wailsBackend } from '$lib/backend/wails';
import { announcePage, reportToProgram } from '$lib/backend/window';

/**
 * Connects to the program, or in development with ?fake to the fake one. The condition is constant, so no build
 * contains the fake.
 */
async function connect(): Promise<Backend> {
  if (import.meta.env.DEV) {
    const params = new URLSearchParams(location.search);
    if (params.has('fake')) {
      const { developmentBackend } = await import('$lib/backend/fake/development');
      return developmentBackend(params);
    }
  }
  await announcePage();
  reportToProgram();
  return wailsBackend();
}

void connect().then((backend) => mount(App, { target: document.getElementById('app')!, props: { backend } }));
