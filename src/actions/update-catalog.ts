import type { CatalogSource } from '../catalog/catalog.ts'
import { type CatalogChange, compareCatalogs } from '../catalog/compare-catalogs.ts'
import { readSignedCatalog } from '../catalog/signed-catalog.ts'
import { addCatalogKey, requireCatalogKey } from '../catalog/trusted-catalog-keys.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { buildCatalogKeysPath, buildCatalogPath } from '../workspace/cluster-paths.ts'
import type { ClusterFiles, WorkspaceContext } from '../workspace/context.ts'
import { loadCatalog, loadCatalogKeys } from '../workspace/load-catalog.ts'
import { readCatalogSource } from '../workspace/read-catalog-source.ts'

export interface UpdateCatalogOptions {
  readonly files: ClusterFiles
  /** File or URL. Default: the mirror or bundle in spec.artifacts. */
  readonly from: string | undefined
  /** Public key to trust from now on, in addition to the keys that are already trusted. */
  readonly publicKey: string | undefined
  readonly acceptOlderCatalog: boolean
}

/** A verified catalog that is not written yet. */
export interface CatalogUpdate {
  readonly before: CatalogSource
  readonly after: CatalogSource
  readonly changes: readonly CatalogChange[]
  /** Key that `persist` adds to the trusted keys; undefined if there is no new key. */
  readonly newKey: string | undefined
  /** False if the cluster already has this catalog and trusts its key. */
  readonly isChange: boolean
  /** Writes the files that change and returns their paths. */
  readonly persist: () => Promise<readonly string[]>
}

/** Reads and verifies a catalog, and compares it with that of the cluster. Writes nothing yet. */
export async function prepareCatalogUpdate(
  context: WorkspaceContext,
  { files, from, publicKey, acceptOlderCatalog }: UpdateCatalogOptions,
): Promise<CatalogUpdate> {
  const trusted = await loadCatalogKeys(context, files.file)
  const key = publicKey === undefined ? undefined : requireCatalogKey('--public-key', publicKey)
  const newKey = key === undefined || trusted.keys.includes(key) ? undefined : key
  const { location, text } = await readCatalogSource(context, files, from)
  const { catalog } = readSignedCatalog(location, text, [
    ...trusted.keys,
    ...(newKey === undefined ? [] : [newKey]),
  ])
  const current = await loadCatalog(context, files.file)
  const isSame = isSameFile(current.source, catalog.source)
  if (!isSame && !acceptOlderCatalog) checkSerial(location, current.source, catalog.source)
  const writes: readonly (readonly [path: string, text: string])[] = [
    // The key is written before the catalog, so an interruption never leaves a catalog without its key.
    ...(newKey === undefined
      ? []
      : [[buildCatalogKeysPath(files.file), addCatalogKey(trusted.text, newKey)] as const]),
    ...(isSame ? [] : [[buildCatalogPath(files.file), text] as const]),
  ]
  return {
    before: current.source,
    after: catalog.source,
    changes: compareCatalogs(current, catalog),
    newKey,
    isChange: writes.length > 0,
    async persist() {
      for (const [path, content] of writes) await writeCatalogFile(context, path, content)
      return writes.map(([path]) => path)
    },
  }
}

function isSameFile(current: CatalogSource, next: CatalogSource): boolean {
  return current.from === 'file' && next.from === 'file' && current.sha256 === next.sha256
}

function checkSerial(location: string, current: CatalogSource, next: CatalogSource): void {
  if (next.serial > current.serial) return
  const owner = current.from === 'file' ? 'the cluster' : 'this release of hyperkube'
  throw new HyperkubeError(
    'CATALOG_OLDER',
    `${location} has the serial ${next.serial}; ${owner} already has the catalog ${current.serial}`,
    {
      hint: 'get the newest catalog; to return to older versions: hyperkube catalog update --accept-older-catalog',
    },
  )
}

async function writeCatalogFile(
  { replaceFile }: Pick<WorkspaceContext, 'replaceFile'>,
  path: string,
  text: string,
): Promise<void> {
  await replaceFile(path, text, 0o644).catch((cause: unknown) => {
    throw new HyperkubeError('CATALOG_NOT_WRITTEN', `cannot write ${path}`, {
      hint: 'check permissions and free space: ls -ld .; df -h .',
      cause,
    })
  })
}
