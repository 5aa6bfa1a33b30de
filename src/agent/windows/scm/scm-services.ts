import type { Clock } from '../../host/clock.ts'
import type { Files } from '../../host/files.ts'
import { join } from '../../host/host-path.ts'
import type { WindowsLayout } from '../../host/layout.ts'
import type { Services } from '../../host/service-manager.ts'
import type { UnitState } from '../../host/systemd.ts'
import type { WindowsOperations } from '../operations/windows-operations.ts'
import type { ServiceState } from '../operations/services.ts'

export interface ScmEdges {
  readonly operations: Pick<WindowsOperations, 'services' | 'processes'>
  readonly layout: Pick<WindowsLayout, 'base' | 'logs'>
  readonly files: Pick<Files, 'read'>
  readonly clock: Clock
}

/** How long a service may take to stop before its process is ended, in milliseconds. */
const patience = 60_000
const every = 500

/** What was seen of a service, as the manager itself counts nothing. */
interface Known {
  readonly pid: number
  readonly restarts: number
}

/** The Service Control Manager, as apply knows supervisors. It has no restart of its own: that is waited for here. */
export function scmServices({ operations, layout, files, clock }: ScmEdges): Services {
  const known = new Map<string, Known>()
  /** Those that we have told to stop: how they ended means nothing. */
  const stopped = new Set<string>()

  const list = async (names: readonly string[]): Promise<ReadonlyMap<string, ServiceState>> =>
    new Map((await operations.services.list({ names: [...names] })).map((one) => [one.name, one]))

  const note = (name: string, state: ServiceState | undefined): UnitState => {
    const pid = state?.processId ?? 0
    const before = known.get(name)
    const isAnother = before !== undefined && pid !== 0 && before.pid !== 0 && pid !== before.pid
    const restarts = (before?.restarts ?? 0) + Number(isAnother)
    known.set(name, { pid: pid === 0 ? (before?.pid ?? 0) : pid, restarts })
    return unitState(state, restarts, stopped.has(name))
  }
  /** The next process is one that we have asked for. */
  const expect = (name: string): void => {
    stopped.delete(name)
    const before = known.get(name)
    if (before !== undefined) known.set(name, { ...before, pid: 0 })
  }
  const start = async (name: string): Promise<void> => {
    expect(name)
    await operations.services.start({ name })
  }
  const stop = async (name: string): Promise<void> => {
    if (!(await list([name])).has(name)) return
    stopped.add(name)
    await operations.services.stop({ name })
  }
  const kill = async (name: string): Promise<void> => {
    const pid = (await list([name])).get(name)?.processId ?? 0
    const all = await operations.processes.list({ below: layout.base })
    // What a runner has started would run on without it.
    const [own, children] = [all.filter(({ id }) => id === pid), all.filter(({ parent }) => parent === pid)]
    for (const { id, program, startedAt } of pid === 0 ? [] : [...children, ...own])
      await operations.processes.end({ id, program, startedAt })
  }
  const ended = async (name: string): Promise<void> => {
    const { signal } = new AbortController()
    const deadline = clock.now().getTime() + patience
    for (;;) {
      const state = (await list([name])).get(name)?.state ?? 'Stopped'
      if (state === 'Stopped') return
      if (clock.now().getTime() >= deadline) await kill(name)
      await clock.pause(every, signal)
    }
  }
  return {
    reload: async () => undefined,
    async show(name) {
      return note(name, (await list([name])).get(name))
    },
    async showAll(names) {
      const states = names.length === 0 ? new Map<string, ServiceState>() : await list(names)
      return names.map((name) => note(name, states.get(name)))
    },
    // A service that was put there starts with the host.
    enable: async () => undefined,
    start,
    async restart(name) {
      // The manager stops those that depend on it as well.
      const others = [...(await list([...known.keys()])).values()].filter(
        ({ dependsOn, state }) => dependsOn.includes(name) && state !== 'Stopped',
      )
      await stop(name)
      for (const other of others) await ended(other.name)
      await ended(name)
      await start(name)
      for (const other of others) await start(other.name)
    },
    stop,
    kill,
    async lines(name, count) {
      const read = async (file: string) => files.read(join(layout.logs, file))
      // Its own, or what the wrapper keeps of its words.
      const bytes = (await read(`${name}.log`)) ?? (await read(`${name}_rCURRENT.log`))
      const text = bytes?.toString('utf8') ?? ''
      return text
        .split(/\r?\n/)
        .filter((line) => line !== '')
        .slice(-count)
    },
  }
}

/** What an end without a start says: nobody has started it yet. */
const neverStarted = 1077

/** In the words of systemd. One that ended by itself is about to be started again, as each of ours is put there. */
export function unitState(state: ServiceState | undefined, restarts: number, wasStopped: boolean): UnitState {
  const pid = state?.processId ?? 0
  const exitCode = state?.exitCode ?? 0
  const hasFailed = exitCode !== 0 && exitCode !== neverStarted && !wasStopped
  const [active, sub] = wordsFor(state?.state ?? 'Stopped', hasFailed)
  return {
    load: state === undefined ? 'not-found' : 'loaded',
    active,
    sub,
    result: hasFailed && active !== 'active' ? 'exit-code' : 'success',
    // Numbers of Windows mean something else than those of systemd.
    status: 0,
    restarts,
    pid,
    invocation: pid === 0 ? '' : String(pid),
    busy: false,
    enabled: state?.startMode === 'Auto',
    type: 'exec',
  }
}

function wordsFor(state: ServiceState['state'], hasFailed: boolean): readonly [string, string] {
  switch (state) {
    case 'Running':
      return ['active', 'running']
    case 'Stopped':
      return hasFailed ? ['activating', 'auto-restart'] : ['inactive', 'dead']
    case 'Stop Pending':
      return ['deactivating', 'stop']
    default:
      return ['activating', 'start']
  }
}
