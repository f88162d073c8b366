/** Figures in groups, each with its name and a note. */

/** @param {{ title: string, tiles: readonly (readonly [name: string, value: string, note?: string, title?: string])[] }} props */
export const TileGroup = ({ title, tiles }) => (
  <section class="figures">
    <h2>{title}</h2>
    <dl class="tiles">
      {tiles.map(([name, value, note = '', hover = '']) => (
        <div key={name} class="tile" title={hover || undefined}>
          <dt>{name}</dt>
          <dd class="tile-value">{value}</dd>
          {note === '' ? null : <dd class="tile-note">{note}</dd>}
        </div>
      ))}
    </dl>
  </section>
);
