import type { Files } from '../files.ts'
import type { LinuxLayout } from '../layout.ts'
import type { Systemd, UnitState } from '../systemd.ts'

interface Unit {
  /** As it was read at the last reload. */
  text: string | undefined
  state: 'active' | 'failed' | 'inactive'
  starts: number
  restarts: number
  /** What `look` saw when it started last. */
  seen: string | undefined
}

export interface MemorySystemd extends Systemd {
  readonly units: ReadonlyMap<string, Unit>
  readonly calls: string[]
  /** Units that end as soon as they are started. */
  readonly broken: Set<string>
  /** Units that do not end when they are asked to. */
  readonly stubborn: Set<string>
  /** What units have written. */
  readonly written: Map<string, readonly string[]>
  /** As if somebody had typed it. */
  crash(unit: string): void
}

/** A supervisor without processes, for tests. A unit that is started looks at what is there, as a program reads its files. */
export function memorySystemd(
  files: Files,
  { units: directory }: LinuxLayout,
  look: (unit: string) => Promise<string> = async () => '',
): MemorySystemd {
  const units = new Map<string, Unit>()
  const enabled = new Set<string>()
  const calls: string[] = []
  const broken = new Set<string>()
  const stubborn = new Set<string>()
  const written = new Map<string, readonly string[]>()
  const restarting = new Set<string>()
  const known = (name: string): Unit => {
    const unit = units.get(name)
    if (unit?.text === undefined) throw new Error(`Unit ${name} not found.`)
    return unit
  }
  const begin = async (name: string): Promise<void> => {
    const unit = known(name)
    unit.starts++
    unit.state = broken.has(name) ? 'failed' : 'active'
    unit.seen = `${unit.text}\n${await look(name)}`
  }
  const read = async (): Promise<void> => {
    const found = ((await files.list(directory)) ?? []).filter(({ name }) => name.endsWith('.service'))
    for (const unit of units.values()) unit.text = undefined
    for (const { name } of found) {
      const text = (await files.read(`${directory}/${name}`))?.toString('utf8')
      const unit = units.get(name) ?? { text, state: 'inactive', starts: 0, restarts: 0, seen: undefined }
      units.set(name, { ...unit, text })
    }
  }
  const show = async (name: string): Promise<UnitState> => {
    const unit = units.get(name)
    const there = (await files.stat(`${directory}/${name}`)) !== undefined
    return stateOf(unit, [...units.keys()].indexOf(name), there && enabled.has(name))
  }
  return {
    units,
    calls,
    broken,
    stubborn,
    written,
    crash(name) {
      known(name).state = 'failed'
    },
    async reload() {
      calls.push('reload')
      await read()
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
      if (known(name).state !== 'active') await begin(name)
    },
    async restart(name) {
      calls.push(`restart ${name}`)
      if (stubborn.has(name) && known(name).state === 'active') restarting.add(name)
      else await begin(name)
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
    async killMain(name) {
      calls.push(`kill-main ${name}`)
      const unit = units.get(name)
      if (unit?.state === 'active') unit.state = 'failed'
      if (restarting.delete(name)) await begin(name)
    },
    async forget(name) {
      const unit = units.get(name)
      if (unit?.text === undefined) units.delete(name)
    },
    lines: async (name, count) => (written.get(name) ?? [`${name}: the last line`]).slice(-count),
  }
}

function stateOf(unit: Unit | undefined, place: number, enabled: boolean): UnitState {
  const active = unit?.state ?? 'inactive'
  return {
    load: unit?.text === undefined ? 'not-found' : 'loaded',
    active,
    sub: active === 'active' ? 'running' : active,
    result: active === 'failed' ? 'exit-code' : 'success',
    status: active === 'failed' ? 1 : 0,
    restarts: unit?.restarts ?? 0,
    pid: active === 'active' ? 1000 + place : 0,
    invocation: unit === undefined || unit.starts === 0 ? '' : String(unit.starts),
    busy: false,
    enabled,
    type: 'notify',
  }
}
