import { catalogFor, releases } from '../catalog/catalog.ts'
import { checkArgs } from '../catalog/check-args.ts'
import type { Program } from '../catalog/program-flags.ts'
import type { Os } from '../catalog/artifact-target.ts'
import { describe, HyperkubeError } from '../kit/errors.ts'
import type { Problem, Rule } from '../spec/check-cluster.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { Path, Source } from '../spec/document.ts'
import { readCluster, type ReadCluster } from '../spec/read-cluster.ts'
import type { Context } from './command.ts'
import { readSource } from './read-source.ts'

/** Reads a cluster.yml, and holds it also against what catalog and controllers know. */
export async function loadCluster(context: Context, file: string): Promise<ReadCluster> {
  return readChecked(await readSource(context, file))
}

export async function readChecked(source: Source): Promise<ReadCluster> {
  // All controllers are much to load for the many files that name none.
  const isAboutControllers = /controllers|snapshots/.test(source.text)
  const more = isAboutControllers ? (await import('./controller-rules.ts')).controllerRules : []
  return readCluster(source, [...catalogRules, ...more])
}

const catalogRules: readonly Rule[] = [knownVersion, existingFlags]

function knownVersion({ spec }: Cluster): Problem[] {
  try {
    catalogFor(spec.kubernetes)
    return []
  } catch (error) {
    if (!(error instanceof HyperkubeError)) throw error
    const { code, hint } = error
    const path = ['spec', 'kubernetes']
    return [
      { code, severity: 'error', path, message: describe(error), ...(hint === undefined ? {} : { hint }) },
    ]
  }
}

const programs: Readonly<Record<string, Program>> = {
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

function existingFlags({ spec }: Cluster): Problem[] {
  if (!releases.some(({ kubernetes }) => kubernetes === spec.kubernetes)) return []
  const { containerd: _, ...withArgs } = spec.components
  return [
    // These go to all hosts, and a cluster has Linux hosts: what only Windows knows does not belong here.
    ...wrongFlags(withArgs, ['spec', 'components'], spec.kubernetes, 'linux'),
    ...spec.hosts.flatMap(({ components, os }, index) =>
      wrongFlags(components ?? {}, ['spec', 'hosts', index, 'components'], spec.kubernetes, os),
    ),
  ]
}

function wrongFlags(components: WithArgs, path: Path, version: string, os: Os): Problem[] {
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
