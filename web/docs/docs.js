/**
 * Shows the description of the interface, and lets it be tried. A token that is entered under "Authorize" is kept in
 * this page's memory and goes nowhere but to this server; a reload forgets it.
 */
/**
 * Operations by their section, path, summary or name, whatever the case. The filter that comes along knows sections only, letter by letter.
 *
 * @param {any} sections a map of the library's: section → its operations
 * @param {string} phrase
 */
function found(sections, phrase) {
  const wanted = phrase.trim().toLowerCase();
  /** @param {any} one */
  const isWanted = (one) =>
    [one.get('path'), one.getIn(['operation', 'summary']), one.getIn(['operation', 'operationId'])]
      .join(' ')
      .toLowerCase()
      .includes(wanted);
  return sections
    .map((/** @type {any} */ section, /** @type {string} */ name) =>
      name.toLowerCase().includes(wanted)
        ? section
        : section.update('operations', (/** @type {any} */ all) => all.filter(isWanted)),
    )
    .filter((/** @type {any} */ section) => section.get('operations').size > 0);
}

window.SwaggerUIBundle({
  url: 'docs/openapi.json',
  dom_id: '#interface',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  plugins: [() => ({ fn: { opsFilter: found } })],
  persistAuthorization: false,
  tagsSorter: 'alpha',
  tryItOutEnabled: true,
  // No badge of an outside validator: it would have to be sent the description.
  validatorUrl: null,
});
