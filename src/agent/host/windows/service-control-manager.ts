import { buildServiceCommand, type ScmServiceSpec } from '../../../contract/service.ts'
import type { Clock } from '../clock.ts'
import type { HostFiles } from '../files.ts'
import { join } from '../host-path.ts'
import type { WindowsLayout } from '../layout.ts'
import type { ServiceManager, UnitState } from '../service-manager.ts'
import type { ServiceState, WindowsServiceSpec } from '../windows-operations/services.ts'
import type { WindowsOperations } from '../windows-operations/table.ts'

export interface ServiceControlManagerDeps {
  readonly operations: Pick<WindowsOperations, 'services' | 'processes'>
  readonly layout: Pick<WindowsLayout, 'base' | 'logs'>
  readonly files: Pick<HostFiles, 'read'>
  readonly clock: Clock
}

/** Milliseconds that a service may take to stop before its process is killed. */
const stopTimeoutMs = 60_000
const pollIntervalMs = 500

/**
 * Process id and restart count of a service. The agent counts restarts, because the Service Control Manager
 * does not.
 */
interface KnownService {
  readonly pid: number
  readonly restarts: number
}

/**
 * Implements `ServiceManager` with the Service Control Manager. The SCM has no restart operation, so
 * `restart` stops the service, waits and starts it.
 */
export function createServiceControlManager({
  operations,
  layout,
  files,
  clock,
}: ServiceControlManagerDeps): ServiceManager {
  const known = new Map<string, KnownService>()
  /** Services that hyperkube stopped. Their exit codes are ignored. */
  const stopped = new Set<string>()

  const list = async (names: readonly string[]): Promise<ReadonlyMap<string, ServiceState>> =>
    new Map((await operations.services.list({ names: [...names] })).map((one) => [one.name, one]))

  const recordState = (name: string, state: ServiceState | undefined): UnitState => {
    const pid = state?.processId ?? 0
    const previous = known.get(name)
    const isNewProcess = previous !== undefined && pid !== 0 && previous.pid !== 0 && pid !== previous.pid
    const restarts = (previous?.restarts ?? 0) + Number(isNewProcess)
    known.set(name, { pid: pid === 0 ? (previous?.pid ?? 0) : pid, restarts })
    return toUnitState(state, restarts, stopped.has(name))
  }
  /**
   * Forgets the process id of a service, so the process that hyperkube starts next does not count as a
   * restart.
   */
  const expectNewProcess = (name: string): void => {
    stopped.delete(name)
    const previous = known.get(name)
    if (previous !== undefined) known.set(name, { ...previous, pid: 0 })
  }
  const start = async (name: string): Promise<void> => {
    expectNewProcess(name)
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
    // Kill children first: otherwise the program would outlive the wrapper that started it.
    const [ownProcesses, children] = [
      all.filter(({ id }) => id === pid),
      all.filter(({ parent }) => parent === pid),
    ]
    for (const { id, program, startedAt } of pid === 0 ? [] : [...children, ...ownProcesses])
      await operations.processes.end({ id, program, startedAt })
  }
  const waitUntilStopped = async (name: string): Promise<void> => {
    const { signal } = new AbortController()
    const deadline = clock.now().getTime() + stopTimeoutMs
    for (;;) {
      const state = (await list([name])).get(name)?.state ?? 'Stopped'
      if (state === 'Stopped') return
      if (clock.now().getTime() >= deadline) await kill(name)
      await clock.pause(pollIntervalMs, signal)
    }
  }
  const restart = async (name: string): Promise<void> => {
    // The SCM also stops the services that depend on this one, so wait for them too.
    const others = [...(await list([...known.keys()])).values()].filter(
      ({ dependsOn, state }) => dependsOn.includes(name) && state !== 'Stopped',
    )
    await stop(name)
    for (const other of others) await waitUntilStopped(other.name)
    await waitUntilStopped(name)
    await start(name)
    for (const other of others) await start(other.name)
  }
  return {
    reload: async () => undefined,
    async show(name) {
      return recordState(name, (await list([name])).get(name))
    },
    async showAll(names) {
      const states = names.length === 0 ? new Map<string, ServiceState>() : await list(names)
      return names.map((name) => recordState(name, states.get(name)))
    },
    // Services are always installed with automatic start, so `enable` has nothing to do.
    enable: async () => undefined,
    start,
    restart,
    async startAll(action, names) {
      for (const name of names) await (action === 'start' ? start(name) : restart(name))
    },
    stop,
    kill,
    async lines(name, count) {
      const read = async (file: string) => files.read(join(layout.logs, file))
      // Reads the program's own log. If the program writes none, reads the log of its service wrapper.
      const bytes = (await read(`${name}.log`)) ?? (await read(`${name}_rCURRENT.log`))
      const text = bytes?.toString('utf8') ?? ''
      return text
        .split(/\r?\n/)
        .filter((line) => line !== '')
        .slice(-count)
    },
  }
}

/** ERROR_SERVICE_NEVER_STARTED, the exit code that Windows reports for a service that has never run. */
const neverStarted = 1077

/**
 * Converts the state of a Windows service to systemd terms. A service that ended by itself counts as
 * restarting, because all services are installed with restart actions.
 */
export function toUnitState(
  state: ServiceState | undefined,
  restarts: number,
  wasStopped: boolean,
): UnitState {
  const pid = state?.processId ?? 0
  const exitCode = state?.exitCode ?? 0
  const hasFailed = exitCode !== 0 && exitCode !== neverStarted && !wasStopped
  const [active, sub] = toSystemdState(state?.state ?? 'Stopped', hasFailed)
  return {
    load: state === undefined ? 'not-found' : 'loaded',
    active,
    sub,
    result: hasFailed && active !== 'active' ? 'exit-code' : 'success',
    // Always 0, because Windows exit codes differ in meaning from those of systemd.
    status: 0,
    restarts,
    pid,
    invocation: pid === 0 ? '' : String(pid),
    busy: false,
    enabled: state?.startMode === 'Auto',
    needsReload: false,
    type: 'exec',
  }
}

function toSystemdState(state: ServiceState['state'], hasFailed: boolean): readonly [string, string] {
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

/** Converts a service of a plan into the arguments of `services.put`. */
export function toWindowsServiceSpec(service: ScmServiceSpec): WindowsServiceSpec {
  const { name, description, environment, dependsOn } = service
  const { program, arguments: args } = buildServiceCommand(service)
  const [first = 0, second = 0, further = 0] = service.restartAfter
  return {
    name,
    description,
    commandLine: formatWindowsCommandLine(program, args),
    dependsOn: [...dependsOn],
    environment: Object.entries(environment).map(([variable, value]) => `${variable}=${value}`),
    restartAfter: [first, second, further],
  }
}

/**
 * Formats the settings of a service for comparison: equal text means equal settings. Restart delays are left
 * out because `services.list` does not return them.
 */
export function formatServiceSettings(
  service: Pick<WindowsServiceSpec, 'commandLine' | 'description' | 'dependsOn' | 'environment'>,
): string {
  const { commandLine: line, description, dependsOn, environment } = service
  return JSON.stringify({ commandLine: line, description, dependsOn, environment })
}

/** Returns the program path at the start of a service's command line. */
export function parseProgramPath({ commandLine: line }: Pick<ServiceState, 'commandLine'>): string {
  return /^"([^"]+)"/.exec(line)?.[1] ?? line.split(' ')[0] ?? ''
}

/**
 * Formats a program and its arguments as one command line, as Windows stores it for a service. Programs split
 * the line by the rules of CommandLineToArgvW: quotes group blanks, and backslashes are special only before a
 * quote.
 */
export function formatWindowsCommandLine(program: string, args: readonly string[]): string {
  if (program.includes('"')) throw new Error('a Windows file name cannot contain a quote')
  // The path needs quotes, or Windows would try C:\Program first. Characters inside the path need no
  // escaping.
  return [`"${program}"`, ...args.map(quoteArgument)].join(' ')
}

function quoteArgument(argument: string): string {
  if (argument !== '' && !/[\s"]/.test(argument)) return argument
  const inner = argument.replaceAll(/(\\*)"/g, String.raw`$1$1\"`).replace(/(\\+)$/, '$1$1')
  return `"${inner}"`
}
