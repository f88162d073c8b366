/** A setting, as docs/settings.md lists it. */
export interface SettingRow {
  /** One variable, or several that are set in the same way. */
  readonly names: readonly string[];
  /** The default, as the manual prints it; null for none. */
  readonly initial: string | null;
  readonly purpose: string;
}

export const row = (names: string, initial: string | number | null, purpose: string): SettingRow => ({
  names: names.split(' '),
  initial: initial === null ? null : `\`${initial}\``,
  purpose,
});
