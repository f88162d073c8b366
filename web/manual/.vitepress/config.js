/**
 * The manual as pages: the same Markdown that the repository shows, in the order of docs/README.md. What lies in `docs/` is at the root of
 * the manual; links between pages keep their meaning, and those to other files of the repository become text.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** @param {string} page a path from the root of the repository, such as `docs/specification/README.md` */
function placeOf(page) {
  const stem = page.slice(0, -'.md'.length).replace(/^docs\//, '');
  return page === 'README.md' ? `${stem.toLowerCase()}.md` : `${stem.replace(/README$/, 'index')}.md`;
}

/**
 * The address of a page in the manual for a link of another one; null for a file that is no page.
 *
 * @param {string} from path of the page
 * @param {string} link
 */
function addressOf(from, link) {
  const [path = '', section] = link.split('#');
  const page = relative(ROOT, resolve(ROOT, dirname(from), path));
  if (!page.endsWith('.md') || !existsSync(join(ROOT, page))) return null;
  const address = `/${placeOf(page).replace(/(?:index)?\.md$/, '')}`;
  return section === undefined ? address : `${address}#${section}`;
}

/**
 * Groups and pages as a page lists them: its headings, and the links of the lists below.
 *
 * @param {string} page
 */
function listed(page) {
  /** @type {{ text: string, items: { text: string, link: string }[] }[]} */
  const groups = [{ text: '', items: [] }];
  for (const line of readFileSync(join(ROOT, page), 'utf8').split('\n')) {
    const heading = /^## (.+)/.exec(line)?.[1];
    if (heading !== undefined) groups.push({ text: heading, items: [] });
    if (!line.startsWith('- ')) continue;
    for (const [, text = '', target = ''] of line.matchAll(/\[([^\]]+)\]\(([^)#]+)\)/g)) {
      const link = addressOf(page, target);
      if (link !== null) groups.at(-1)?.items.push({ text: text[0]?.toUpperCase() + text.slice(1), link });
    }
  }
  return groups.filter(({ items }) => items.length > 0);
}

export default defineConfig({
  title: 'Flagstaff',
  base: '/docs/manual/',
  srcDir: ROOT,
  srcExclude: ['{deploy,dist,src,test,web}/**'],
  rewrites: placeOf,
  cacheDir: join(ROOT, 'node_modules/.cache/vitepress'),
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  // Scripts in pages are refused by the policy under which the server sends them; the two that are left it knows by their digests.
  metaChunk: true,
  // One after the other, so that the index of the search, and with it each package, is the same in every build.
  buildConcurrency: 1,
  head: [
    ['link', { rel: 'icon', href: 'data:,' }],
    // The key that the button shows is not in its name for screen readers.
    ['style', {}, '.DocSearch-Button-Keys { display: none !important }'],
  ],
  markdown: {
    // The pages are text and no templates of Vue, whatever braces and tags they have.
    html: false,
    config(md) {
      const render = md.render;
      md.render = (...args) => render.apply(md, args).replaceAll('{{', '&#123;&#123;');
      md.core.ruler.push('links of the repository', ({ tokens, env }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.type === 'link_open' ? token.attrGet('href') : null;
          if (href === null || /^(?:[a-z]+:|#)/.test(href)) continue;
          const address = addressOf(relative(ROOT, env.realPath ?? env.path), href);
          if (address !== null) token.attrSet('href', address);
          // Without an address it leads nowhere.
          else token.attrs = null;
        }
      });
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: listed('docs/README.md').map(({ text, items }) => ({
      text,
      items:
        text === 'API'
          ? [...items, ...listed('docs/specification/README.md').flatMap((group) => group.items)]
          : items,
    })),
    outline: [2, 3],
  },
});
