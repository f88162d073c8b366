/**
 * Shows the description of the interface, and lets it be tried. A token that is entered under "Authorize" is kept in
 * this page's memory and goes nowhere but to this server; a reload forgets it.
 */
window.SwaggerUIBundle({
  url: 'docs/openapi.json',
  dom_id: '#interface',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  tagsSorter: 'alpha',
  tryItOutEnabled: true,
  // No badge of an outside validator: it would have to be sent the description.
  validatorUrl: null,
});
