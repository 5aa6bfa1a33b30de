import type { Os } from '../catalog/artifacts.ts'
import { findKubernetesRelease } from '../catalog/catalog.ts'
import { checkArgs } from '../catalog/check-args.ts'
import type { ProgramName } from '../catalog/program-flags.ts'
import { formatError, hasCode, HyperkubeError } from '../kit/errors.ts'
import type { ClusterRule, Problem } from '../spec/check-cluster.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { Path, SourceText } from '../spec/document.ts'
import { readCluster, type ReadClusterResult } from '../spec/read-cluster.ts'
import type { WorkspaceContext } from './context.ts'
import { checkHeldUpgrade } from './held-upgrade-rule.ts'

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

const catalogRules: readonly ClusterRule[] = [checkVersion, checkFlags, checkHeldUpgrade]

function checkVersion({ spec }: Pick<Cluster, 'spec'>): Problem[] {
  try {
    findKubernetesRelease(spec.kubernetes)
    return []
  } catch (error) {
    if (!(error instanceof HyperkubeError)) throw error
    const { code, hint } = error
    const path = ['spec', 'kubernetes']
    return [
      { code, severity: 'error', path, message: formatError(error), ...(hint === undefined ? {} : { hint }) },
    ]
  }
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

type WithArgs = Readonly<
  Record<string, { readonly args?: Readonly<Record<string, string>> | undefined } | undefined>
>

function checkFlags({ spec }: Cluster): Problem[] {
  if (checkVersion({ spec }).length > 0) return []
  const { containerd: _, ...withArgs } = spec.components
  return [
    // These flags apply to all hosts. Every cluster has Linux hosts, so flags that exist only on Windows are
    // rejected.
    ...findFlagProblems(withArgs, ['spec', 'components'], spec.kubernetes, 'linux'),
    ...spec.hosts.flatMap(({ components, os }, index) =>
      findFlagProblems(components ?? {}, ['spec', 'hosts', index, 'components'], spec.kubernetes, os),
    ),
  ]
}

function findFlagProblems(components: WithArgs, path: Path, version: string, os: Os): Problem[] {
  return Object.entries(programs).flatMap(([name, program]) =>
    Object.entries(components[name]?.args ?? {}).flatMap(([flag, value]) =>
      checkArgs(program, { [flag]: value }, version, os).map(({ code, severity, message, hint }) => ({
        code,
        severity,
        message,
        ...(hint === undefined ? {} : { hint }),
        path: [...path, name, 'args', flag],
      })),
    ),
  )
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
