/**
 * Rewrites what Unleash takes and Flagstaff refuses into a form that Flagstaff takes and that SDKs evaluate alike. Each change is told as a sentence. The
 * same source is always adapted in the same way, so a second run finds what the first one made.
 */
import type { Configuration, Flag, Segment, Strategy, Variant } from './configuration.ts';

type Constraint = Strategy['constraints'][number];
type Tell = (sentence: string) => void;

export function adapted(source: Configuration, target: Configuration): Configuration {
  const told = new Set<string>();
  const tell = (sentence: string): void => {
    told.add(sentence);
  };
  const isProject = (id: string): boolean => source.projects.has(id) || target.projects.has(id);
  const segments = [...source.segments].flatMap(([name, segment]) => {
    const { project } = segment;
    if (project === null || isProject(project)) return [[name, adaptedSegment(segment, tell)] as const];
    tell(`Segment "${name}" is for project "${project}", which is not there; it does not move.`);
    return [];
  });
  const flags = [...source.flags].flatMap(([name, flag]) => {
    if (isProject(flag.project))
      return [[name, adaptedFlag(withKnownType(flag, target.lifetimes, tell), tell)] as const];
    tell(`Flag "${name}" is in project "${flag.project}", which is not there; it does not move.`);
    return [];
  });
  tellLifetimes(source, target, tell);
  return {
    ...source,
    segments: new Map(segments),
    flags: new Map(flags),
    remarks: [...source.remarks, ...told],
  };
}

/** Newer versions have more types, and what a flag is for applications does not depend on it. */
function withKnownType(flag: Flag, known: Configuration['lifetimes'], tell: Tell): Flag {
  if (known.has(flag.type)) return flag;
  tell(`Flag "${flag.name}" has the type "${flag.type}", which is not there; it is brought as "release".`);
  return { ...flag, type: 'release' };
}

function tellLifetimes(source: Configuration, target: Configuration, tell: Tell): void {
  const days = (count: number | null): string => (count === null ? 'no end' : `${count} days`);
  for (const [type, there] of target.lifetimes) {
    const here = source.lifetimes.get(type);
    if (here === undefined || here === there) continue;
    tell(
      `The lifetime of flags of the type "${type}" is ${days(here)} in the source and ${days(there)} in Flagstaff, where it is fixed; it decides when they count as potentially stale.`,
    );
  }
}

function adaptedSegment(segment: Segment, tell: Tell): Segment {
  const where = `Segment "${segment.name}"`;
  return { ...segment, constraints: segment.constraints.map((one) => adaptedConstraint(one, where, tell)) };
}

function adaptedFlag(flag: Flag, tell: Tell): Flag {
  const environments = [...flag.environments].map(([name, environment]) => {
    const where = `Flag "${flag.name}" in ${name}`;
    const strategies = environment.strategies.map((strategy) => ({
      ...strategy,
      constraints: strategy.constraints.map((one) => adaptedConstraint(one, where, tell)),
      variants: strategy.variants.map((one) => adaptedVariant(one, where, tell)),
    }));
    const variants = environment.variants.map((one) => adaptedVariant(one, where, tell));
    return [name, { ...environment, strategies, variants }] as const;
  });
  const links = flag.links.map((link) => ({ ...link, url: adaptedLink(link.url, flag.name, tell) }));
  return { ...flag, links, environments: new Map(environments) };
}

const DATE = /^\d{4}-\d\d-\d\d$/;
const DATE_TIME_WITHOUT_ZONE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;

function adaptedConstraint<C extends Constraint>(constraint: C, where: string, tell: Tell): C {
  const value = 'value' in constraint ? constraint.value : undefined;
  if (value === undefined || !constraint.operator.startsWith('DATE_')) return constraint;
  const time = DATE.test(value) ? 'T00:00:00Z' : DATE_TIME_WITHOUT_ZONE.test(value) ? 'Z' : null;
  if (time === null) return constraint;
  tell(
    `${where} compares with "${value}", which names no time zone, so SDKs read it differently; it is brought as "${value}${time}".`,
  );
  return { ...constraint, value: `${value}${time}` };
}

function adaptedVariant<V extends Pick<Variant, 'name'> & { readonly payload?: Variant['payload'] }>(
  variant: V,
  where: string,
  tell: Tell,
): V {
  const { payload } = variant;
  if (payload === undefined || isOfItsType(payload)) return variant;
  tell(
    `${where} has the variant "${variant.name}" with a payload that is no ${payload.type}; it is brought as one of the type string, so SDKs tell that type.`,
  );
  return { ...variant, payload: { ...payload, type: 'string' } };
}

function isOfItsType({ type, value }: NonNullable<Variant['payload']>): boolean {
  if (type === 'number') return value.trim() !== '' && Number.isFinite(Number(value));
  if (type !== 'json') return true;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

function adaptedLink(url: string, flag: string, tell: Tell): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(url)) return url;
  tell(`Flag "${flag}" is linked to "${url}", which names no scheme; it is brought as "https://${url}".`);
  return `https://${url}`;
}
