import autostart from './autostart';
import branches from './branches';
import commandGroups from './commandGroups';
import commands from './commands';
import composer from './composer';
import documents from './documents';
import embedders from './embedders';
import errors from './errors';
import find from './find';
import firstrun from './firstrun';
import header from './header';
import inspector from './inspector';
import keyNames from './keyNames';
import keys from './keys';
import knows from './knows';
import library from './library';
import markdown from './markdown';
import memory from './memory';
import models from './models';
import palette from './palette';
import programs from './programs';
import projects from './projects';
import quick from './quick';
import search from './search';
import servers from './servers';
import session from './session';
import sessions from './sessions';
import settings from './settings';
import shared from './shared';
import sharing from './sharing';
import shell from './shell';
import state from './state';
import storage from './storage';
import temporary from './temporary';
import tools from './tools';
import transcript from './transcript';
import transfer from './transfer';
import units from './units';
import updates from './updates';
import windows from './windows';

/** English: all other languages are translated from it and fall back to it. */
export default {
  autostart,
  branches,
  commandGroups,
  commands,
  composer,
  documents,
  embedders,
  errors,
  find,
  firstrun,
  header,
  inspector,
  keyNames,
  keys,
  knows,
  library,
  markdown,
  memory,
  models,
  palette,
  programs,
  projects,
  quick,
  search,
  servers,
  session,
  sessions,
  settings,
  shared,
  sharing,
  shell,
  state,
  storage,
  temporary,
  tools,
  transcript,
  transfer,
  units,
  updates,
  windows,
};
