/** Parameters that several providers have, and the check of an integration's parameters. */
import type { Issue } from '../../../domain/json/issues.ts';
import { pointerToken } from '../../../domain/json/json-pointer.ts';
import type { OutgoingRequest, Parameters, Provider, ProviderParameter } from './provider.ts';
import { templateIssue } from './template.ts';

/** Bytes of one value: as many as the longest template has. */
export const PARAMETER_BYTES_MAX = 16 * 1024;

/** Headers that belong to the connection, to the body, or to what this server says of the event. */
const OWN_HEADERS =
  /^(?:connection|content-length|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|webhook-.*|ce-.*)$/;

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** Visible ASCII, with spaces and tabs between. */
const HEADER_VALUE = /^(?:[!-~](?:[ \t!-~]*[!-~])?)?$/;

/** The address that a receiver gave out for messages: whoever has it can write to it. */
export const webhookUrl = (displayName: string, description: string): ProviderParameter => ({
  name: 'url',
  displayName,
  description,
  type: 'url',
  required: true,
  sensitive: true,
});

export const CUSTOM_HEADERS: ProviderParameter = {
  name: 'customHeaders',
  displayName: 'Extra HTTP headers',
  placeholder: '{\n  "X-Team": "checkout"\n}',
  description: 'Headers to send with each request: a JSON object whose values are strings.',
  required: false,
  sensitive: true,
  type: 'textfield',
  issueOf: (value) => {
    const headers = jsonObject(value);
    if (headers === null) return 'The extra HTTP headers must be a JSON object whose values are strings.';
    for (const [name, text] of headers) {
      if (!HEADER_NAME.test(name))
        return `The header name ${JSON.stringify(name)} has other characters than HTTP allows.`;
      if (OWN_HEADERS.test(name.toLowerCase()))
        return `The header ${name} cannot be set, because the server sets it.`;
      if (typeof text !== 'string' || !HEADER_VALUE.test(text))
        return `The value of the header ${name} must be printable ASCII.`;
    }
    return null;
  },
};

export const bodyTemplate = (placeholder: string, description: string): ProviderParameter => ({
  name: 'bodyTemplate',
  displayName: 'Body template',
  placeholder,
  description,
  type: 'textfield',
  required: false,
  sensitive: false,
  issueOf: templateIssue,
});

export const headerValueIssue = (what: string) => (value: string) =>
  HEADER_VALUE.test(value) ? null : `The ${what} must be printable ASCII without line breaks.`;

/** The extra headers of an integration, by their names in lower case. */
export function customHeaders(parameters: Parameters): Record<string, string> {
  const headers = jsonObject(parameters[CUSTOM_HEADERS.name] ?? '') ?? [];
  return Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), `${value}`]));
}

/** A request that posts a body of JSON, with the extra headers of the integration. */
export const jsonRequest = (
  parameters: Parameters,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): OutgoingRequest => ({
  method: 'POST',
  url: parameters['url'] ?? '',
  headers: { 'content-type': 'application/json', ...headers, ...customHeaders(parameters) },
  body: JSON.stringify(body),
});

/** The issues of an integration's parameters, by the path in them. */
export function parameterIssues(provider: Provider, parameters: Parameters): Issue[] {
  const known = new Set(provider.parameters.map(({ name }) => name));
  const unknown = Object.keys(parameters).filter((name) => !known.has(name));
  return [
    ...unknown.map((name) => issue(name, `The provider ${provider.name} has no such parameter.`)),
    ...provider.parameters.flatMap((parameter) => {
      const message = issueOf(
        parameter,
        Object.hasOwn(parameters, parameter.name) ? (parameters[parameter.name] ?? '') : '',
      );
      return message === null ? [] : [issue(parameter.name, message)];
    }),
  ];
}

const issue = (name: string, message: string): Issue => ({ path: `/${pointerToken(name)}`, message });

function issueOf(parameter: ProviderParameter, value: string): string | null {
  if (value.trim() === '') return parameter.required ? `The parameter ${parameter.name} is required.` : null;
  if (Buffer.byteLength(value) > PARAMETER_BYTES_MAX)
    return `The parameter ${parameter.name} must have at most 16 KiB.`;
  if (parameter.type === 'url' && !isHttpUrl(value)) {
    return `The parameter ${parameter.name} must be an address that begins with https:// or http://.`;
  }
  return parameter.issueOf?.(value) ?? null;
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function jsonObject(text: string): [string, unknown][] | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value)
      : null;
  } catch {
    return null;
  }
}
