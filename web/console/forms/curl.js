/** The request that a form sends, as a command for a shell. */
import { h } from 'preact';

/** @import { Change } from '../client.js' */

/** @param {{ change: Change, ifMatch: string }} props */
export function Curl({ change, ifMatch }) {
  return h(
    'details',
    { class: 'record curl' },
    h('summary', null, 'The same with curl'),
    h('pre', { tabIndex: 0, role: 'group', 'aria-label': 'The same with curl' }, curlOf(change, ifMatch)),
  );
}

/** @param {Change} change @param {string} ifMatch */
function curlOf({ method, path, body }, ifMatch) {
  const url = new URL(`api/admin${path}`, document.baseURI);
  const lines = [`curl -X ${method} ${quoted(url.href)}`, '-H "Authorization: $TOKEN"'];
  if (ifMatch !== '') lines.push(`-H ${quoted(`If-Match: ${ifMatch}`)}`);
  if (body !== undefined) {
    lines.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`);
  }
  return lines.join(' \\\n  ');
}

/** In the single quotes of a shell. @param {string} text */
function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
