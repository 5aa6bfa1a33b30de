import type { Program } from '../../catalog/program-flags.ts'
import type { Finding } from '../../contract/finding.ts'

type Weakness = Pick<Finding, 'message' | 'hint'>

/** Flags that a person may set, but not to every value. */
const rules: Partial<Record<Program, Readonly<Record<string, (value: string) => Weakness | undefined>>>> = {
  etcd: {
    'unsafe-no-fsync': (value) =>
      value === 'false'
        ? undefined
        : { message: 'without fsync etcd loses what it promised to keep', hint: 'take it out' },
  },
  'kube-apiserver': {
    'authorization-mode': authorizationMode,
    'disable-admission-plugins': (value) =>
      disabled(value, 'NodeRestriction', 'a node could then change any other', 'leave NodeRestriction on') ??
      disabled(
        value,
        'PodSecurity',
        'spec.security.podSecurity then has no effect',
        'spec.security.podSecurity: privileged',
      ),
  },
}

/** What is lost by a value of a flag, if anything is. */
export function weakening(program: Program, flag: string, value: string): Weakness | undefined {
  const ofProgram = rules[program]
  return ofProgram !== undefined && Object.hasOwn(ofProgram, flag) ? ofProgram[flag]?.(value) : undefined
}

function authorizationMode(value: string): Weakness | undefined {
  const modes = list(value)
  const hint = 'authorization-mode: Node,RBAC, and what you add to them'
  if (modes.includes('AlwaysAllow')) return { message: 'AlwaysAllow lets everybody do everything', hint }
  const missing = ['Node', 'RBAC'].filter((mode) => !modes.includes(mode))
  if (missing.length === 0) return undefined
  return { message: `authorization-mode ${value} lacks ${missing.join(' and ')}`, hint }
}

function disabled(value: string, plugin: string, loss: string, hint: string): Weakness | undefined {
  return list(value).includes(plugin) ? { message: `${plugin} is disabled: ${loss}`, hint } : undefined
}

function list(value: string): string[] {
  return value.split(',').map((entry) => entry.trim())
}
