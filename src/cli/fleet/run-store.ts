import { dirname, join } from 'node:path'
import { readVersioned } from '../../contract/versioned.ts'
import { type FleetCommand, type FleetRun, fleetRunFormat } from '../../fleet/fleet-run.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import { isHolderGone, isProcessAlive } from '../../workspace/lock-holder.ts'
import type { CommandContext } from '../command/command.ts'

type StoreContext = Pick<
  CommandContext,
  'stateDirectory' | 'readFile' | 'replaceFile' | 'makePrivateDirectory' | 'operator'
>

/** The file with the last run of a command over a fleet. */
export interface FleetRunStore {
  readonly path: string
  readonly load: () => Promise<FleetRun | undefined>
  readonly save: (run: FleetRun) => Promise<void>
}

/** Opens hyperkube/fleets/FLEET/COMMAND.json in the operator's state directory. */
export function openRunStore(context: StoreContext, fleet: string, command: FleetCommand): FleetRunStore {
  const path = join(context.stateDirectory(), 'hyperkube', 'fleets', fleet, `${command}.json`)
  return {
    path,
    async load() {
      try {
        return readVersioned(fleetRunFormat, JSON.parse(await context.readFile(path)))
      } catch (cause) {
        if (hasCode(cause, 'ENOENT')) return undefined
        throw new HyperkubeError('FLEET_RUN_NOT_READ', `cannot read the last run in ${path}`, {
          hint: `to begin a new run: rm ${path}`,
          cause,
        })
      }
    },
    async save(run) {
      await context.makePrivateDirectory(dirname(path))
      await context.replaceFile(path, `${JSON.stringify(run, undefined, 2)}\n`, 0o600)
    },
  }
}

/** Throws if another process is working on the run. */
export function requireInactive(
  { operator }: Pick<CommandContext, 'operator'>,
  { state, holder }: FleetRun,
  path: string,
): void {
  if (state !== 'running' || isHolderGone(holder, operator, isProcessAlive)) return
  throw new HyperkubeError('FLEET_RUN_ACTIVE', `${holder} is running the same command for this fleet`, {
    hint: `wait for it; if that process no longer exists: rm ${path}`,
  })
}
