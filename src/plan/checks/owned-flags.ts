import type { Program } from '../../catalog/program-flags.ts'
import type { Finding } from '../../contract/finding.ts'
import type { Args } from '../args.ts'
import type { ClusterCheck, HostCheck } from './check.ts'
import { type OwnedFlags, ownedFlags } from './owned-flags-table.ts'
import { weakening } from './weakening-flags.ts'

/** Flags of the whole cluster that would take the ground from under hyperkube. */
export const clusterFlags: ClusterCheck = ({ cluster }) => {
  const { components } = cluster.spec
  const findings = (program: Program, name: Exclude<keyof typeof components, 'containerd'>): Finding[] =>
    flagFindings(program, components[name].args, `spec.components.${name}`)
  return [
    ...findings('etcd', 'etcd'),
    ...findings('kube-apiserver', 'apiServer'),
    ...findings('kube-controller-manager', 'controllerManager'),
    ...findings('kube-scheduler', 'scheduler'),
    ...findings('kubelet', 'kubelet'),
    ...findings('kube-proxy', 'kubeProxy'),
    ...findings('flanneld', 'flanneld'),
  ]
}

export const hostFlags: HostCheck = ({ host, index }) => {
  const { kubelet, kubeProxy } = host.components ?? {}
  const path = `spec.hosts[${index}].components`
  return [
    ...flagFindings('kubelet', kubelet?.args ?? {}, `${path}.kubelet`),
    ...flagFindings('kube-proxy', kubeProxy?.args ?? {}, `${path}.kubeProxy`),
  ].map((finding) => ({ ...finding, host: host.name }))
}

function flagFindings(program: Program, args: Args, path: string): Finding[] {
  return Object.entries(args).flatMap(([flag, value]): Finding[] => {
    const where = { severity: 'error', component: program, path: `${path}.args.${flag}` } as const
    const weak = weakening(program, flag, value)
    if (weak !== undefined) return [{ code: 'FLAG_WEAKENS', ...where, ...weak }]
    const owned = ownership(ownedFlags[program], flag)
    if (owned === undefined) return []
    const message = `hyperkube sets --${flag} of ${program} itself and depends on it`
    const hint = owned.setting === undefined ? 'take it out' : `use ${owned.setting} instead`
    return [{ code: 'FLAG_OWNED', ...where, message, hint }]
  })
}

function ownership(
  { settings, others }: OwnedFlags,
  flag: string,
): { readonly setting?: string } | undefined {
  const [, setting] = Object.entries(settings).find(([pattern]) => matches(pattern, flag)) ?? []
  if (setting !== undefined) return { setting }
  return others.some((pattern) => matches(pattern, flag)) ? {} : undefined
}

export function matches(pattern: string, flag: string): boolean {
  return pattern.endsWith('*') ? flag.startsWith(pattern.slice(0, -1)) : flag === pattern
}
