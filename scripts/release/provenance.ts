import type { PinnedPackage } from '../npm-package.ts'
import type { LibraryPackage } from './image-files.ts'
import type { ReleaseSource } from './source.ts'

export interface ProvenanceContent {
  readonly source: ReleaseSource
  /** SHA-256 of each file, by name. */
  readonly digests: ReadonlyMap<string, string>
  /** Address of the repository. */
  readonly repository: string
  /** Who ran the build, for example the address of a workflow. */
  readonly builder: string
  readonly packages: readonly PinnedPackage[]
  /** Packages of the libraries in the image. */
  readonly libraries: readonly LibraryPackage[]
}

/** Renders an in-toto statement with SLSA provenance. It contains no time, so that it is reproducible. */
export function renderProvenance(content: ProvenanceContent): string {
  const { source, digests, repository, builder, packages, libraries } = content
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...digests].map(([name, sha256]) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'https://hyperkube.dev/build/release/v1',
        externalParameters: { version: source.version, tagged: source.isTagged },
        resolvedDependencies: [
          { uri: `git+${repository}`, digest: { gitCommit: source.commit } },
          ...packages.map(({ name, version, integrity }) => ({
            uri: `pkg:npm/${name.replace('@', '%40')}@${version}`,
            digest: { sha512: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex') },
          })),
          ...libraries.map(({ purl }) => ({ uri: purl })),
        ],
      },
      runDetails: { builder: { id: builder } },
    },
  }
  return `${JSON.stringify(statement, undefined, 2)}\n`
}
