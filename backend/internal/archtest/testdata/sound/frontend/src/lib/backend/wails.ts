import { Send } from '../../../wailsjs/go/api/Chat';
export const go = window.go;
