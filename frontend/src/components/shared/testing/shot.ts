import { mount, type Component } from 'svelte';
import { fakeBackend } from '$lib/backend/fake';
import { App } from '$lib/state/app.svelte';
import Harness from './Harness.svelte';
import Inspector from '../../inspector/Inspector.svelte';
import Settings from '../../settings/Settings.svelte';
import FirstRun from '../../firstrun/FirstRun.svelte';
import FatalError from '../../firstrun/FatalError.svelte';
const q = new URLSearchParams(location.search);
const view = q.get('view') ?? 'pending';
const backend = fakeBackend({ data: view === 'first' ? 'first' : view === 'fatal' ? 'fatal' : (q.get('data') as 'rich') ?? 'rich', keyringOk: q.get('keyring') !== 'no' });
const app = new App(backend);
(window as any).app = app; (window as any).backend = backend;
await app.start();
if (q.get('session')) await app.openSession([...backend.world.sessions.keys()][Number(q.get('session'))]!);
app.theme.adopt(q.get('theme') ?? 'light', Number(q.get('zoom') ?? 100));
const el = document.getElementById('app')!;
let of: Component<any> = Inspector; let props = {};
if (view === 'settings') { of = Settings; app.layout.openSettings(q.get('section') ?? ''); }
else if (view === 'first') of = FirstRun;
else if (view === 'fatal') { of = FatalError; props = { error: app.startup.fatal }; }
else { app.inspector.select(view as 'pending'); el.style.width = '26rem'; el.style.marginLeft = 'auto'; el.style.background = 'var(--color-bg-panel)'; el.style.borderLeft = 'var(--border)'; }
mount(Harness, { target: el, props: { app, of, props } });
