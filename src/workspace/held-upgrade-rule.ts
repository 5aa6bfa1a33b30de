import { controlPlanePrograms } from '../catalog/artifacts.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { emulationFlag, findHoldProblem } from '../catalog/held-upgrade.ts'
import type { Problem } from '../spec/check-cluster.ts'
import type { Cluster } from '../spec/cluster.ts'
import { findFlagProblems } from './flag-problems.ts'

const path = ['spec', 'heldUpgrade']

/**
 * Checks that this release can hold the upgrade. Also checks that the held programs accept the flags of
 * cluster.yml.
 */
export function checkHeldUpgrade(catalog: Catalog, { spec }: Pick<Cluster, 'spec'>): Problem[] {
  if (spec.heldUpgrade === undefined) return []
  const { to } = spec.heldUpgrade
  const { apiServer, controllerManager, scheduler } = spec.components
  const unsupported = findHoldProblem(catalog, { from: spec.kubernetes, to })
  if (unsupported !== undefined) {
    const { code, message, hint } = unsupported
    return [{ code, severity: 'error', path, message, ...(hint === undefined ? {} : { hint }) }]
  }
  return [
    ...checkSource(spec),
    ...checkWorkers(spec),
    ...controlPlanePrograms.flatMap((program) => findEmulationFlags(spec, program)),
    ...findFlagProblems(
      catalog,
      { apiServer, controllerManager, scheduler },
      ['spec', 'components'],
      to,
      'linux',
    ),
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

function findEmulationFlags(spec: Cluster['spec'], program: Program): Problem[] {
  const section = sections[program]
  return emulationFlags
    .filter((flag) => Object.hasOwn(spec.components[section].args, flag))
    .map((flag) => ({
      code: 'UPGRADE_HOLD_FLAG',
      severity: 'error',
      path: ['spec', 'components', section, 'args', flag],
      message: `--${flag} cannot be set while an upgrade is held`,
      hint: 'remove it, or upgrade without --hold',
    }))
}
