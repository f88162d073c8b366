/** A page as of a browser: a document to render into, and a fetch that asks as a page of that origin must. */
import { setImmediate } from 'node:timers/promises';
import { Browser, type HTMLElement } from 'happy-dom';

export interface BrowserPage {
  /** Refuses what the responses to preflight requests, and the same-origin policy, do not allow. */
  readonly fetch: typeof fetch;
  readonly root: HTMLElement;
  /** Resolves once the page shows exactly that. */
  shows(text: string): Promise<void>;
  close(): Promise<void>;
}

/** There is one at a time: what renders finds its window and document as global values, as in a browser. */
export function openPage(url: string): BrowserPage {
  const browser = new Browser();
  // The clients ask with tags of their own. Browsers pass such requests by their cache; this one threw at a 304 that it did not expect.
  browser.defaultContext.responseCache.add = () => null as never;
  const { mainFrame } = browser.newPage();
  mainFrame.url = url;
  const { window } = mainFrame;
  Object.assign(globalThis, { window, document: window.document });
  const { body } = window.document;
  return {
    fetch: window.fetch.bind(window) as unknown as typeof fetch,
    root: body,
    shows: (text) =>
      new Promise((resolve) => {
        const observer = new window.MutationObserver(look);
        observer.observe(body, { childList: true, characterData: true, subtree: true });
        function look(): void {
          if (body.textContent !== text) return;
          observer.disconnect();
          resolve();
        }
        look();
      }),
    async close() {
      await browser.close();
      // What React has scheduled already still looks for its window.
      await setImmediate();
      for (const name of ['window', 'document']) Reflect.deleteProperty(globalThis, name);
    },
  };
}
