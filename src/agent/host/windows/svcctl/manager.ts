import type { ScmConnection } from './connection.ts'
import { encodeMultiString, NdrReader, NdrWriter } from './ndr.ts'

/** Procedure numbers from [MS-SCMR] 3.1.4. */
export const procedures = {
  close: 0,
  control: 1,
  delete: 2,
  changeConfig: 11,
  create: 12,
  enumDependents: 13,
  openManager: 15,
  openService: 16,
  start: 19,
  changeConfig2: 37,
  queryStatusEx: 40,
} as const

/** Windows error codes that a call may return. */
export const outcomes = {
  success: 0,
  invalidLevel: 124,
  dependentsRun: 1051,
  alreadyRuns: 1056,
  noSuchService: 1060,
  notActive: 1062,
  markedForDeletion: 1072,
} as const

/** Access masks for handles. Each contains only the rights that its operation needs. */
export const accessMasks = {
  connect: 0x1,
  create: 0x2,
  query: 0x4,
  change: 0x2 | 0x10,
  start: 0x4 | 0x10,
  stop: 0x4 | 0x8 | 0x20,
  delete: 0x1_0000,
} as const

export type Handle = Buffer

const handleLength = 20
const ownProcess = 0x10
const autoStart = 2
const errorControlNormal = 1
const unchanged = 0xffff_ffff
const stopControl = 1
const activeServices = 1
const levels = { description: 1, failureActions: 2, failureFlag: 4 } as const
const restartAction = 1
/** Seconds without a failure after which the failure count is reset. */
const failureResetSeconds = 900
/**
 * Buffer size in bytes. The buffer has room for hundreds of dependents; Windows allows a buffer four times as
 * large.
 */
const bufferLength = 65_536

/** The command line of a service and the services that must run before it. */
export interface ServiceStartConfig {
  readonly commandLine: string
  readonly dependsOn: readonly string[]
}

/** Calls to the Service Control Manager, one procedure each. */
export interface ScmClient {
  openManager(access: number): Promise<Handle>
  /** Returns undefined if the service does not exist. */
  openService(manager: Handle, name: string, access: number): Promise<Handle | undefined>
  close(handle: Handle): Promise<void>
  create(manager: Handle, name: string, start: ServiceStartConfig): Promise<Handle>
  configure(service: Handle, start: ServiceStartConfig): Promise<void>
  describe(service: Handle, description: string): Promise<void>
  /** Sets the delays before restarts, in milliseconds. */
  restartAfter(service: Handle, delays: readonly number[]): Promise<void>
  status(service: Handle): Promise<{ state: number; exitCode: number; processId: number }>
  /** Starts a service. Does nothing if it runs already. */
  start(service: Handle): Promise<void>
  /**
   * Stops a service. Returns false if running dependents prevent this; does nothing if the service does not
   * run.
   */
  stop(service: Handle): Promise<boolean>
  /** Lists running dependents in the order in which they must be stopped. */
  dependents(service: Handle): Promise<string[]>
  /** Marks the service for deletion. Windows deletes it when its last handle is closed. */
  delete(service: Handle): Promise<void>
}

/** Error of a call that the Service Control Manager refused. `outcome` is the Windows error code. */
export class OutcomeError extends Error {
  readonly outcome: number
  constructor(procedure: keyof typeof procedures, outcome: number) {
    super(`${procedure}: Windows error ${outcome}`)
    this.outcome = outcome
  }
}

export function createScmClient({ call }: ScmConnection): ScmClient {
  const invoke = async (name: keyof typeof procedures, input: NdrWriter): Promise<NdrReader> =>
    new NdrReader(await call(procedures[name], input.toBuffer()))
  const requireSuccess = (
    name: keyof typeof procedures,
    outcome: number,
    ...allowed: readonly number[]
  ): void => {
    if (outcome !== outcomes.success && !allowed.includes(outcome)) throw new OutcomeError(name, outcome)
  }
  const withHandle = (handle: Handle): NdrWriter => new NdrWriter().raw(handle)

  return {
    async openManager(access) {
      const input = new NdrWriter().optionalString().optionalString('ServicesActive').uint32(access)
      const output = await invoke('openManager', input)
      const handle = output.raw(handleLength)
      requireSuccess('openManager', output.uint32())
      return handle
    },
    async openService(manager, name, access) {
      const output = await invoke('openService', withHandle(manager).string(name).uint32(access))
      const handle = output.raw(handleLength)
      const outcome = output.uint32()
      if (outcome === outcomes.noSuchService) return undefined
      requireSuccess('openService', outcome)
      return handle
    },
    async close(handle) {
      await invoke('close', withHandle(handle))
    },
    async create(manager, name, { commandLine, dependsOn }) {
      const input = withHandle(manager)
        .string(name)
        .optionalString(name)
        .uint32(accessMasks.change, ownProcess, autoStart, errorControlNormal)
        .string(commandLine)
      const output = await invoke('create', appendRemaining(input, dependsOn))
      if (output.uint32() !== 0) output.uint32()
      const handle = output.raw(handleLength)
      requireSuccess('create', output.uint32())
      return handle
    },
    async configure(service, { commandLine, dependsOn }) {
      const input = withHandle(service).uint32(unchanged, autoStart, unchanged).optionalString(commandLine)
      const output = await invoke('changeConfig', appendRemaining(input, dependsOn).optionalString())
      if (output.uint32() !== 0) output.uint32()
      requireSuccess('changeConfig', output.uint32())
    },
    async describe(service, description) {
      const { description: level } = levels
      const input = withHandle(service).uint32(level, level).pointer().pointer().string(description)
      requireSuccess('changeConfig2', (await invoke('changeConfig2', input)).uint32())
    },
    async restartAfter(service, delays) {
      const { failureActions, failureFlag } = levels
      const actions = withHandle(service)
        .uint32(failureActions, failureActions)
        .pointer()
        .uint32(failureResetSeconds, 0, 0, delays.length)
        .pointer()
        .uint32(delays.length, ...delays.flatMap((delay) => [restartAction, delay]))
      requireSuccess('changeConfig2', (await invoke('changeConfig2', actions)).uint32())
      // Also apply the restart actions when a program exits with an error code.
      const flag = withHandle(service).uint32(failureFlag, failureFlag).pointer().uint32(1)
      // Wine does not support this flag and returns invalidLevel.
      requireSuccess('changeConfig2', (await invoke('changeConfig2', flag)).uint32(), outcomes.invalidLevel)
    },
    async status(service) {
      const length = 36
      const output = await invoke('queryStatusEx', withHandle(service).uint32(0, length))
      const status = new NdrReader(output.array())
      const [, state, , exitCode] = [status.uint32(), status.uint32(), status.uint32(), status.uint32()]
      const [, , , processId] = [status.uint32(), status.uint32(), status.uint32(), status.uint32()]
      output.uint32()
      requireSuccess('queryStatusEx', output.uint32())
      return { state, exitCode, processId }
    },
    async start(service) {
      requireSuccess(
        'start',
        (await invoke('start', withHandle(service).uint32(0, 0))).uint32(),
        outcomes.alreadyRuns,
      )
    },
    async stop(service) {
      const output = await invoke('control', withHandle(service).uint32(stopControl))
      output.raw(28)
      const outcome = output.uint32()
      requireSuccess('control', outcome, outcomes.dependentsRun, outcomes.notActive)
      return outcome !== outcomes.dependentsRun
    },
    async dependents(service) {
      const output = await invoke('enumDependents', withHandle(service).uint32(activeServices, bufferLength))
      const buffer = output.array()
      output.uint32()
      const count = output.uint32()
      requireSuccess('enumDependents', output.uint32())
      // Each entry has two text offsets and a status. Offsets are relative to the start of the buffer.
      return Array.from({ length: count }, (_, index) => readTextAt(buffer, buffer.readUInt32LE(36 * index)))
    },
    async delete(service) {
      requireSuccess(
        'delete',
        (await invoke('delete', withHandle(service))).uint32(),
        outcomes.markedForDeletion,
      )
    },
  }
}

/**
 * Appends the arguments that `create` and `changeConfig` share. Load group, tag, account and password stay
 * empty, so the service runs as LocalSystem.
 */
function appendRemaining(input: NdrWriter, dependsOn: readonly string[]): NdrWriter {
  const dependencies = encodeMultiString(dependsOn)
  return input
    .optionalString()
    .uint32(0)
    .optionalArray(dependencies)
    .uint32(dependencies.length)
    .optionalString()
    .optionalArray()
    .uint32(0)
}

function readTextAt(buffer: Buffer, offset: number): string {
  return offset === 0 ? '' : (buffer.subarray(offset).toString('utf16le').split('\0')[0] ?? '')
}
