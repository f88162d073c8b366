/** A change as the journal remembers it; `hidden` is what replay needs and no reader of events may see. */
export interface RecordedEvent {
  readonly type: string;
  readonly project: string | null;
  readonly featureName: string | null;
  readonly environment: string | null;
  readonly data: unknown;
  readonly preData: unknown;
  readonly tags?: readonly { readonly type: string; readonly value: string }[];
  readonly hidden?: unknown;
}
