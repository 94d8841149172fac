import type en from '../en/session';
import type { Translation } from '../i18n.svelte';

export default {
  settingsOf: '“{title}”的设置',
  settingsOfThis: '此会话的设置',
  saved: '已保存：从下一次请求起生效',
  systemPrompt: '指令',
  systemPromptHelp: '位于此会话每次请求的最前面。留空则使用默认指令。',
  systemPromptPlaceholder: '默认指令',
  imported: '随导入内容附带的指令',
  importedHelp: '这些指令会保留但不会发送，因为它们出自导入文件的作者。请先阅读：用作会话指令后，它们会位于每次请求的最前面。',
  importedCut: '这里只是开头部分。全文过长，无法发送。',
  useImported: '使用这些指令',
  temperatureHelp: '0 最稳定，2 变化最大。留空则使用模型默认值。',
  temperatureFault: '请输入 0 到 2 之间的数字，或留空',
  effortHelp: '推理模型可以思考多久。不支持推理的模型会忽略此项。',
  toolsHelp: '模型请求调用工具时如何处理。',
  modelDefault: '模型默认值',
  effortMinimal: '极低',
  effortLow: '低',
} satisfies Translation<typeof en>;
