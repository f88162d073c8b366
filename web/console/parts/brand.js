/** The mark of the product. */
import { h } from 'preact';

export function BrandMark() {
  return h('img', { src: 'console/icon.svg', alt: '', class: 'brand-mark', width: 28, height: 28 });
}
