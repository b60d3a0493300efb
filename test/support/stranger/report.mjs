/** Runs the published suite over the package that it is told, and prints what came of each case. */
import { runCases } from 'keyhook/plugins/conformance'
import { filesCases } from 'keyhook/plugins/files/conformance'

const { plugin } = await import(process.argv[2])

async function makeHarness() {
  const processor = await plugin.create({ options: {} })
  return { processor, close: () => processor.close() }
}

const cases = []
const left = runCases(filesCases, makeHarness, (name, run) => cases.push([name, run]))
const results = {}
for (const [name, run] of cases) results[name] = await run().then(() => 'passed', String)
process.stdout.write(JSON.stringify({ left, results }))
