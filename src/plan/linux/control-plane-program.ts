import type { ControlPlaneProgram } from '../../catalog/artifacts.ts'
import { emulationFlag } from '../../catalog/held-upgrade.ts'
import { toMinor } from '../../catalog/version.ts'
import type { PlannedArtifact } from '../../contract/component-plan.ts'
import type { Args } from '../args.ts'
import type { LinuxPlanContext } from '../context.ts'
import { planDownload } from '../files.ts'
import { linuxProgramDirectory } from './paths.ts'

export interface PlannedProgram {
  readonly version: string
  readonly directory: string
  readonly artifacts: PlannedArtifact[]
  /** Flags that only a held upgrade needs; otherwise empty. */
  readonly args: Args
}

/**
 * Plans a program of the control plane. During a held upgrade it is the program of the new version, which
 * emulates the previous minor: it serves and stores only what the previous version can read. The program of
 * the previous version stays on the host, so that a rollback needs no download.
 */
export function planControlPlaneProgram(
  context: LinuxPlanContext,
  name: ControlPlaneProgram,
): PlannedProgram {
  const { heldUpgrade, kubernetes } = context.cluster.spec
  const unpack = { kind: 'program', as: name } as const
  const current = planDownload(context, name, linuxProgramDirectory, unpack)
  if (heldUpgrade === undefined) {
    return { version: current.version, directory: current.directory, artifacts: [current], args: {} }
  }
  const next = planDownload({ ...context, locked: context.held }, name, linuxProgramDirectory, unpack)
  // The flag for the minimum compatibility version is not set. The program then derives this version from the
  // emulated minor, as the previous version does.
  return {
    version: next.version,
    directory: next.directory,
    artifacts: [next, current],
    args: { [emulationFlag]: toMinor(kubernetes) },
  }
}
