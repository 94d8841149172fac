// Applies the last used appearance before the first paint, so that no change of colours is visible.
(function () {
  var root = document.documentElement;
  var saved = {};
  try {
    saved = JSON.parse(localStorage.getItem('contextinfinity.look') || '{}');
  } catch (error) {
    saved = {};
  }
  var system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  root.dataset.theme = ['light', 'dark', 'contrast'].indexOf(saved.theme) >= 0 ? saved.theme : system;
  if (saved.zoom >= 80 && saved.zoom <= 200) root.style.setProperty('--text-zoom', String(saved.zoom / 100));
  if (saved.code >= 75 && saved.code <= 175) root.style.setProperty('--code-zoom', String(saved.code / 100));
  if (typeof saved.width === 'string') root.dataset.width = saved.width;
  if (saved.motion === 'reduced') root.dataset.motion = 'reduced';
})();
