import type { ComponentPlan } from '../../../../contract/component-plan.ts'
import type { Probe, ProbeCheck } from '../../../../contract/probe.ts'
import type { Argv, CommandResult } from '../../../../kit/command.ts'
import { componentOf } from '../../../../diff/testing/fixtures.ts'
import type { CommandWish } from '../../../host/command.ts'
import type { FileFacts } from '../../../host/files.ts'
import type { UnitState } from '../../../host/systemd.ts'
import { idleUnit } from '../../../host/testing/idle-unit.ts'
import type { ProbeEdges } from '../probe-deps.ts'

type Answer = Partial<CommandResult> | Error

export interface TestEdges extends ProbeEdges {
  readonly texts: Map<string, string>
  /** All that was run, in order. */
  readonly ran: { readonly argv: Argv; readonly input: string | undefined }[]
  readonly links: Map<string, readonly string[]>
  readonly units: Map<string, Pick<UnitState, 'active' | 'sub'>>
  readonly disk: { took: number | Error | Promise<number>; free: number; freeFiles: number }
  /** Milliseconds since 1970, and by the clock that nobody sets. */
  time: number
}

/** A host in memory, whose programs answer as a test says. */
export function testEdges(answer: (argv: Argv, input: string | undefined) => Answer = () => ({})): TestEdges {
  const texts = new Map<string, string>()
  const stamps = new Map<string, number>()
  const edges: TestEdges = {
    texts,
    ran: [],
    links: new Map(),
    units: new Map(),
    disk: { took: 2, free: 0.5, freeFiles: 0.5 },
    time: Date.UTC(2027, 0, 1),
    files: {
      read: async (path) => (texts.has(path) ? Buffer.from(texts.get(path) ?? '') : undefined),
      stat: async (path) => factsOf(texts.get(path), stamps),
    },
    systemd: {
      show: async (unit) => ({ ...idleUnit, ...edges.units.get(unit) }),
    },
    command: async (argv, { codes = [0], input, signal }: CommandWish = {}) => {
      signal?.throwIfAborted()
      edges.ran.push({ argv, input })
      const given = answer(argv, input)
      if (given instanceof Error) throw given
      const result = { code: 0, stdout: '', stderr: '', ...given }
      if (!codes.includes(result.code)) throw new Error(result.stderr)
      return result
    },
    clock: { now: () => new Date(edges.time) },
    monotonic: () => edges.time,
    disks: {
      write: async () => {
        const took = await edges.disk.took
        if (took instanceof Error) throw took
        return took
      },
      space: async () => edges.disk,
    },
    addresses: (name) => edges.links.get(name) ?? [],
  }
  return edges
}

/** What is written anew has another stamp. */
function factsOf(text: string | undefined, stamps: Map<string, number>): FileFacts | undefined {
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

export function testProbe(check: ProbeCheck, wish: Partial<Probe> = {}): Probe {
  return { name: 'test', scope: 'local', check, every: 1000, timeout: 2000, failures: 1, ...wish }
}

export function testComponent(name: string): ComponentPlan {
  return componentOf({ name, service: { supervisor: 'systemd', name: `${name}.service`, unit: '' } })
}
