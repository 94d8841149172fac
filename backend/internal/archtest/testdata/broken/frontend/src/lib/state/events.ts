// breaks: bridge
window['runtime'].EventsOn('ci:frame', () => {});
