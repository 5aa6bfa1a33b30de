import { basename, dirname, join } from 'node:path'

/**
 * Files of a cluster lie beside cluster.yml and share its base name, so that two clusters fit in one
 * directory.
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

/** The -f flag to suggest in a command; empty if the cluster's file is cluster.yml. */
export function formatFileFlag(clusterFile: string): string {
  return clusterFile === 'cluster.yml' ? '' : ` -f ${clusterFile}`
}
