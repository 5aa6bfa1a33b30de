import { findFlags, type KnownFlags } from '../../catalog/known-flags.ts'
import type { ProgramName } from '../../catalog/program-flags.ts'
import type { Finding } from '../../contract/finding.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { ServiceSpec } from '../../contract/service.ts'
import { ownedFlags } from './owned-flags-table.ts'

/**
 * Reports flags in plans that the planned program does not have, once for each flag. A catalog can contain a
 * minor that is newer than this release of hyperkube. That minor may have removed a flag that hyperkube sets.
 */
export function checkPlannedFlags(plans: readonly NodePlan[], flags: KnownFlags): readonly Finding[] {
  const findings = new Map<string, Finding>()
  for (const { os, components } of plans) {
    for (const { name, version, service } of components) {
      if (!isProgram(name) || version === undefined || service === undefined) continue
      const linuxFlags = findFlags(flags, name, version)
      if (linuxFlags === undefined) continue
      const known = os === 'windows' ? { ...linuxFlags, ...flags.windows[name] } : linuxFlags
      for (const flag of listServiceFlags(service)) {
        if (!Object.hasOwn(known, flag)) findings.set(`${name} ${flag}`, buildFinding(name, version, flag))
      }
    }
  }
  return [...findings.values()]
}

function isProgram(component: string): component is ProgramName {
  return Object.hasOwn(ownedFlags, component)
}

/** Lists the flags in the command of a service. In a unit, each argument has its own line. */
function listServiceFlags(service: ServiceSpec): readonly string[] {
  return service.supervisor === 'systemd'
    ? [...service.unit.matchAll(/^ {2}"?--([\w.-]+)=/gm)].map(([, flag = '']) => flag)
    : service.arguments.flatMap((word) => /^--([\w.-]+)=/.exec(word)?.[1] ?? [])
}

function buildFinding(program: ProgramName, version: string, flag: string): Finding {
  return {
    code: 'PLAN_FLAG_MISSING',
    severity: 'error',
    component: program,
    message: `this release of hyperkube sets --${flag}, which ${program} ${version} does not have`,
    hint: 'use a newer release of hyperkube, or another version in spec.kubernetes: hyperkube catalog list',
  }
}
