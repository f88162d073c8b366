/**
 * The origins of pages that may call the surfaces for pages: as the operator configured them, until they are set through the
 * interface, which then counts (docs/specification/surfaces.md#what-pages-get).
 */

/** Any origin. */
export const ANY_ORIGIN = '*';

export const FRONTEND_SETTING_ID = 'frontend';

export interface FrontendSetting {
  readonly id: typeof FRONTEND_SETTING_ID;
  readonly frontendApiOrigins: readonly string[];
}

/** Describes an origin in messages. */
export const ORIGIN_PHRASE = 'an origin such as https://shop.example, or *';

export function isOrigin(text: string): boolean {
  return text === ANY_ORIGIN || /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]+$/.test(text);
}

/** `configured`: those that count while none were set. */
export function frontendOrigins(
  setting: FrontendSetting | undefined,
  configured: readonly string[],
): readonly string[] {
  return setting?.frontendApiOrigins ?? configured;
}
