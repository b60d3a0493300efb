/**
 * This file has no types: it is what TypeScript finds with `"moduleResolution": "node10"` (or `"node"`), which
 * cannot read the entries of this package. Its name is the remedy: set `"moduleResolution"` in tsconfig.json to
 * `"nodenext"`, or to `"bundler"`.
 */
export {}
