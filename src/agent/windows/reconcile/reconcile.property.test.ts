import { array, assert, asyncProperty, constantFrom, nat, oneof, record, constant } from 'fast-check'
import { expect, test } from 'vitest'
import { HyperkubeError } from '../../../kit/errors.ts'
import { allFaults, inflict } from '../../../../lab/windows/simulator/faults.ts'
import { fileAt, type Machine } from '../../../../lab/windows/simulator/machine.ts'
import type { Trouble } from '../../../../lab/windows/simulator/simulated-host.ts'
import {
  type SimulatedWorker,
  simulatedWorker,
  workerWish,
} from '../../../../lab/windows/simulator/simulated-worker.ts'
import {
  type Course,
  faultsOf,
  foreignIn,
  newCourse,
  pass,
  untilWell,
} from '../../../../lab/windows/simulator/scenario.ts'
import { noMemory } from './worker-observation.ts'
import { roles } from './worker-spec.ts'

const troubles: readonly Trouble[] = ['silent-before', 'silent-after', 'rubbish-before', 'rubbish-after']

/** What can happen to a host and to whoever looks after it, one after the other. */
const happening = oneof(
  { weight: 6, arbitrary: record({ what: constant('fault' as const), fault: constantFrom(...allFaults) }) },
  /** PowerShell goes wrong over one of the next operations. */
  {
    weight: 2,
    arbitrary: record({ what: constant('trouble' as const), after: nat(40), how: constantFrom(...troubles) }),
  },
  /** The agent ends between writing down what it does and doing it, or between doing it and writing that down. */
  { weight: 1, arbitrary: record({ what: constant('death' as const), writes: nat(3) }) },
  /** The agent has lost what it knew. */
  { weight: 1, arbitrary: record({ what: constant('loss' as const) }) },
  { weight: 4, arbitrary: record({ what: constant('rounds' as const), count: nat(12) }) },
)

/** A few hundred courses at every change; 100,000 by `npm run test:full`. */
const asked = process.env['PROPERTY_RUNS']
const numRuns = asked === undefined ? 300 : Math.ceil((Number(asked) * 100) / 3)

test(
  'whatever happens to a host, it becomes a worker again, in few steps, and nothing of others is touched',
  { timeout: 3_600_000 },
  async () => {
    await assert(
      asyncProperty(array(happening, { maxLength: 10 }), async (course) => {
        const losses: string[] = []
        const worker = watched(simulatedWorker(), losses)
        const agent = newCourse(worker)
        const foreign = foreignIn(worker.machine)
        for (const event of course) {
          switch (event.what) {
            case 'fault':
              inflict(worker.machine, event.fault)
              break
            case 'trouble':
              worker.trouble.push(...Array<undefined>(event.after), event.how)
              break
            case 'death':
              await dying(agent, event.writes)
              break
            case 'loss':
              agent.memory = noMemory
              break
            case 'rounds':
              for (let round = 0; round < event.count; round++) await pass(agent)
          }
        }
        const rounds = await untilWell(agent)
        expect(faultsOf(worker.machine)).toEqual([])
        expect(losses).toEqual([])
        expect(rounds).toBeLessThan(150)
        const done = worker.changes.length
        expect(done).toBeLessThan(30 + 20 * course.length)
        for (let round = 0; round < 5; round++) await pass(agent)
        expect(worker.changes.length).toBe(done)
        expect(foreignIn(worker.machine)).toEqual(foreign)
        expect(worker.changes.filter(({ operation }) => !usual.has(operation))).toEqual([])
      }),
      { numRuns },
    )
  },
)

/** All that bringing up a worker ever does. */
const usual = new Set([
  'firewall.put',
  'routes.add',
  'services.put',
  'services.start',
  'services.stop',
  'processes.end',
  'files.move',
  'files.remove',
  'networks.create',
  'networks.remove',
])

/** A round over whose nth write the agent dies. */
async function dying(course: Course, writes: number): Promise<void> {
  const { worker } = course
  const steps = course.steps
  const mortal: Course = {
    worker,
    get memory() {
      return course.memory
    },
    set memory(memory) {
      if (course.steps - steps > writes) throw new HyperkubeError('POWERSHELL_ENDED', 'dead')
      course.memory = memory
    },
    get steps() {
      return course.steps
    },
    set steps(count) {
      course.steps = count
    },
  }
  await pass(mortal)
}

/** Tells of every step that takes the last program of a role that could run. */
function watched(worker: SimulatedWorker, losses: string[]): SimulatedWorker {
  const { host } = worker.edges
  const guarded = async (work: () => Promise<undefined>): Promise<undefined> => {
    const before = withPrograms(worker.machine)
    try {
      return await work()
    } finally {
      const after = withPrograms(worker.machine)
      losses.push(...before.filter((role) => !after.includes(role)))
    }
  }
  const files: typeof host.files = {
    ...host.files,
    move: async (input) => guarded(async () => host.files.move(input)),
    remove: async (input) => guarded(async () => host.files.remove(input)),
  }
  return { ...worker, edges: { ...worker.edges, host: { ...host, files } } }
}

function withPrograms(machine: Machine): string[] {
  return roles.filter((role) => {
    const { path } = workerWish.services[role].program
    return ['', '.new', '.old'].some(
      (end) =>
        fileAt(machine, path + end)
          ?.content.toString()
          .startsWith('damaged') === false,
    )
  })
}
