import type { ProgramName } from '../../catalog/program-flags.ts'
import type { Finding } from '../../contract/finding.ts'
import type { Args } from '../args.ts'
import type { ClusterCheck, HostCheck } from './check.ts'
import { type OwnedFlags, ownedFlags } from './owned-flags-table.ts'

/** Finds flags in cluster.yml that only hyperkube may set or that weaken security. */
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
  return Object.entries(args).flatMap(([flag, value]): Finding[] => {
    const where = { severity: 'error', component: program, path: `${path}.args.${flag}` } as const
    const weak = findWeakness(program, flag, value)
    if (weak !== undefined) return [{ code: 'FLAG_WEAKENS', ...where, ...weak }]
    const owned = findOwnership(ownedFlags[program], flag)
    if (owned === undefined) return []
    const message = `hyperkube sets --${flag} of ${program} itself and depends on it`
    const hint = owned.setting === undefined ? 'take it out' : `use ${owned.setting} instead`
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

type Weakness = Pick<Finding, 'message' | 'hint'>

/** Rules for flags of which some values weaken security. */
const rules: Partial<Record<ProgramName, Readonly<Record<string, (value: string) => Weakness | undefined>>>> =
  {
    etcd: {
      'unsafe-no-fsync': (value) =>
        value === 'false'
          ? undefined
          : { message: 'without fsync etcd loses what it promised to keep', hint: 'take it out' },
    },
    'kube-apiserver': {
      'authorization-mode': checkAuthorizationMode,
      'disable-admission-plugins': (value) =>
        checkDisabledPlugin(
          value,
          'NodeRestriction',
          'a node could then change any other',
          'leave NodeRestriction on',
        ) ??
        checkDisabledPlugin(
          value,
          'PodSecurity',
          'spec.security.podSecurity then has no effect',
          'spec.security.podSecurity: privileged',
        ),
    },
  }

/** Returns how a flag value weakens security, or undefined if it does not. */
function findWeakness(program: ProgramName, flag: string, value: string): Weakness | undefined {
  const programRules = rules[program]
  return programRules !== undefined && Object.hasOwn(programRules, flag)
    ? programRules[flag]?.(value)
    : undefined
}

function checkAuthorizationMode(value: string): Weakness | undefined {
  const modes = splitList(value)
  const hint = 'authorization-mode: Node,RBAC, and what you add to them'
  if (modes.includes('AlwaysAllow')) return { message: 'AlwaysAllow lets everybody do everything', hint }
  const missing = ['Node', 'RBAC'].filter((mode) => !modes.includes(mode))
  if (missing.length === 0) return undefined
  return { message: `authorization-mode ${value} lacks ${missing.join(' and ')}`, hint }
}

function checkDisabledPlugin(
  value: string,
  plugin: string,
  loss: string,
  hint: string,
): Weakness | undefined {
  return splitList(value).includes(plugin) ? { message: `${plugin} is disabled: ${loss}`, hint } : undefined
}

function splitList(value: string): string[] {
  return value.split(',').map((entry) => entry.trim())
}
