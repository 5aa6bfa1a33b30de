import { basename, dirname, join } from 'node:path'

/**
 * Builds the path of a cluster's file in the directory of cluster.yml. All files of a cluster share the base
 * name of cluster.yml, so one directory can hold two clusters.
 */
function buildSiblingPath(clusterFile: string, extension: string): string {
  return join(dirname(clusterFile), `${basename(clusterFile).replace(/\.ya?ml$/, '')}.${extension}`)
}

export function buildLockPath(clusterFile: string): string {
  return buildSiblingPath(clusterFile, 'lock')
}

export function buildIdentityPath(clusterFile: string): string {
  return buildSiblingPath(clusterFile, 'identity')
}

export function buildCatalogPath(clusterFile: string): string {
  return buildSiblingPath(clusterFile, 'catalog')
}

export function buildCatalogKeysPath(clusterFile: string): string {
  return buildSiblingPath(clusterFile, 'catalog-keys')
}

/** Formats the -f flag for suggested commands; empty if the cluster file is cluster.yml. */
export function formatFileFlag(clusterFile: string): string {
  return clusterFile === 'cluster.yml' ? '' : ` -f ${clusterFile}`
}
