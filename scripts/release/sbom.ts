import { createHash } from 'node:crypto'
import type { LibraryPackage } from './image-files.ts'
import type { ReleaseSource } from './source.ts'
import type { ShippedPackage } from './shipped-packages.ts'

/** Node.js inside the executables, with the versions of its libraries. */
export interface ShippedRuntime {
  readonly version: string
  /** Versions of libraries as in `process.versions`. */
  readonly libraries: Readonly<Record<string, string>>
}

export interface SbomContent {
  readonly source: ReleaseSource
  readonly packages: readonly ShippedPackage[]
  readonly runtimes: readonly ShippedRuntime[]
  /** Packages of the libraries in the image. */
  readonly libraries: readonly LibraryPackage[]
}

interface Component {
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly license?: string
  readonly sha512?: string
}

/** Entries of `process.versions` that are not software. */
const notSoftware = new Set(['node', 'modules', 'napi', 'unicode', 'cldr', 'tz'])

function listComponents({ packages, runtimes, libraries }: SbomContent): readonly Component[] {
  const fromNpm = packages.map(({ name, version, license, integrity }) => ({
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    license,
    sha512: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex'),
  }))
  const fromNode = runtimes.flatMap(({ version, libraries: versions }) => [
    { name: 'node', version, purl: `pkg:generic/node@${version}`, license: 'MIT' },
    ...Object.entries(versions)
      .filter(([name]) => !notSoftware.has(name))
      .map(([name, libraryVersion]) => ({
        name: `node-${name}`,
        version: libraryVersion,
        purl: `pkg:generic/${name}@${libraryVersion}?node=${version}`,
      })),
  ])
  return [...fromNpm, ...fromNode, ...libraries]
}

/** Renders the bill of materials as CycloneDX 1.6. */
export function renderCycloneDx(content: SbomContent): string {
  const { version, epoch, commit } = content.source
  return toJson({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${createUuid(`${commit}-${version}`)}`,
    version: 1,
    metadata: {
      timestamp: toTimestamp(epoch),
      component: {
        type: 'application',
        'bom-ref': 'hyperkube',
        name: 'hyperkube',
        version,
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
    },
    components: listComponents(content).map(({ name, version: componentVersion, purl, license, sha512 }) => ({
      type: 'library',
      'bom-ref': purl,
      name,
      version: componentVersion,
      purl,
      ...(license === undefined ? {} : { licenses: [{ license: { id: license } }] }),
      ...(sha512 === undefined ? {} : { hashes: [{ alg: 'SHA-512', content: sha512 }] }),
    })),
  })
}

/** Renders the bill of materials as SPDX 2.3. */
export function renderSpdx(content: SbomContent): string {
  const { version, epoch, commit } = content.source
  const components = listComponents(content)
  const root = 'SPDXRef-hyperkube'
  const ids = components.map((_, index) => `SPDXRef-Package-${index + 1}`)
  return toJson({
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `hyperkube-${version}`,
    documentNamespace: `urn:uuid:${createUuid(`spdx-${commit}-${version}`)}`,
    creationInfo: { created: toTimestamp(epoch), creators: ['Tool: hyperkube-release'] },
    packages: [
      { ...describePackage(root, { name: 'hyperkube', version, purl: '', license: 'Apache-2.0' }) },
      ...components.map((component, index) => describePackage(ids[index] ?? '', component)),
    ],
    relationships: [
      { spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: root },
      ...ids.map((id) => ({ spdxElementId: root, relationshipType: 'CONTAINS', relatedSpdxElement: id })),
    ],
  })
}

function describePackage(id: string, { name, version, purl, license, sha512 }: Component): object {
  return {
    SPDXID: id,
    name,
    versionInfo: version,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseConcluded: 'NOASSERTION',
    licenseDeclared: license ?? 'NOASSERTION',
    copyrightText: 'NOASSERTION',
    ...(sha512 === undefined ? {} : { checksums: [{ algorithm: 'SHA512', checksumValue: sha512 }] }),
    ...(purl === ''
      ? {}
      : {
          externalRefs: [
            { referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl },
          ],
        }),
  }
}

/** Returns a UUID that depends only on the text, so that the same release has the same documents. */
function createUuid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

function toTimestamp(epoch: number): string {
  return new Date(epoch * 1000).toISOString().replace('.000Z', 'Z')
}

function toJson(document: object): string {
  return `${JSON.stringify(document, undefined, 2)}\n`
}
