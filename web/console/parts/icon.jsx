/** The icons of the console: lines on a grid of 24 by 24, in the color of the text around them. They say nothing that words do not. */

/** @type {Readonly<Record<string, string>>} */
const PATHS = {
  add: 'M12 5v14M5 12h14',
  application: 'M4 5h16v14H4zM4 9h16M7 7h.01',
  archive: 'M3 5h18v4H3zM5 9v10h14V9M10 13h4',
  branch: 'M6 4v16M18 4v4a4 4 0 0 1-4 4H6M4 20h4M16 4h4',
  check: 'M5 12l5 5L19 7',
  close: 'M6 6l12 12M18 6L6 18',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  down: 'M12 5v14M6 13l6 6 6-6',
  edit: 'M4 20l1-4L16 5l3 3L8 19zM14 7l3 3',
  environment: 'M12 3l9 5-9 5-9-5zM3 12l9 5 9-5M3 16l9 5 9-5',
  field: 'M4 7h10M18 7h2M4 17h2M10 17h10M14 5h4v4h-4zM6 15h4v4H6z',
  flag: 'M6 3v18M6 4c4-2 8 2 12 0v9c-4 2-8-2-12 0',
  folded: 'M9 6l6 6-6 6',
  health: 'M3 12h4l3-7 4 14 3-7h4',
  history: 'M4 12a8 8 0 1 1 3 6M4 12l-2-2M4 12l2-2M12 8v4l3 2',
  home: 'M3 11l9-7 9 7M6 9v11h12V9M10 20v-6h4v6',
  key: 'M15 3a6 6 0 1 1-5 9L3 19v2h3l1-2h2v-2h2l2-2',
  link: 'M10 14a4 4 0 0 0 6 0l4-4a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-4 4a4 4 0 0 0 6 6l1-1',
  more: 'M5 11.500v1M12 11.500v1M19 11.500v1',
  people:
    'M9 11a4 4 0 1 1 0-8 4 4 0 0 1 0 8zM2 21c0-4 3-7 7-7s7 3 7 7M16 3.500a4 4 0 0 1 0 7M18 14c2 1 4 3 4 7',
  person: 'M12 11a4 4 0 1 1 0-8 4 4 0 0 1 0 8zM5 21c0-4 3-7 7-7s7 3 7 7',
  program: 'M5 8h14v11H5zM12 8V4M10 4h4M9 12v2M15 12v2M2 12v3M22 12v3',
  project: 'M3 6h6l2 2h10v11H3z',
  reference: 'M4 5c3-1 6-1 8 1 2-2 5-2 8-1v14c-3-1-6-1-8 1-2-2-5-2-8-1zM12 6v14',
  remove: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  role: 'M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6z',
  search: 'M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM16 16l5 5',
  segment: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zM12 3v9l6 6.500',
  settings: 'M4 6h16M4 12h16M4 18h16M8 4v4M16 10v4M10 16v4',
  tag: 'M3 3h9l9 9-9 9-9-9zM8 8h.01',
  unfolded: 'M6 9l6 6 6-6',
  up: 'M12 19V5M6 11l6-6 6 6',
};

/** @param {{ name: string }} props */
export const Icon = ({ name }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);
