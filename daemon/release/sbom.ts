import type { Locked } from './packages.ts'
import { nameOf } from './packages.ts'
import { licenceOf } from './licences.ts'

interface Described {
  readonly name: string
  readonly version: string
  readonly license: string
}

/**
 * A CycloneDX document of what is published, from the lock. `npm sbom` cannot make it: it knows only whole kinds of
 * dependencies, and Studio's, which are bundled, are of those that are left out. Without a time and a serial number
 * the same lock always has the same document.
 */
export function printSbom(
  own: Described,
  packages: readonly (readonly [place: string, Locked])[],
): string {
  const component = (name: string, version: string, licence: string | undefined) => ({
    type: 'library',
    'bom-ref': `${name}@${version}`,
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(licence === undefined ? {} : { licenses: [describeLicence(licence)] }),
  })
  const components = packages.map(([place, one]) => ({
    ...component(nameOf(place), one.version, licenceOf(place, one)),
    ...(one.integrity === undefined ? {} : { hashes: [describeHash(one.integrity)] }),
  }))
  const unique = [...new Map(components.map((each) => [each['bom-ref'], each])).values()]
  const sbom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: component(own.name, own.version, own.license) },
    components: unique,
  }
  return `${JSON.stringify(sbom, null, 2)}\n`
}

function describeLicence(licence: string): object {
  return licence.includes(' ') ? { expression: licence } : { license: { id: licence } }
}

/** npm has base64, and CycloneDX hexadecimal. */
function describeHash(integrity: string): object {
  const [algorithm = '', digest = ''] = integrity.split('-', 2)
  return {
    alg: algorithm.replace('sha', 'SHA-'),
    content: Buffer.from(digest, 'base64').toString('hex'),
  }
}
