import { z } from 'zod'
import type { Os } from '../catalog/artifacts.ts'
import { findKubernetesRelease } from '../catalog/catalog.ts'
import { checkArgs } from '../catalog/check-args.ts'
import { checkFeatureGates } from '../catalog/feature-gates.ts'
import type { ProgramName } from '../catalog/program-flags.ts'
import { compareVersions, parseVersion } from '../catalog/version.ts'
import type { Finding } from '../contract/finding.ts'
import { formatError, hasCode, HyperkubeError } from '../kit/errors.ts'
import { maxKubeletSkew } from '../kit/version-skew.ts'
import type { ClusterRule, Problem } from '../spec/check-cluster.ts'
import { type Cluster, isWorkerHost, readWorkersVersion } from '../spec/cluster.ts'
import type { Path, SourceText } from '../spec/document.ts'
import { readCluster, type ReadClusterResult } from '../spec/read-cluster.ts'
import type { WorkspaceContext } from './context.ts'

/** Reads and checks cluster.yml, also against the catalog and the controllers of this release. */
export async function loadCluster(context: WorkspaceContext, file: string): Promise<ReadClusterResult> {
  return readCheckedCluster(await readClusterSource(context, file))
}

export async function readCheckedCluster(source: SourceText): Promise<ReadClusterResult> {
  // Loading the controllers is slow. Their rules are needed only if cluster.yml mentions controllers or
  // snapshots.
  const mentionsControllers = /controllers|snapshots/.test(source.text)
  const extraRules = mentionsControllers ? (await import('./controller-rules.ts')).controllerRules : []
  return readCluster(source, [...catalogRules, ...extraRules])
}

const catalogRules: readonly ClusterRule[] = [checkVersions, checkWorkersVersion, checkFlags]

function checkVersions(cluster: Pick<Cluster, 'spec'>): Problem[] {
  const { kubernetes, workers } = cluster.spec
  return [
    ...checkVersion(kubernetes, ['spec', 'kubernetes']),
    ...(workers.kubernetes === undefined
      ? []
      : checkVersion(workers.kubernetes, ['spec', 'workers', 'kubernetes'])),
  ]
}

function checkVersion(version: string, path: Path): Problem[] {
  try {
    findKubernetesRelease(version)
    return []
  } catch (error) {
    if (!(error instanceof HyperkubeError)) throw error
    const { code, hint } = error
    return [
      { code, severity: 'error', path, message: formatError(error), ...(hint === undefined ? {} : { hint }) },
    ]
  }
}

/** Checks that the version of workers fits Kubernetes' skew policy, and that the source has both versions. */
function checkWorkersVersion({ spec }: Cluster): Problem[] {
  const { kubernetes, workers, artifacts } = spec
  if (workers.kubernetes === undefined) return []
  const path = ['spec', 'workers', 'kubernetes']
  const problem = (code: string, message: string, hint: string): Problem[] => [
    { code, severity: 'error', path, message, hint },
  ]
  if (compareVersions(workers.kubernetes, kubernetes) > 0) {
    const message = `workers must not be newer than the control planes, which have ${kubernetes}`
    return problem('SPEC_WORKERS_VERSION', message, 'remove it, or set spec.kubernetes first')
  }
  if (parseVersion(kubernetes)[1] - parseVersion(workers.kubernetes)[1] > maxKubeletSkew) {
    const message = `workers may be at most ${maxKubeletSkew} minors older than the control planes, which have ${kubernetes}`
    return problem('SPEC_WORKERS_VERSION', message, 'upgrade workers first: hyperkube upgrade --to VERSION')
  }
  if (workers.kubernetes !== kubernetes && artifacts !== 'upstream' && 'bundle' in artifacts) {
    const message = 'a bundle has the files of one Kubernetes version'
    return problem('SPEC_WORKERS_VERSION', message, 'remove it, or use a mirror in spec.artifacts')
  }
  return []
}

const programs: Readonly<Record<string, ProgramName>> = {
  etcd: 'etcd',
  apiServer: 'kube-apiserver',
  controllerManager: 'kube-controller-manager',
  scheduler: 'kube-scheduler',
  kubelet: 'kubelet',
  kubeProxy: 'kube-proxy',
  flanneld: 'flanneld',
}

interface ComponentSettings {
  readonly args?: Readonly<Record<string, string>> | undefined
  /** Part of the component's configuration file. */
  readonly config?: Readonly<Record<string, unknown>> | undefined
}

type WithArgs = Readonly<Record<string, ComponentSettings | undefined>>

function checkFlags(cluster: Cluster): Problem[] {
  if (checkVersions(cluster).length > 0) return []
  const { spec } = cluster
  const { containerd: _, kubelet, kubeProxy, flanneld, ...ofControlPlanes } = spec.components
  const workersVersion = readWorkersVersion(cluster)
  const path = ['spec', 'components']
  return [
    // These flags apply to all hosts. Every cluster has Linux hosts, so flags that exist only on Windows are
    // rejected.
    ...findFlagProblems(ofControlPlanes, path, spec.kubernetes, 'linux'),
    ...[...new Set([spec.kubernetes, workersVersion])].flatMap((version) =>
      findFlagProblems({ kubelet, kubeProxy, flanneld }, path, version, 'linux'),
    ),
    ...spec.hosts.flatMap((host, index) =>
      findFlagProblems(
        host.components ?? {},
        ['spec', 'hosts', index, 'components'],
        isWorkerHost(host) ? workersVersion : spec.kubernetes,
        host.os,
      ),
    ),
  ]
}

function findFlagProblems(components: WithArgs, path: Path, version: string, os: Os): Problem[] {
  return Object.entries(programs).flatMap(([name, program]) => {
    const { args = {}, config = {} } = components[name] ?? {}
    const gates = Object.keys(gatesSchema.safeParse(config['featureGates']).data ?? {})
    return [
      ...Object.entries(args).flatMap(([flag, value]) =>
        checkArgs(program, { [flag]: value }, version, os).map(toProblem([...path, name, 'args', flag])),
      ),
      ...checkFeatureGates(program, gates, version).map(toProblem([...path, name, 'config', 'featureGates'])),
    ]
  })
}

const gatesSchema = z.record(z.string(), z.unknown())

function toProblem(path: Path): (finding: Finding) => Problem {
  return ({ code, severity, message, hint }) => ({
    code,
    severity,
    message,
    ...(hint === undefined ? {} : { hint }),
    path,
  })
}

/** Reads the text of cluster.yml. Throws an error with a hint if it cannot be read. */
export async function readClusterSource({ readFile }: WorkspaceContext, file: string): Promise<SourceText> {
  try {
    return { file, text: await readFile(file) }
  } catch (cause) {
    const isMissing = hasCode(cause, 'ENOENT')
    throw new HyperkubeError('SPEC_NOT_READ', `${file} ${isMissing ? 'does not exist' : 'cannot be read'}`, {
      hint: isMissing
        ? 'run the command in the directory of cluster.yml, or add -f FILE; for a new cluster: hyperkube init'
        : `check the permissions: ls -l ${file}`,
      ...(isMissing ? {} : { cause }),
    })
  }
}
