import type { Catalog } from '../catalog/catalog.ts'
import { shippedCatalog } from '../catalog/shipped-catalog.ts'
import { readSignedCatalog } from '../catalog/signed-catalog.ts'
import { parseCatalogKeys, releaseCatalogKeys } from '../catalog/trusted-catalog-keys.ts'
import { hasCode, HyperkubeError } from '../kit/errors.ts'
import { buildCatalogKeysPath, buildCatalogPath } from './cluster-paths.ts'
import type { LocalFiles } from './context.ts'

/**
 * Loads the catalog of a cluster. This is the signed file beside cluster.yml, or the catalog of this release
 * if there is no such file. The signature is checked at every load.
 */
export async function loadCatalog(
  files: Pick<LocalFiles, 'readFile'>,
  clusterFile: string,
): Promise<Catalog> {
  const path = buildCatalogPath(clusterFile)
  const text = await readIfExists(files, path)
  if (text === undefined) return shippedCatalog
  return readSignedCatalog(path, text, (await loadCatalogKeys(files, clusterFile)).keys).catalog
}

export interface CatalogKeys {
  /** Keys of this release and of the operator. */
  readonly keys: readonly string[]
  /** Text of the file with the operator's keys; undefined if the file does not exist. */
  readonly text: string | undefined
}

/** Loads the public keys whose catalogs a cluster accepts. */
export async function loadCatalogKeys(
  files: Pick<LocalFiles, 'readFile'>,
  clusterFile: string,
): Promise<CatalogKeys> {
  const path = buildCatalogKeysPath(clusterFile)
  const text = await readIfExists(files, path)
  const own = text === undefined ? [] : parseCatalogKeys(path, text)
  return { keys: [...releaseCatalogKeys, ...own], text }
}

async function readIfExists(
  { readFile }: Pick<LocalFiles, 'readFile'>,
  path: string,
): Promise<string | undefined> {
  try {
    return await readFile(path)
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return undefined
    throw new HyperkubeError('CATALOG_NOT_READ', `cannot read ${path}`, {
      hint: `check the permissions: ls -l ${path}`,
      cause,
    })
  }
}
