/** One difference: what it is about, what only the moment before had, and what only the moment after. */
import { Sentence } from '../said.jsx';

/** @import { Difference } from '../differences.js' */

/** @param {{ of: Difference }} props */
export function DifferenceLine({ of: { name, before, after } }) {
  return (
    <div class="event-field">
      <Sentence>{`${name}: `}</Sentence>
      {before.length === 0 ? 'nothing ' : before.map((text) => <Text key={text} as="del" text={text} />)}
      {'→ '}
      {after.length === 0 ? 'nothing' : after.map((text) => <Text key={text} as="ins" text={text} />)}
    </div>
  );
}

/** @param {{ as: 'del' | 'ins', text: string }} props */
const Text = ({ as: Tag, text }) => (
  <>
    <Tag>
      <Sentence>{text}</Sentence>
    </Tag>{' '}
  </>
);
