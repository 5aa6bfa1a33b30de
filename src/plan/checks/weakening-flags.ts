import type { ProgramName } from '../../catalog/program-flags.ts'
import type { Finding } from '../../contract/finding.ts'

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
export function findWeakness(program: ProgramName, flag: string, value: string): Weakness | undefined {
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
