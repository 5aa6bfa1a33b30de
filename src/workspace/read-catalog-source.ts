import { text as readText } from 'node:stream/consumers'
import { bundledCatalogPath } from '../bundle/manifest.ts'
import { locateArtifact } from '../catalog/artifact-source.ts'
import { maxCatalogBytes } from '../catalog/signed-catalog.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { Cluster } from '../spec/cluster.ts'
import { openClusterWeb } from './cluster-web.ts'
import type { ClusterFiles, WebClients, WorkspaceContext } from './context.ts'
import { readClusterSource, readWithFleet } from './load-cluster.ts'
import { openClusterBundle } from './open-cluster-bundle.ts'

/** Public URL of the catalog. A mirror serves the catalog under a path that is derived from this URL. */
const publicUrl = 'https://hyperkube.dev/catalog'

export interface CatalogText {
  /** File or URL that the text comes from. */
  readonly location: string
  readonly text: string
}

/**
 * Reads a signed catalog from a file or URL, by default from the mirror or bundle in spec.artifacts. Nothing
 * is verified yet.
 */
export async function readCatalogSource(
  context: WorkspaceContext,
  files: ClusterFiles,
  from: string | undefined,
): Promise<CatalogText> {
  const { readFile, signal } = context
  const location = from ?? (await findMirrorUrl(context, files.file))
  if (location === undefined) return readBundledCatalog(context, files.file)
  if (/^https?:\/\//.test(location)) {
    const { fetcher } = await openWeb(context, files)
    return { location, text: await fetcher.text(location, maxCatalogBytes, signal) }
  }
  const text = await readFile(location).catch((cause: unknown) => {
    throw new HyperkubeError('CATALOG_NOT_READ', `cannot read ${location}`, {
      hint: `check the path and the permissions: ls -l ${location}`,
      cause,
    })
  })
  return { location, text }
}

/** Opens the connections of the cluster. Without a cluster.yml they are direct. */
async function openWeb(context: WorkspaceContext, files: ClusterFiles): Promise<WebClients> {
  if (!(await context.exists(files.file))) return context.connect({})
  return openClusterWeb(context, files, await requireUncheckedCluster(context, files.file))
}

/**
 * Reads cluster.yml without the checks that need a catalog, because cluster.yml may be valid only with the
 * new catalog.
 */
async function requireUncheckedCluster(context: WorkspaceContext, clusterFile: string): Promise<Cluster> {
  const { cluster } = await readWithFleet(context, await readClusterSource(context, clusterFile))
  if (cluster !== undefined) return cluster
  throw new HyperkubeError(
    'CATALOG_NOT_READ',
    `${clusterFile} is not valid, so it names no mirror or bundle`,
    {
      hint: 'hyperkube validate; or name the catalog: hyperkube catalog update --from FILE',
    },
  )
}

async function findMirrorUrl(context: WorkspaceContext, clusterFile: string): Promise<string | undefined> {
  const { artifacts } = (await requireUncheckedCluster(context, clusterFile)).spec
  if (artifacts !== 'upstream') {
    return 'mirror' in artifacts ? locateArtifact(publicUrl, artifacts) : undefined
  }
  throw new HyperkubeError('CATALOG_NOT_READ', 'spec.artifacts has no mirror or bundle with a catalog', {
    hint: 'name the catalog: hyperkube catalog update --from FILE',
  })
}

/**
 * Reads the catalog in the bundle. The key of the bundle is not needed, because the signature of the catalog
 * itself is checked later.
 */
async function readBundledCatalog(context: WorkspaceContext, clusterFile: string): Promise<CatalogText> {
  const cluster = await requireUncheckedCluster(context, clusterFile)
  await using bundle = await openClusterBundle(context, clusterFile, cluster)
  const member = bundle?.manifest.members.find(({ path }) => path === bundledCatalogPath)
  if (bundle === undefined || member === undefined || member.size > maxCatalogBytes) {
    throw new HyperkubeError('CATALOG_NOT_READ', 'the bundle of spec.artifacts has no catalog', {
      hint: 'the cluster uses the catalog of this hyperkube release; hyperkube catalog list shows it',
    })
  }
  return { location: 'the bundle', text: await readText(bundle.content(member)) }
}
