/**
 * The page of parts (`npm run parts`): the tokens, and every shared component in each of its states. Not part of the
 * program.
 */
import '../styles/fonts.css';
import '../styles/tokens.css';
import '../styles/base.css';
import '../styles/prose.css';
import { mount } from 'svelte';
import Page from './Page.svelte';

mount(Page, { target: document.getElementById('app')! });
