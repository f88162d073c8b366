/** VitePress's own theme with the fonts of the system: the manual loads nothing that it can do without. */
export { default } from 'vitepress/theme-without-fonts';
