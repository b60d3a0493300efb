/**
 * This file is no module, so that TypeScript names it: `"moduleResolution": "node10"` (or `"node"`) finds it in
 * place of every entry of this package, which that resolution cannot read. Its name is the remedy: set
 * `"moduleResolution"` in tsconfig.json to `"nodenext"` or `"bundler"`.
 */
