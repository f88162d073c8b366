/** One difference: what it is about, what only the moment before had, and what only the moment after. */
import { Fragment } from 'preact';
import { Sentence } from '../said.jsx';

/** @import { Difference } from '../differences.js' */

/** @param {{ of: Difference }} props */
export function DifferenceLine({ of: { name, before, after } }) {
  return (
    <div class="event-field">
      <Sentence>{`${name}: `}</Sentence>
      <Texts as="del" of={before} />
      {' → '}
      <Texts as="ins" of={after} />
    </div>
  );
}

/** @param {{ as: 'del' | 'ins', of: readonly string[] }} props */
const Texts = ({ as: Tag, of }) =>
  of.length === 0
    ? 'nothing'
    : of.map((text, index) => (
        <Fragment key={text}>
          {index === 0 ? null : ', '}
          <Tag>
            <Sentence>{text}</Sentence>
          </Tag>
        </Fragment>
      ));
