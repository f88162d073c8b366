/** The mark of the product, as in icon.svg, which browsers show in their tabs. */
export const BrandMark = () => (
  <svg class="brand-mark" viewBox="0 0 32 32" width={28} height={28} aria-hidden="true">
    <path d="M8 3v26" stroke="#8a857a" stroke-width="2.5" stroke-linecap="round" />
    <path d="M9.5 5.5c5-3 9 2.5 14.5 0v11c-5.500 2.500-9.500-3-14.500 0z" fill="#1f7a5c" />
  </svg>
);
