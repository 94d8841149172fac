import type en from '../en/sharing';
import type { Translation } from '../i18n.svelte';

export default {
  title: '分享“{title}”',
  untitled: '新会话',
  menu: '分享…',
  pageMore: '适合任何人：一个可在任何浏览器中打开的文件，不运行脚本，也不加载任何内容。',
  bundleMore: '适合使用 ContextInfinity 的人：可以导入并继续会话。',
  empty: '其中还没有已完成的轮次，没有可分享的内容。',
  branch: '分支“{branch}”，{turns, plural, other {# 轮}}。',
  openBranch: '当前分支，{turns, plural, other {# 轮}}。',
  open: '{count, plural, other {# 轮没有最终回答，将被省略。}}',
  contains: '包含',
  inPage: '消息与回答、推理过程、工具调用及其参数和结果、图片，以及附件文档的名称。',
  inBundle: '会话的全部内容：所有分支、工具调用与结果、附件文档、图片、已发送的请求、摘要和固定事实。',
  leftOut: '不包含',
  notInPage: '其他分支、附件文档的文本、本程序的设置和 API 密钥。',
  notInBundle: '其他会话、本程序的设置和 API 密钥。',
  check: '请先检查',
  asItIs: '内容按原样写入：消息和结果中的密码或姓名不会被移除，引用其他会话的回答和结果也会保留。',
  quoting: '{count, plural, other {# 个引用了其他会话或项目文件的请求。}}',
  withQuotes: '{count, plural, other {包含 # 个引用了其他会话或项目文件的请求}}',
  typePath: '改为输入路径…',
  save: '保存…',
} satisfies Translation<typeof en>;
