/** Decisions that create and change a flag as a manifest has it. */
import { createFlag, metadataEvents } from '../../domain/decide/flag-commands.ts';
import { type NamesFlag, unlessArchived } from '../../domain/decide/guards.ts';
import { environmentOf } from '../../domain/flags/flag.ts';
import { jsonEqual } from '../../domain/json/json.ts';
import type { DecideContext, Decision } from '../../domain/state/decision.ts';
import { aboutFlag, aboutFlagEnvironment, type DomainEvent, newEvent } from '../../domain/state/events.ts';
import { type LocatedFlag, locateFlag, locateProject } from '../../domain/state/locate.ts';
import { invalid, invalidOperation, isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import { DEFAULT_VARIANT, payloadOf, type TypedValue, typedValueOf, variantsWith } from './manifest-flag.ts';

export interface ManifestFlag extends NamesFlag {
  readonly type: TypedValue['type'];
  /** Undefined: it stays as it is. */
  readonly defaultValue: unknown;
  /** Undefined: it stays as it is. */
  readonly description: string | undefined;
}

export function createManifestFlag(world: World, sent: ManifestFlag, context: DecideContext): Decision {
  const { project, flag: name, description } = sent;
  const payload = payloadOf(sent);
  if (payload === undefined) return wrongValue(sent);
  const created = createFlag(world, { project, name, metadata: { description } }, context);
  if (isRefusal(created) || payload === null) return created;
  const located = locateProject(world, project);
  if (isRefusal(located)) return located;
  if (located.settings.environments.length === 0)
    return invalidOperation(
      `The project "${project}" has no environments, and the default value of a flag of type ${sent.type} belongs to them; add one first.`,
    );
  const variants = { data: { variants: variantsWith(payload) }, preData: { variants: [] } };
  return [...created, newEvent('feature-variants-updated', aboutFlag({ project, name }), variants)];
}

export function updateManifestFlag(world: World, sent: ManifestFlag): Decision {
  const located = unlessArchived(locateFlag(world, sent.project, sent.flag));
  if (located.refused) return located;
  const values = defaultValueEvents(located, sent);
  if (isRefusal(values)) return values;
  const { description } = sent;
  const metadata = metadataEvents(world, located, { description });
  return isRefusal(metadata) ? metadata : [...metadata, ...values];
}

function defaultValueEvents(located: LocatedFlag, sent: ManifestFlag): readonly DomainEvent[] | Refusal {
  const { flag } = located.record;
  const { environments } = located.project.settings;
  const now = typedValueOf(flag, environments);
  if (now.type === null)
    return invalidOperation(`A manifest cannot have the flag "${flag.name}": ${now.reason}`);
  if (now.type !== sent.type)
    return invalidOperation(
      `The type of the flag "${flag.name}" cannot be changed from ${now.type} to ${sent.type}.`,
    ).at('/body/type');
  if (sent.defaultValue === undefined || jsonEqual(sent.defaultValue, now.defaultValue)) return [];
  const payload = payloadOf(sent);
  if (payload == null) return wrongValue(sent);
  const events = environments.flatMap((environment) => {
    const { variants: before } = environmentOf(flag, environment);
    const variants = before.map((one) => (one.name === DEFAULT_VARIANT ? { ...one, payload } : one));
    if (jsonEqual(before, variants)) return [];
    const change = { data: { variants }, preData: { variants: before } };
    return [
      newEvent('feature-environment-variants-updated', aboutFlagEnvironment(flag, environment), change),
    ];
  });
  if (events.length > 0) return events;
  return invalidOperation(
    `The flag "${flag.name}" has no variant "${DEFAULT_VARIANT}" in an environment, and the payload of that is the default value; add one first.`,
  ).at('/body/defaultValue');
}

const PHRASES = {
  boolean: 'false, because a flag without payloads is false where it is off',
  string: 'a string',
  integer: 'an integer of at most 2^53 - 1',
  float: 'a number',
  object: 'an object',
} as const;

const wrongValue = ({ type }: ManifestFlag): Refusal =>
  invalid(`The default value of a flag of type ${type} must be ${PHRASES[type]}.`, '/body/defaultValue');
