import { dirname, join, resolve } from 'node:path'
import { type Finding, hasErrors } from '../contract/finding.ts'
import { HyperkubeError, toFailure } from '../kit/errors.ts'
import type { Cluster } from '../spec/cluster.ts'
import { readDocument } from '../spec/document.ts'
import type { Fleet } from '../spec/fleet.ts'
import { type ClusterLabels, type InheritedValue, readLabels } from '../spec/inherit.ts'
import { listMatchingFiles } from './cluster-pattern.ts'
import type { LocalFiles } from './context.ts'
import { loadCluster } from './load-cluster.ts'
import { createCachingFleetReader, type ReadFleetFile } from './load-fleet.ts'

/** A cluster of a fleet. Commands that change it load its cluster.yml again, because a rollout takes hours. */
export interface FleetCluster {
  readonly name: string
  /** Path of cluster.yml. */
  readonly file: string
  readonly labels: ClusterLabels
  /** Content of cluster.yml; undefined if it has errors. */
  readonly cluster: Cluster | undefined
  readonly findings: readonly Finding[]
  readonly inherited: readonly InheritedValue[]
}

export interface LoadedFleet {
  /** Path of fleet.yml. */
  readonly file: string
  readonly fleet: Fleet
  /** All clusters, sorted by name. */
  readonly clusters: readonly FleetCluster[]
}

export type LoadFleetResult =
  | ({ readonly ok: true } & LoadedFleet)
  | { readonly ok: false; readonly findings: readonly Finding[] }

/**
 * Reads fleet.yml and all its clusters. The findings of a cluster are part of the cluster, so one broken
 * cluster.yml does not hide the other clusters.
 */
export async function loadFleet(
  context: Pick<LocalFiles, 'exists' | 'listDirectory' | 'readFile'>,
  file: string,
): Promise<LoadFleetResult> {
  const readFleet = createCachingFleetReader(context)
  const result = await readFleet(file)
  if (!result.ok) return result
  const { fleet, document } = result
  const directory = dirname(file)
  const [paths, unmatched]: [Set<string>, Finding[]] = [new Set(), []]
  for (const [index, pattern] of fleet.spec.clusters.entries()) {
    const found = await listMatchingFiles(context, directory, pattern)
    for (const path of found) paths.add(path)
    if (found.length === 0)
      unmatched.push({
        code: 'FLEET_CLUSTER_NOT_FOUND',
        severity: 'error',
        message: `matches no file: ${pattern}`,
        hint: `to create a cluster: hyperkube init -f ${join(directory, pattern.replaceAll('*', 'NAME'))}`,
        position: document.positionOf(['spec', 'clusters', index]),
        path: `spec.clusters[${index}]`,
      })
  }
  if (unmatched.length > 0) return { ok: false, findings: unmatched }
  const clusters: FleetCluster[] = []
  for (const path of paths) clusters.push(await loadFleetCluster(context, file, path, readFleet))
  const sorted = markDuplicates(clusters).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return { ok: true, file, fleet, clusters: sorted }
}

async function loadFleetCluster(
  context: Pick<LocalFiles, 'readFile'>,
  fleetFile: string,
  file: string,
  readFleet: ReadFleetFile,
): Promise<FleetCluster> {
  try {
    const { cluster, findings, inherited } = await loadCluster(context, file, readFleet)
    if (cluster === undefined) return { ...(await readHeader(context, file)), cluster, findings, inherited }
    const { name, fleet } = cluster.metadata
    const isNamed = fleet !== undefined && resolve(dirname(file), fleet) === resolve(fleetFile)
    return {
      name,
      file,
      labels: readLabels(cluster),
      cluster,
      findings: isNamed ? findings : [...findings, buildNotNamedFinding(file, fleetFile)],
      inherited,
    }
  } catch (error) {
    if (!(error instanceof HyperkubeError)) throw error
    const header = { name: file, file, labels: {}, cluster: undefined, inherited: [] }
    return { ...header, findings: [{ ...toFailure(error), severity: 'error' }] }
  }
}

/** Reads name and labels of an invalid cluster.yml, as far as it has them. */
async function readHeader(
  { readFile }: Pick<LocalFiles, 'readFile'>,
  file: string,
): Promise<Pick<FleetCluster, 'name' | 'file' | 'labels'>> {
  const result = readDocument({ file, text: await readFile(file) })
  const labels = result.ok ? readLabels(result.document.value) : {}
  return { name: labels['name'] ?? file, file, labels }
}

function buildNotNamedFinding(file: string, fleetFile: string): Finding {
  return {
    code: 'FLEET_NOT_NAMED',
    severity: 'error',
    message: `belongs to ${fleetFile}, but metadata.fleet does not name that file`,
    hint: 'set metadata.fleet to the path of fleet.yml, relative to this file',
    position: { file, line: 1, column: 1 },
    path: 'metadata.fleet',
  }
}

/** Two clusters with one name would share the key file and the logs of runs. */
function markDuplicates(clusters: readonly FleetCluster[]): readonly FleetCluster[] {
  const firsts = new Map(clusters.toReversed().map((cluster) => [cluster.name, cluster]))
  return clusters.map((cluster) => {
    const first = firsts.get(cluster.name)
    if (first === cluster || first === undefined) return cluster
    const finding: Finding = {
      code: 'FLEET_CLUSTER_DUPLICATE',
      severity: 'error',
      message: `is also the name of the cluster in ${first.file}`,
      hint: 'give each cluster of a fleet its own name',
      position: { file: cluster.file, line: 1, column: 1 },
      path: 'metadata.name',
    }
    return { ...cluster, findings: [...cluster.findings, finding] }
  })
}

/** True if the cluster.yml of a cluster has no errors. */
export function isValidCluster({ findings }: Pick<FleetCluster, 'findings'>): boolean {
  return !hasErrors(findings)
}
