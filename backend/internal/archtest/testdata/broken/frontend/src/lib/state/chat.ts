// breaks: bridge
export const send = (window as any).other || window.go.api.Chat.Send;
