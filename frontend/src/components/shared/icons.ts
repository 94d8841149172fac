// Every icon the window draws, imported one by one so that the bundle holds no
// other. Draw them with Icon.svelte, which fixes size and stroke.
export { default as Check } from '@lucide/svelte/icons/check';
export { default as ChevronDown } from '@lucide/svelte/icons/chevron-down';
export { default as ChevronLeft } from '@lucide/svelte/icons/chevron-left';
export { default as ChevronRight } from '@lucide/svelte/icons/chevron-right';
export { default as ChevronUp } from '@lucide/svelte/icons/chevron-up';
export { default as ArrowUpRight } from '@lucide/svelte/icons/arrow-up-right';
export { default as Copy } from '@lucide/svelte/icons/copy';
export { default as Clock } from '@lucide/svelte/icons/clock';
export { default as Ellipsis } from '@lucide/svelte/icons/ellipsis';
export { default as GitBranch } from '@lucide/svelte/icons/git-branch';
export { default as Globe } from '@lucide/svelte/icons/globe';
export { default as GripVertical } from '@lucide/svelte/icons/grip-vertical';
export { default as Info } from '@lucide/svelte/icons/info';
export { default as KeyRound } from '@lucide/svelte/icons/key-round';
export { default as Library } from '@lucide/svelte/icons/library';
export { default as Pencil } from '@lucide/svelte/icons/pencil';
export { default as Pin } from '@lucide/svelte/icons/pin';
export { default as Plus } from '@lucide/svelte/icons/plus';
export { default as RotateCcw } from '@lucide/svelte/icons/rotate-ccw';
export { default as RotateCw } from '@lucide/svelte/icons/rotate-cw';
export { default as Server } from '@lucide/svelte/icons/server';
export { default as ShieldCheck } from '@lucide/svelte/icons/shield-check';
export { default as Trash } from '@lucide/svelte/icons/trash-2';
export { default as Undo } from '@lucide/svelte/icons/undo-2';
export { default as Warning } from '@lucide/svelte/icons/triangle-alert';
export { default as X } from '@lucide/svelte/icons/x';
