import { controlPlanePrograms } from '../catalog/artifacts.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { checkArgs } from '../catalog/check-args.ts'
import { emulationFlag, findHoldProblem } from '../catalog/held-upgrade.ts'
import type { Problem } from '../spec/check-cluster.ts'
import type { Cluster } from '../spec/cluster.ts'

const path = ['spec', 'heldUpgrade']

/**
 * Checks that this release can hold the upgrade. Also checks that the held programs accept the flags of
 * cluster.yml.
 */
export function checkHeldUpgrade(catalog: Catalog, { spec }: Pick<Cluster, 'spec'>): Problem[] {
  if (spec.heldUpgrade === undefined) return []
  const { to } = spec.heldUpgrade
  const unsupported = findHoldProblem(catalog, { from: spec.kubernetes, to })
  if (unsupported !== undefined) {
    const { code, message, hint } = unsupported
    return [{ code, severity: 'error', path, message, ...(hint === undefined ? {} : { hint }) }]
  }
  return [
    ...checkSource(spec),
    ...checkWorkers(spec),
    ...controlPlanePrograms.flatMap((program) => checkProgram(catalog, spec, program)),
  ]
}

/**
 * Refuses to hold an upgrade from a bundle. A bundle has one version of each file, but a held upgrade needs
 * two.
 */
function checkSource({ artifacts }: Cluster['spec']): Problem[] {
  if (artifacts === 'upstream' || !('bundle' in artifacts)) return []
  return [
    {
      code: 'UPGRADE_HOLD_BUNDLE',
      severity: 'error',
      path,
      message: 'an upgrade from an air-gap bundle cannot be held: a bundle has one version of each file',
      hint: 'use a mirror in spec.artifacts, or upgrade without --hold',
    },
  ]
}

/**
 * Refuses to hold an upgrade while workers are older than the control planes. These workers could be more
 * than one minor behind the held programs.
 */
function checkWorkers({ kubernetes, workers }: Cluster['spec']): Problem[] {
  if (workers.kubernetes === undefined || workers.kubernetes === kubernetes) return []
  return [
    {
      code: 'UPGRADE_HOLD_WORKERS',
      severity: 'error',
      path,
      message: `an upgrade cannot be held while workers have Kubernetes ${workers.kubernetes}`,
      hint: `bring workers to the version of the control planes first: hyperkube upgrade --to ${kubernetes}`,
    },
  ]
}

type Program = (typeof controlPlanePrograms)[number]

const sections = {
  'kube-apiserver': 'apiServer',
  'kube-controller-manager': 'controllerManager',
  'kube-scheduler': 'scheduler',
} as const satisfies Record<Program, keyof Cluster['spec']['components']>

/**
 * Flags that change which APIs an emulating program serves. With them, the held upgrade might not be
 * reversible.
 */
const emulationFlags = [
  emulationFlag,
  'min-compatibility-version',
  'emulation-forward-compatible',
  'runtime-config-emulation-forward-compatible',
]

function checkProgram(catalog: Catalog, spec: Cluster['spec'], program: Program): Problem[] {
  const section = sections[program]
  const { args } = spec.components[section]
  const locate = (flag: string) => ['spec', 'components', section, 'args', flag]
  const conflicts = emulationFlags
    .filter((flag) => Object.hasOwn(args, flag))
    .map((flag): Problem => ({
      code: 'UPGRADE_HOLD_FLAG',
      severity: 'error',
      path: locate(flag),
      message: `--${flag} cannot be set while an upgrade is held`,
      hint: 'remove it, or upgrade without --hold',
    }))
  const refused = Object.entries(args).flatMap(([flag, value]) =>
    checkArgs(catalog, program, { [flag]: value }, spec.heldUpgrade?.to ?? spec.kubernetes, 'linux').map(
      ({ code, severity, message, hint }): Problem => ({
        code,
        severity,
        message,
        path: locate(flag),
        ...(hint === undefined ? {} : { hint }),
      }),
    ),
  )
  return [...conflicts, ...refused]
}
