import type { Connection } from './connection.ts'
import { multiString, NdrReader, NdrWriter } from './ndr.ts'

/** Procedures by their numbers in [MS-SCMR] 3.1.4. */
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

/** Numbers of Windows for what came of a call. */
export const outcomes = {
  well: 0,
  invalidLevel: 124,
  dependentsRun: 1051,
  alreadyRuns: 1056,
  noSuchService: 1060,
  notActive: 1062,
  markedForDeletion: 1072,
} as const

/** What one may do with a handle; each is asked for no more than it is needed for. */
export const rights = {
  connect: 0x1,
  create: 0x2,
  look: 0x4,
  change: 0x2 | 0x10,
  start: 0x4 | 0x10,
  stop: 0x4 | 0x8 | 0x20,
  delete: 0x1_0000,
} as const

export type Handle = Buffer

const handleLength = 20
const ownProcess = 0x10
const startsWithHost = 2
const complains = 1
const unchanged = 0xffff_ffff
const stopControl = 1
const active = 1
const levels = { description: 1, failureActions: 2, failureFlag: 4 } as const
const restartAction = 1
/** In seconds: after so long without a failure the next one is the first again. */
const forgetsAfter = 900
/** Of hundreds of dependents; a quarter of what may be asked for. */
const bufferLength = 65_536

/** What the manager starts, and after whom. */
export interface Start {
  readonly commandLine: string
  readonly dependsOn: readonly string[]
}

/** What is asked of the manager, one procedure each. */
export interface Manager {
  openManager(access: number): Promise<Handle>
  /** Nothing when there is no such service. */
  openService(manager: Handle, name: string, access: number): Promise<Handle | undefined>
  close(handle: Handle): Promise<void>
  create(manager: Handle, name: string, start: Start): Promise<Handle>
  configure(service: Handle, start: Start): Promise<void>
  describe(service: Handle, description: string): Promise<void>
  /** Milliseconds before each restart. */
  restartAfter(service: Handle, delays: readonly number[]): Promise<void>
  status(service: Handle): Promise<{ state: number; exitCode: number; processId: number }>
  /** One that runs is left alone. */
  start(service: Handle): Promise<void>
  /** Whether it could be told to: otherwise those that depend on it run. One that does not run is left alone. */
  stop(service: Handle): Promise<boolean>
  /** Those that depend on it and run, in the order in which they have to stop. */
  dependents(service: Handle): Promise<string[]>
  /** It goes as soon as nobody has it open any more. */
  delete(service: Handle): Promise<void>
}

/** What the manager says when it does not do what it was asked for. */
export class OutcomeError extends Error {
  readonly outcome: number
  constructor(procedure: keyof typeof procedures, outcome: number) {
    super(`${procedure}: Windows answers ${outcome}`)
    this.outcome = outcome
  }
}

export function managerOver({ call }: Connection): Manager {
  const ask = async (name: keyof typeof procedures, input: NdrWriter): Promise<NdrReader> =>
    new NdrReader(await call(procedures[name], input.toBuffer()))
  const must = (name: keyof typeof procedures, outcome: number, ...too: readonly number[]): void => {
    if (outcome !== outcomes.well && !too.includes(outcome)) throw new OutcomeError(name, outcome)
  }
  const given = (handle: Handle): NdrWriter => new NdrWriter().raw(handle)

  return {
    async openManager(access) {
      const input = new NdrWriter().optionalString().optionalString('ServicesActive').uint32(access)
      const output = await ask('openManager', input)
      const handle = output.raw(handleLength)
      must('openManager', output.uint32())
      return handle
    },
    async openService(manager, name, access) {
      const output = await ask('openService', given(manager).string(name).uint32(access))
      const handle = output.raw(handleLength)
      const outcome = output.uint32()
      if (outcome === outcomes.noSuchService) return undefined
      must('openService', outcome)
      return handle
    },
    async close(handle) {
      await ask('close', given(handle))
    },
    async create(manager, name, { commandLine, dependsOn }) {
      const input = given(manager)
        .string(name)
        .optionalString(name)
        .uint32(rights.change, ownProcess, startsWithHost, complains)
        .string(commandLine)
      const output = await ask('create', andTheRest(input, dependsOn))
      if (output.uint32() !== 0) output.uint32()
      const handle = output.raw(handleLength)
      must('create', output.uint32())
      return handle
    },
    async configure(service, { commandLine, dependsOn }) {
      const input = given(service).uint32(unchanged, startsWithHost, unchanged).optionalString(commandLine)
      const output = await ask('changeConfig', andTheRest(input, dependsOn).optionalString())
      if (output.uint32() !== 0) output.uint32()
      must('changeConfig', output.uint32())
    },
    async describe(service, description) {
      const { description: level } = levels
      const input = given(service).uint32(level, level).pointer().pointer().string(description)
      must('changeConfig2', (await ask('changeConfig2', input)).uint32())
    },
    async restartAfter(service, delays) {
      const { failureActions, failureFlag } = levels
      const actions = given(service)
        .uint32(failureActions, failureActions)
        .pointer()
        .uint32(forgetsAfter, 0, 0, delays.length)
        .pointer()
        .uint32(delays.length, ...delays.flatMap((delay) => [restartAction, delay]))
      must('changeConfig2', (await ask('changeConfig2', actions)).uint32())
      // A program that ends with an error counts as failed, too.
      const flag = given(service).uint32(failureFlag, failureFlag).pointer().uint32(1)
      // Wine's manager has no such flag.
      must('changeConfig2', (await ask('changeConfig2', flag)).uint32(), outcomes.invalidLevel)
    },
    async status(service) {
      const length = 36
      const output = await ask('queryStatusEx', given(service).uint32(0, length))
      const status = new NdrReader(output.array())
      const [, state, , exitCode] = [status.uint32(), status.uint32(), status.uint32(), status.uint32()]
      const [, , , processId] = [status.uint32(), status.uint32(), status.uint32(), status.uint32()]
      output.uint32()
      must('queryStatusEx', output.uint32())
      return { state, exitCode, processId }
    },
    async start(service) {
      must('start', (await ask('start', given(service).uint32(0, 0))).uint32(), outcomes.alreadyRuns)
    },
    async stop(service) {
      const output = await ask('control', given(service).uint32(stopControl))
      output.raw(28)
      const outcome = output.uint32()
      must('control', outcome, outcomes.dependentsRun, outcomes.notActive)
      return outcome !== outcomes.dependentsRun
    },
    async dependents(service) {
      const output = await ask('enumDependents', given(service).uint32(active, bufferLength))
      const buffer = output.array()
      output.uint32()
      const count = output.uint32()
      must('enumDependents', output.uint32())
      // Two places of texts and a status each; places are counted from the beginning of it all.
      return Array.from({ length: count }, (_, index) => textAt(buffer, buffer.readUInt32LE(36 * index)))
    },
    async delete(service) {
      must('delete', (await ask('delete', given(service))).uint32(), outcomes.markedForDeletion)
    },
  }
}

/** No group and no tag; it runs as the system, without a password. */
function andTheRest(input: NdrWriter, dependsOn: readonly string[]): NdrWriter {
  const dependencies = multiString(dependsOn)
  return input
    .optionalString()
    .uint32(0)
    .optionalArray(dependencies)
    .uint32(dependencies.length)
    .optionalString()
    .optionalArray()
    .uint32(0)
}

function textAt(buffer: Buffer, offset: number): string {
  return offset === 0 ? '' : (buffer.subarray(offset).toString('utf16le').split('\0')[0] ?? '')
}
