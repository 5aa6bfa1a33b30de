import { array, assert, asyncProperty, constant, constantFrom, nat, oneof, record } from 'fast-check'
import { expect, test } from 'vitest'
import { allFaults, injectFault } from '../../../lab/windows/simulator/faults.ts'
import { findFile, type Machine } from '../../../lab/windows/simulator/machine.ts'
import {
  findFaults,
  newScenario,
  readForeignState,
  runRound,
  runUntilHealthy,
  type Scenario,
} from '../../../lab/windows/simulator/scenario.ts'
import type { PowerShellFault } from '../../../lab/windows/simulator/simulated-host.ts'
import {
  type SimulatedWorker,
  simulatedWorker,
  simulatedWorkerSpec,
} from '../../../lab/windows/simulator/simulated-worker.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { emptyReconcileState, nodeRoles } from './worker.ts'

const powershellFaults: readonly PowerShellFault[] = [
  'silent-before',
  'silent-after',
  'invalid-output-before',
  'invalid-output-after',
]

/** Generates one event that can happen to a host or its agent. */
const eventArbitrary = oneof(
  { weight: 6, arbitrary: record({ what: constant('fault' as const), fault: constantFrom(...allFaults) }) },
  /** PowerShell fails during one of the next operations. */
  {
    weight: 2,
    arbitrary: record({
      what: constant('powershell-fault' as const),
      after: nat(40),
      how: constantFrom(...powershellFaults),
    }),
  },
  /**
   * The agent crashes between recording a step and performing it, or between performing it and recording the
   * result.
   */
  { weight: 1, arbitrary: record({ what: constant('death' as const), writes: nat(3) }) },
  /** The agent loses its state. */
  { weight: 1, arbitrary: record({ what: constant('loss' as const) }) },
  { weight: 4, arbitrary: record({ what: constant('rounds' as const), count: nat(12) }) },
)

/**
 * `npm run test:full` sets PROPERTY_RUNS, the number of runs of a property test. This test has 300 runs by
 * default, and about 33 times PROPERTY_RUNS if it is set.
 */
const requestedRuns = process.env['PROPERTY_RUNS']
const numRuns = requestedRuns === undefined ? 300 : Math.ceil((Number(requestedRuns) * 100) / 3)

test(
  'after any faults a host becomes a healthy worker in few steps, and foreign state is untouched',
  { timeout: 3_600_000 },
  async () => {
    await assert(
      asyncProperty(array(eventArbitrary, { maxLength: 10 }), async (events) => {
        const losses: string[] = []
        const worker = watchPrograms(simulatedWorker(), losses)
        const agent = newScenario(worker)
        const foreign = readForeignState(worker.machine)
        for (const event of events) {
          switch (event.what) {
            case 'fault':
              injectFault(worker.machine, event.fault)
              break
            case 'powershell-fault':
              worker.faults.push(...Array<undefined>(event.after), event.how)
              break
            case 'death':
              await runInterruptedRound(agent, event.writes)
              break
            case 'loss':
              agent.state = emptyReconcileState
              break
            case 'rounds':
              for (let round = 0; round < event.count; round++) await runRound(agent)
          }
        }
        const rounds = await runUntilHealthy(agent)
        expect(findFaults(worker.machine)).toEqual([])
        expect(losses).toEqual([])
        expect(rounds).toBeLessThan(150)
        const done = worker.changes.length
        expect(done).toBeLessThan(30 + 20 * events.length)
        for (let round = 0; round < 5; round++) await runRound(agent)
        expect(worker.changes.length).toBe(done)
        expect(readForeignState(worker.machine)).toEqual(foreign)
        expect(worker.changes.filter(({ operation }) => !allowedOperations.has(operation))).toEqual([])
      }),
      { numRuns },
    )
  },
)

/** The only operations that reconciling a worker may use. */
const allowedOperations = new Set([
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

/** Runs a round in which the agent crashes when it saves its state for the nth time. */
async function runInterruptedRound(events: Scenario, writes: number): Promise<void> {
  const { worker } = events
  const steps = events.steps
  const interrupted: Scenario = {
    worker,
    get state() {
      return events.state
    },
    set state(state) {
      if (events.steps - steps > writes) throw new HyperkubeError('POWERSHELL_ENDED', 'dead')
      events.state = state
    },
    get steps() {
      return events.steps
    },
    set steps(count) {
      events.steps = count
    },
  }
  await runRound(interrupted)
}

/** Records every step that removes the last usable program of a role. */
function watchPrograms(worker: SimulatedWorker, losses: string[]): SimulatedWorker {
  const { host } = worker.deps
  const checkPrograms = async (work: () => Promise<undefined>): Promise<undefined> => {
    const before = listRolesWithProgram(worker.machine)
    try {
      return await work()
    } finally {
      const after = listRolesWithProgram(worker.machine)
      losses.push(...before.filter((role) => !after.includes(role)))
    }
  }
  const files: typeof host.files = {
    ...host.files,
    move: async (input) => checkPrograms(async () => host.files.move(input)),
    remove: async (input) => checkPrograms(async () => host.files.remove(input)),
  }
  return { ...worker, deps: { ...worker.deps, host: { ...host, files } } }
}

function listRolesWithProgram(machine: Machine): string[] {
  return nodeRoles.filter((role) => {
    const { path } = simulatedWorkerSpec.services[role].program
    return ['', '.new', '.old'].some(
      (end) =>
        findFile(machine, path + end)
          ?.content.toString()
          .startsWith('damaged') === false,
    )
  })
}
