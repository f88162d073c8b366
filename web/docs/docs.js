/**
 * Shows the description of the interface, and lets it be tried. A token that is entered under "Authorize" is kept in
 * this page's memory and goes nowhere but to this server; a reload forgets it.
 *
 * Sections are folded until somebody opens one or filters: to draw three hundred operations takes seconds.
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

/**
 * Unfolds sections while operations are filtered, unless somebody folded them.
 *
 * @param {any} Section a component of the library's
 * @param {any} system
 */
const unfolded = (Section, system) => (/** @type {any} */ props) => {
  const isFiltered = typeof system.layoutSelectors.currentFilter() === 'string';
  const getConfigs = () => ({ ...props.getConfigs(), docExpansion: isFiltered ? 'list' : 'none' });
  return system.React.createElement(Section, { ...props, getConfigs });
};

/**
 * Folds the prose and the limits behind their title, so that the page opens with the operations.
 *
 * @param {any} Info a component of the library's
 * @param {any} system
 */
const folded = (Info, system) => (/** @type {any} */ props) => {
  const { createElement } = system.React;
  const source = system.specSelectors.info().get('description');
  return createElement(
    'header',
    { role: 'banner' },
    createElement(Info, props),
    createElement(
      'details',
      { className: 'about' },
      createElement('summary', null, createElement('h2', null, 'About the interface, and its limits')),
      createElement(system.getComponent('Markdown', true), { source }),
    ),
  );
};

/**
 * Marks the filter as a search, for screen readers.
 *
 * @param {any} Filter a component of the library's
 * @param {any} system
 */
const ofSearch = (Filter, system) => (/** @type {any} */ props) =>
  system.React.createElement('div', { role: 'search' }, system.React.createElement(Filter, props));

window.SwaggerUIBundle({
  url: 'docs/openapi.json',
  dom_id: '#interface',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  plugins: [
    () => ({
      fn: { opsFilter: found },
      // The list of servers, a choice without a name, would hold this one alone.
      wrapComponents: {
        OperationTag: unfolded,
        InfoContainer: folded,
        FilterContainer: ofSearch,
        ServersContainer: () => () => null,
      },
      statePlugins: { spec: { wrapSelectors: { selectInfoDescriptionField: () => () => '' } } },
    }),
  ],
  persistAuthorization: false,
  tagsSorter: 'alpha',
  tryItOutEnabled: true,
  // No badge of an outside validator: it would have to be sent the description.
  validatorUrl: null,
});
