/** The part of the library that is used here; its version 4 has no types of its own. */
declare module 'js-yaml' {
  export const CORE_SCHEMA: object;
  export class YAMLException extends Error {
    readonly reason: string;
    /** Lines are counted from 0. */
    readonly mark?: { readonly line: number };
  }
  export function load(text: string, options: { readonly schema: object }): unknown;
}
