import { dirname, join, relative, resolve } from 'node:path'
import type { Finding } from '../contract/finding.ts'
import { formatError, hasCode, HyperkubeError } from '../kit/errors.ts'
import type { LocatedDocument } from '../spec/document.ts'
import type { ReadFleet } from '../spec/fleet.ts'
import { readFleet, type ReadFleetResult } from '../spec/read-fleet.ts'
import type { LocalFiles } from './context.ts'
import { matchesClusterPath } from './cluster-pattern.ts'

export type FleetOfCluster =
  | {
      readonly ok: true
      /** Undefined if the cluster belongs to no fleet. */
      readonly fleet: ReadFleet | undefined
    }
  | { readonly ok: false; readonly findings: readonly Finding[] }

/** Reads a fleet.yml. Throws an error with a hint if the file cannot be read. */
export type ReadFleetFile = (file: string) => Promise<ReadFleetResult>

/** Creates a reader that reads the file again at each call. */
export function createFleetReader(files: Pick<LocalFiles, 'readFile'>): ReadFleetFile {
  return async (file) => readFleetFile(files, file)
}

/** Creates a reader that reads each file once, because parsing takes about as long as checking a cluster.yml. */
export function createCachingFleetReader(files: Pick<LocalFiles, 'readFile'>): ReadFleetFile {
  const results = new Map<string, Promise<ReadFleetResult>>()
  return async (file) => {
    const path = resolve(file)
    const result = results.get(path) ?? readFleetFile(files, file)
    results.set(path, result)
    return result
  }
}

/**
 * Loads the fleet that cluster.yml names. Only this name connects a cluster with a fleet: a fleet.yml in a
 * parent directory has no effect on clusters that do not name it.
 */
export async function loadFleetOf(
  read: ReadFleetFile,
  clusterFile: string,
  document: LocatedDocument,
): Promise<FleetOfCluster> {
  const name = readFleetName(document)
  if (name === undefined) return { ok: true, fleet: undefined }
  const file = join(dirname(clusterFile), name)
  const position = document.positionOf(['metadata', 'fleet'])
  const fail = (code: string, message: string, hint: string): FleetOfCluster => ({
    ok: false,
    findings: [{ code, severity: 'error', message, hint, position, path: 'metadata.fleet' }],
  })
  const result = await read(file).catch((error: unknown) => {
    if (error instanceof HyperkubeError) return error
    throw error
  })
  if (result instanceof HyperkubeError)
    return fail(result.code, `names a file that cannot be used: ${formatError(result)}`, result.hint ?? '')
  if (!result.ok) return result
  const path = relative(dirname(file), clusterFile).replaceAll('\\', '/')
  if (!result.fleet.spec.clusters.some((pattern) => matchesClusterPath(pattern, path)))
    return fail(
      'FLEET_CLUSTER_NOT_LISTED',
      `names ${file}, whose spec.clusters does not contain ${path}`,
      `add the path to spec.clusters of ${file}, or remove metadata.fleet`,
    )
  return { ok: true, fleet: result }
}

/** Reads fleet.yml. Throws an error with a hint if the file cannot be read. */
export async function readFleetFile(
  { readFile }: Pick<LocalFiles, 'readFile'>,
  file: string,
): Promise<ReadFleetResult> {
  try {
    return readFleet({ file, text: await readFile(file) })
  } catch (cause) {
    const isMissing = hasCode(cause, 'ENOENT')
    throw new HyperkubeError('FLEET_NOT_READ', `${file} ${isMissing ? 'does not exist' : 'cannot be read'}`, {
      hint: isMissing
        ? 'run the command in the directory of fleet.yml, or add -f FILE'
        : `check the permissions: ls -l ${file}`,
      ...(isMissing ? {} : { cause }),
    })
  }
}

function readFleetName({ value }: LocatedDocument): string | undefined {
  const metadata: unknown = Object(value).metadata
  const name: unknown = Object(metadata).fleet
  return typeof name === 'string' ? name : undefined
}
