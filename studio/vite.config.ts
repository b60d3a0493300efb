import { defineConfig } from 'vite'

/** Addresses are relative to the page's `<base>`: the service may have a path prefix. */
export default defineConfig({
  base: './',
  build: {
    outDir: '../dist/studio',
    emptyOutDir: true,
    target: 'es2022',
    // One style sheet, and no data: addresses: the page's policy permits files of its origin only.
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'LICENSES.md' },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      // Two pages, and two sets of pages behind them; what they share is one file.
      input: ['./index.html', './portal.html'],
      onLog(level, log, report) {
        // "use client" means nothing to an application without a server of its own.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log)
      },
    },
  },
})
