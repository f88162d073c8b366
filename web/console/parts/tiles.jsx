/** Figures in groups, each with its name and a note. */
import { Name } from '../said.jsx';

/** @import { ComponentChildren } from 'preact' */

/** @param {{ title: string, tiles: readonly (readonly [name: string, value: string, note?: string, title?: string])[] }} props */
export const TileGroup = ({ title, tiles }) => (
  <section class="part">
    <h2>{title}</h2>
    <dl class="tiles">
      {tiles.map(([name, value, note = '', hover = '']) => (
        <div key={name} class="tile" title={hover || undefined}>
          <dt>{name}</dt>
          <dd class="tile-value">{value}</dd>
          {note === '' ? null : <dd class="hint">{note}</dd>}
        </div>
      ))}
    </dl>
  </section>
);

/**
 * The values that somebody wrote or chose, by their names; without those that are empty.
 * @param {{ of: readonly (readonly [name: string, value: string | null | undefined | readonly ComponentChildren[]])[] }} props
 */
export const Facts = ({ of }) => (
  <dl class="tiles">
    {of.map(([name, value]) =>
      value?.length ? (
        <div key={name} class="tile">
          <dt>{name}</dt>
          {[value].flat().map((one, index) => (
            <dd key={index}>{typeof one === 'string' ? <Name text={one} max={300} /> : one}</dd>
          ))}
        </div>
      ) : null,
    )}
  </dl>
);
