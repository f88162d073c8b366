/** The request that a form sends, as a command for a shell. */

/** @import { Change } from '../client.js' */

/** @param {{ change: Change, ifMatch: string }} props */
export function Curl({ change, ifMatch }) {
  return (
    <details class="record curl">
      <summary>Show as curl</summary>
      <pre tabIndex={0} role="group" aria-label="Show as curl">
        {curlOf(change, ifMatch)}
      </pre>
    </details>
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

/** Puts a text into the single quotes of a shell. @param {string} text */
function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
