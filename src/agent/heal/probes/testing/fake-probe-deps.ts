import type { ComponentPlan } from '../../../../contract/component-plan.ts'
import type { Probe, ProbeCheck } from '../../../../contract/probe.ts'
import type { Argv, CommandResult } from '../../../../kit/command.ts'
import { buildComponent } from '../../../../diff/testing/fixtures.ts'
import type { RunCommandOptions } from '../../../host/command.ts'
import type { DirectoryEntry, FileFacts } from '../../../host/files.ts'
import type { UnitState } from '../../../host/service-manager.ts'
import { idleUnit } from '../../../host/testing/idle-unit.ts'
import type { ProbeDeps } from '../probe-deps.ts'

type FakeResult = Partial<CommandResult> | Error

export interface FakeProbeDeps extends ProbeDeps {
  readonly texts: Map<string, string>
  /** All commands that were run, in order. */
  readonly ran: { readonly argv: Argv; readonly input: string | undefined }[]
  readonly links: Map<string, readonly string[]>
  readonly units: Map<string, Pick<UnitState, 'active' | 'sub'> & Partial<Pick<UnitState, 'pid'>>>
  readonly disk: { took: number | Error | Promise<number>; free: number; freeFiles: number }
  /** Milliseconds since 1970. The fake monotonic clock returns the same value. */
  time: number
}

/** Creates a fake host in memory. `respond` returns the results of its programs. */
export function createFakeProbeDeps(
  respond: (argv: Argv, input: string | undefined) => FakeResult = () => ({}),
): FakeProbeDeps {
  const texts = new Map<string, string>()
  const stamps = new Map<string, number>()
  const deps: FakeProbeDeps = {
    texts,
    ran: [],
    links: new Map(),
    units: new Map(),
    disk: { took: 2, free: 0.5, freeFiles: 0.5 },
    time: Date.UTC(2027, 0, 1),
    files: {
      read: async (path) => (texts.has(path) ? Buffer.from(texts.get(path) ?? '') : undefined),
      stat: async (path) => buildFacts(texts.get(path), stamps),
      list: async (path) => listDirectories(texts, path),
    },
    services: {
      show: async (unit) => ({ ...idleUnit, ...deps.units.get(unit) }),
    },
    command: async (argv, { codes = [0], input, signal }: RunCommandOptions = {}) => {
      signal?.throwIfAborted()
      deps.ran.push({ argv, input })
      const response = respond(argv, input)
      if (response instanceof Error) throw response
      const result = { code: 0, stdout: '', stderr: '', ...response }
      if (!codes.includes(result.code)) throw new Error(result.stderr)
      return result
    },
    clock: { now: () => new Date(deps.time) },
    monotonic: () => deps.time,
    disks: {
      write: async () => {
        const took = await deps.disk.took
        if (took instanceof Error) throw took
        return took
      },
      space: async () => deps.disk,
    },
    addresses: (name) => deps.links.get(name) ?? [],
  }
  return deps
}

/** Lists the directories below a directory that contain files. */
function listDirectories(texts: ReadonlyMap<string, string>, directory: string): DirectoryEntry[] {
  const names = [...texts.keys()].flatMap((path) => {
    const [name, file] = path.startsWith(`${directory}/`) ? path.slice(directory.length + 1).split('/') : []
    return name === undefined || file === undefined ? [] : [name]
  })
  return [...new Set(names)].map((name) => ({ name, kind: 'directory' }))
}

/** Builds file metadata. A file with other content gets another timestamp. */
function buildFacts(text: string | undefined, stamps: Map<string, number>): FileFacts | undefined {
  if (text === undefined) return undefined
  const stamp = stamps.get(text) ?? stamps.size
  stamps.set(text, stamp)
  const time = String(stamp)
  return {
    kind: 'file',
    uid: 0,
    gid: 0,
    mode: 0o600,
    size: text.length,
    inode: '1',
    modified: time,
    changed: time,
  }
}

export function testProbe(check: ProbeCheck, overrides: Partial<Probe> = {}): Probe {
  return {
    name: 'test',
    scope: 'local',
    check,
    intervalMs: 1000,
    timeoutMs: 2000,
    failureThreshold: 1,
    ...overrides,
  }
}

export function testComponent(name: string): ComponentPlan {
  return buildComponent({ name, service: { supervisor: 'systemd', name: `${name}.service`, unit: '' } })
}
