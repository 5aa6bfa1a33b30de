import type { ProgramName } from '../../catalog/program-flags.ts'
import type { Finding } from '../../contract/finding.ts'
import type { Args } from '../args.ts'
import type { ClusterCheck, HostCheck } from './check.ts'
import { type OwnedFlags, ownedFlags } from './owned-flags-table.ts'

/** Finds flags in cluster.yml that only hyperkube may set. */
export const checkClusterFlags: ClusterCheck = ({ cluster }) => {
  const { components } = cluster.spec
  const findings = (program: ProgramName, name: Exclude<keyof typeof components, 'containerd'>): Finding[] =>
    flagFindings(program, components[name].args, `spec.components.${name}`)
  return [
    ...findings('etcd', 'etcd'),
    ...findings('kube-apiserver', 'apiServer'),
    ...findings('kube-controller-manager', 'controllerManager'),
    ...findings('kube-scheduler', 'scheduler'),
    ...findings('kubelet', 'kubelet'),
    ...findings('kube-proxy', 'kubeProxy'),
    ...findings('flanneld', 'flanneld'),
    ...findings('kube-router', 'kubeRouter'),
  ]
}

export const checkHostFlags: HostCheck = ({ host, index }) => {
  const { kubelet, kubeProxy } = host.components ?? {}
  const path = `spec.hosts[${index}].components`
  return [
    ...flagFindings('kubelet', kubelet?.args ?? {}, `${path}.kubelet`),
    ...flagFindings('kube-proxy', kubeProxy?.args ?? {}, `${path}.kubeProxy`),
  ].map((finding) => ({ ...finding, host: host.name }))
}

function flagFindings(program: ProgramName, args: Args, path: string): Finding[] {
  return Object.keys(args).flatMap((flag): Finding[] => {
    const where = { severity: 'error', component: program, path: `${path}.args.${flag}` } as const
    const owned = findOwnership(ownedFlags[program], flag)
    if (owned === undefined) return []
    const message = `hyperkube manages --${flag} of ${program}`
    const hint = owned.setting === undefined ? 'remove it' : `use ${owned.setting} instead`
    return [{ code: 'FLAG_OWNED', ...where, message, hint }]
  })
}

function findOwnership(
  { settings, others }: OwnedFlags,
  flag: string,
): { readonly setting?: string } | undefined {
  const [, setting] = Object.entries(settings).find(([pattern]) => matchesFlag(pattern, flag)) ?? []
  if (setting !== undefined) return { setting }
  return others.some((pattern) => matchesFlag(pattern, flag)) ? {} : undefined
}

export function matchesFlag(pattern: string, flag: string): boolean {
  return pattern.endsWith('*') ? flag.startsWith(pattern.slice(0, -1)) : flag === pattern
}
