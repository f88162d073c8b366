/** The folder in which the simulated processes keep their data. */
export const FOLDER = '/data';
