/** Pages of the manual, as the build gives them to scripts. */
declare module '*.md' {
  const text: string;
  export default text;
}
