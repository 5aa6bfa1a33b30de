import { basename, dirname, join } from 'node:path'

/** What belongs to a cluster lies beside its file and bears its name, so that two clusters fit in one directory. */
function beside(clusterFile: string, ending: string): string {
  return join(dirname(clusterFile), `${basename(clusterFile).replace(/\.ya?ml$/, '')}.${ending}`)
}

export function lockFile(clusterFile: string): string {
  return beside(clusterFile, 'lock')
}

export function identityFile(clusterFile: string): string {
  return beside(clusterFile, 'identity')
}

/** What a person types after a command for a cluster whose file is not the usual one. */
export function fileFlag(clusterFile: string): string {
  return clusterFile === 'cluster.yml' ? '' : ` -f ${clusterFile}`
}
