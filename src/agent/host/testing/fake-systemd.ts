import type { HostFiles } from '../files.ts'
import type { LinuxLayout } from '../layout.ts'
import type { LinuxServiceManager, UnitState } from '../service-manager.ts'

interface FakeUnit {
  /** Content of the unit file at the last reload. */
  text: string | undefined
  /** `activating` is a unit that systemd will start again after an exit. */
  state: 'active' | 'activating' | 'failed' | 'inactive'
  starts: number
  restarts: number
  /** Content of the unit file and result of `observe` at the last start. */
  observed: string | undefined
}

export interface FakeSystemd extends LinuxServiceManager {
  readonly units: ReadonlyMap<string, FakeUnit>
  readonly calls: string[]
  /** Units that fail as soon as they are started. */
  readonly broken: Set<string>
  /** Units that keep running when they are stopped. */
  readonly stubborn: Set<string>
  /** Units whose main process ignores SIGQUIT. */
  readonly deaf: Set<string>
  /** Log lines, keyed by unit. */
  readonly written: Map<string, readonly string[]>
  /** Simulates that the main process was killed. */
  crash(unit: string): void
  /** Simulates that the main process exited and systemd will start the unit again. */
  exitBeforeRestart(unit: string): void
}

/**
 * For tests: a fake systemd without processes. When a unit starts, the fake calls `observe` instead of
 * starting a program. A real program would read its files at this moment.
 */
export function createFakeSystemd(
  files: HostFiles,
  { units: directory }: LinuxLayout,
  observe: (unit: string) => Promise<string> = async () => '',
): FakeSystemd {
  const units = new Map<string, FakeUnit>()
  const enabled = new Set<string>()
  const calls: string[] = []
  const broken = new Set<string>()
  const stubborn = new Set<string>()
  const deaf = new Set<string>()
  const written = new Map<string, readonly string[]>()
  const restarting = new Set<string>()
  const requireUnit = (name: string): FakeUnit => {
    const unit = units.get(name)
    if (unit?.text === undefined) throw new Error(`Unit ${name} not found.`)
    return unit
  }
  const startUnit = async (name: string): Promise<void> => {
    const unit = requireUnit(name)
    unit.starts++
    unit.state = broken.has(name) ? 'failed' : 'active'
    unit.observed = `${unit.text}\n${await observe(name)}`
  }
  const readUnits = async (): Promise<void> => {
    const found = ((await files.list(directory)) ?? []).filter(({ name }) =>
      /\.(?:service|socket)$/.test(name),
    )
    for (const unit of units.values()) unit.text = undefined
    for (const { name } of found) {
      const text = (await files.read(`${directory}/${name}`))?.toString('utf8')
      const unit = units.get(name) ?? { text, state: 'inactive', starts: 0, restarts: 0, observed: undefined }
      units.set(name, { ...unit, text })
    }
  }
  const show = async (name: string): Promise<UnitState> => {
    const onDisk = (await files.read(`${directory}/${name}`))?.toString('utf8')
    const known = units.get(name)
    // systemd loads the file of an unknown unit by itself. It reads new content of a loaded unit only after a
    // reload.
    if (onDisk !== undefined && known?.text === undefined)
      units.set(name, {
        state: 'inactive',
        starts: 0,
        restarts: 0,
        observed: undefined,
        ...known,
        text: onDisk,
      })
    const unit = units.get(name)
    return {
      ...toUnitState(unit, [...units.keys()].indexOf(name), onDisk !== undefined && enabled.has(name)),
      needsReload: unit !== undefined && unit.text !== onDisk,
    }
  }
  const manager: FakeSystemd = {
    units,
    calls,
    broken,
    stubborn,
    deaf,
    written,
    crash(name) {
      requireUnit(name).state = 'failed'
    },
    exitBeforeRestart(name) {
      requireUnit(name).state = 'activating'
    },
    async reload() {
      calls.push('reload')
      await readUnits()
    },
    show,
    showAll: async (names) => Promise.all(names.map(show)),
    async enable(names) {
      calls.push(`enable ${names.join(' ')}`)
      for (const name of names) {
        if ((await files.stat(`${directory}/${name}`)) === undefined)
          throw new Error(`Unit ${name} not found.`)
        enabled.add(name)
      }
    },
    async disable(name) {
      calls.push(`disable ${name}`)
      enabled.delete(name)
    },
    async start(name) {
      calls.push(`start ${name}`)
      if (requireUnit(name).state !== 'active') await startUnit(name)
    },
    async restart(name) {
      calls.push(`restart ${name}`)
      if (stubborn.has(name) && requireUnit(name).state === 'active') restarting.add(name)
      else await startUnit(name)
    },
    async startAll(action, names) {
      for (const name of names) await manager[action](name)
    },
    async stop(name) {
      calls.push(`stop ${name}`)
      const unit = units.get(name)
      if (unit !== undefined) unit.state = 'inactive'
    },
    async kill(name) {
      calls.push(`kill ${name}`)
      const unit = units.get(name)
      if (unit?.state === 'active') unit.state = 'failed'
    },
    async killMain(name, signal = 'SIGKILL') {
      calls.push(`${signal === 'SIGKILL' ? 'kill-main' : 'quit-main'} ${name}`)
      if (signal === 'SIGQUIT' && deaf.has(name)) return
      const unit = units.get(name)
      if (unit?.state === 'active') unit.state = 'failed'
      if (restarting.delete(name)) await startUnit(name)
    },
    async forget(name) {
      const unit = units.get(name)
      if (unit?.text === undefined) units.delete(name)
    },
    lines: async (name, count) => (written.get(name) ?? [`${name}: the last line`]).slice(-count),
  }
  return manager
}

function toUnitState(
  unit: FakeUnit | undefined,
  index: number,
  enabled: boolean,
): Omit<UnitState, 'needsReload'> {
  const active = unit?.state ?? 'inactive'
  return {
    load: unit?.text === undefined ? 'not-found' : 'loaded',
    active,
    sub: active === 'active' ? 'running' : active === 'activating' ? 'auto-restart' : active,
    result: active === 'failed' ? 'exit-code' : 'success',
    status: active === 'failed' ? 1 : 0,
    restarts: unit?.restarts ?? 0,
    pid: active === 'active' ? 1000 + index : 0,
    invocation: unit === undefined || unit.starts === 0 ? '' : String(unit.starts),
    busy: false,
    enabled,
    type: 'notify',
  }
}
