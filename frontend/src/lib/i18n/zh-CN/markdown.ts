import type en from '../en/markdown';
import type { Translation } from '../i18n.svelte';

export default {
  cannotDraw: '无法绘制：{error}',
  preview: '预览',
  code: '代码',
  showCode: '显示代码',
  pageFrame: '页面预览',
  drawnSafe: '绘制时不运行脚本，不加载外部图片，也不建立任何连接。',
  pictureFrame: '图片预览',
  diagramFrame: '图表预览',
  noSvg: '其中没有 SVG。',
  tooLong: '图表过长。',
  jumpTo: '跳转到此轮次',
  remotePicture: '不加载外部图片。在浏览器中打开 {address}',
  done: '已完成',
  toDo: '待办',
  text: '文本',
  wrap: '换行',
  wrapLines: '自动换行长行',
  saveCode: '将代码保存为文件',
  showLines: '显示全部 {count} 行',
  backToNote: '返回引用脚注 {note} 的位置',
  footnote: '脚注 {note}',
  table: '表格',
  copyTable: '将表格复制为 {form}',
} satisfies Translation<typeof en>;
