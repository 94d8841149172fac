// breaks: bindings
export const send = (window as any).other || window.go.api.Chat.Send;
