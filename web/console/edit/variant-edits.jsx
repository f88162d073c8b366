/** The variants of a flag, which all its environments share. */
import { affectedBy } from '../audience.js';
import { flagPath } from '../changes.jsx';
import { changing } from '../client.js';
import { counted } from '../format.js';
import { openEdit } from '../forms/edit-dialog.jsx';
import { variantsField } from '../forms/variants-editor.jsx';
import { code, said } from '../said.jsx';
import { isProduction } from '../session.js';
import { pinnedFlag } from './pinned.js';

/** @import { Edit, Flag, Session, Variant } from '../types.d.ts' */

/** @typedef {{ variants: readonly Variant[] }} VariantValues */

/** @param {Flag} flag @returns {VariantValues} */
const valuesOf = ({ variants }) => ({ variants: variants ?? [] });

/** The form of variants of a flag. @param {string} name @param {VariantValues} values @returns {Pick<Edit<VariantValues>, 'wide' | 'fields' | 'values' | 'sentence'>} */
export function variantsForm(name, values) {
  return {
    wide: true,
    fields: [
      variantsField(
        '',
        ({ variants }) => variants[0]?.stickiness ?? 'default',
        'Users for whom the flag is on get one of them. Variants of a strategy take precedence.',
      ),
    ],
    values,
    sentence: ({ variants }) =>
      variants.length === 0
        ? `${code(name)} has no variants.`
        : `${code(name)} has ${counted(variants.length, 'variant')}: ${variants.map(shareOf).join(', ')}.`,
  };
}

/** @param {Session} session @param {Flag} flag @param {string} etag */
export function editVariants(session, flag, etag) {
  const { project, name } = flag;
  return openEdit(session, {
    ...variantsForm(name, valuesOf(flag)),
    title: `Variants of ${name}`,
    change: ({ variants }) => changing('PUT', `${flagPath(project, name)}/variants`, variants),
    done: () => `The variants of ${name} are changed.`,
    ...pinnedFlag(flag, etag, valuesOf),
    ...productionOf(session, flag),
  });
}

/** @param {Variant} variant */
const shareOf = ({ name, weight }) => `${said(name || '…')} for ${weight / 10} %`;

/** Variants are the same everywhere, so changing them changes production where there is one. @param {Session} session @param {Flag} flag */
function productionOf(session, flag) {
  const production = flag.environments.find(({ name }) => isProduction(session, name));
  if (production === undefined) return {};
  return { environment: () => production.name, affected: () => affectedBy(session, flag, production.name) };
}
