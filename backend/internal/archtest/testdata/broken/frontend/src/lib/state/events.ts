// breaks: bindings
window['runtime'].EventsOn('ci:frame', () => {});
