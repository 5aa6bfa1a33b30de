import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { type Catalog, findKubernetesRelease } from '../catalog/catalog.ts'
import { checkEtcdPath } from '../catalog/etcd-path.ts'
import type { Lock } from '../catalog/lock.ts'
import { findRemovedManifests, type KeptManifest } from '../catalog/removed-kinds.ts'
import { changesControlPlanes, type ClusterVersions, planUpgradeSteps } from '../catalog/upgrade-steps.ts'
import type { Finding } from '../contract/finding.ts'
import { type Cluster, isWorkerHost, readWorkersVersion } from '../spec/cluster.ts'
import { readAddonSources } from '../workspace/addon-sources.ts'
import type { ClusterFiles, WorkspaceContext } from '../workspace/context.ts'
import { readCheckedCluster } from '../workspace/load-cluster.ts'
import { renderCharts } from '../workspace/render-charts.ts'
import { setVersions } from '../workspace/set-versions.ts'

/** One state of a cluster during an upgrade. It is rolled out completely before the next one. */
export interface UpgradeStep extends ClusterVersions {
  readonly etcd: string
  /** True if cluster.yml already describes this state. Such a step finishes an interrupted upgrade. */
  readonly isCurrent: boolean
  /** True if the step changes control planes. Such a step cannot be undone, so a snapshot is saved first. */
  readonly needsSnapshot: boolean
}

export interface UpgradePlan {
  readonly from: ClusterVersions
  readonly steps: readonly UpgradeStep[]
}

/** Versions that run now, without a leading v. */
export interface RunningCluster {
  readonly servers: readonly string[]
  /** Kubelet versions by node name. */
  readonly kubelets: ReadonlyMap<string, string>
}

/**
 * Plans the states from cluster.yml to the last version of the path. The first step applies the current
 * cluster.yml if hosts may not have its versions yet, or if there is no other step.
 */
export function planUpgrade(
  catalog: Catalog,
  cluster: Cluster,
  path: readonly string[],
  running: RunningCluster | undefined,
): UpgradePlan {
  const from = { kubernetes: cluster.spec.kubernetes, workers: readWorkersVersion(cluster) }
  const states = planUpgradeSteps(from, path)
  const isFinished = running !== undefined && hasVersions(cluster, running)
  const resumed = states.length > 0 && isFinished ? [] : [buildStep(catalog, from, from, true)]
  const next = states.map((state, index) => buildStep(catalog, states[index - 1] ?? from, state, false))
  return { from, steps: [...resumed, ...next] }
}

function buildStep(
  catalog: Catalog,
  before: ClusterVersions,
  state: ClusterVersions,
  isCurrent: boolean,
): UpgradeStep {
  const { etcd } = findKubernetesRelease(catalog, state.kubernetes)
  return { ...state, etcd, isCurrent, needsSnapshot: !isCurrent && changesControlPlanes(before, state) }
}

/**
 * True if all API servers and kubelets have the versions of cluster.yml. A control plane updates its kubelet
 * last, so its other components then have their versions too.
 */
function hasVersions(cluster: Cluster, { servers, kubelets }: RunningCluster): boolean {
  const { kubernetes, hosts } = cluster.spec
  const nodes = hosts.filter(({ roles }) => roles.some((role) => role !== 'etcd'))
  return (
    servers.every((version) => version === kubernetes) &&
    nodes.every((host) => {
      const desired = isWorkerHost(host) ? readWorkersVersion(cluster) : kubernetes
      return kubelets.get(host.nodeName ?? host.name) === desired
    })
  )
}

export interface CheckPathDeps {
  readonly context: WorkspaceContext
  readonly files: ClusterFiles
  readonly catalog: Catalog
}

/**
 * Finds what an upgrade would break: settings in cluster.yml, the path of etcd versions, and APIs that addons
 * use. A setting is reported once, for the first version that does not accept it.
 */
export async function checkUpgradePath(
  { context, files, catalog }: CheckPathDeps,
  cluster: Cluster,
  lock: Lock,
  { steps }: UpgradePlan,
): Promise<readonly Finding[]> {
  const text = await context.readFile(files.file)
  const next = steps.filter(({ isCurrent }) => !isCurrent)
  const problems = new Map<string, Finding>()
  for (const step of next) {
    const { findings } = await readCheckedCluster(
      context,
      { file: files.file, text: setVersions(text, step) },
      catalog,
    )
    for (const finding of findings.filter(({ severity }) => severity === 'error')) {
      // Messages differ by versions, but also by the name of one of several feature gates in a setting.
      const withoutVersions = finding.message.replaceAll(/\d+(?:\.\d+)+/g, '')
      const key = `${finding.code} ${finding.path ?? ''} ${withoutVersions}`
      if (!problems.has(key)) problems.set(key, finding)
    }
  }
  const etcd = lock.artifacts.find(({ component }) => component === 'etcd')?.version
  const last = next.at(-1)
  return [
    ...problems.values(),
    ...(etcd === undefined ? [] : checkEtcdPath(etcd, next)),
    ...(last === undefined
      ? []
      : findRemovedManifests(
          last.kubernetes,
          await listAddonManifests(context, files, setKubernetes(cluster, last.kubernetes), lock),
        )),
  ]
}

const manifestHeader = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
})

/** Sets the Kubernetes version, because charts choose the versions of their objects by it. */
function setKubernetes(cluster: Cluster, kubernetes: string): Cluster {
  return { ...cluster, spec: { ...cluster.spec, kubernetes } }
}

/** Lists the objects of the operator's own addons. Skips invalid documents, because `up` reports them. */
async function listAddonManifests(
  context: WorkspaceContext,
  files: ClusterFiles,
  cluster: Cluster,
  lock: Lock,
): Promise<readonly KeptManifest[]> {
  const sources = await readAddonSources(context, files, cluster)
  const charts = await renderCharts(context, { files, cluster, lock })
  const rendered = [...charts].map(([addon, { text }]) => [`chart of addon ${addon}`, text] as const)
  return [...sources, ...rendered].flatMap(([source, text]) =>
    parseAllDocuments(text).flatMap((document) => {
      const parsed = manifestHeader.safeParse(document.toJS({ maxAliasCount: 100 }))
      if (!parsed.success) return []
      const { apiVersion, kind, metadata } = parsed.data
      return [{ apiVersion, kind, name: metadata.name, source }]
    }),
  )
}
