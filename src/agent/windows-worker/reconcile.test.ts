import { expect, test } from 'vitest'
import { allFaults, injectFault } from '../../../lab/windows/simulator/faults.ts'
import {
  findFaults,
  listStarts,
  newScenario,
  readForeignState,
  runRound,
  runUntilHealthy,
} from '../../../lab/windows/simulator/scenario.ts'
import { simulatedWorker, simulatedWorkerSpec } from '../../../lab/windows/simulator/simulated-worker.ts'
import { advance } from '../../../lab/windows/simulator/time.ts'
import { reconcileOnce } from './reconcile-once.ts'
import { emptyReconcileState } from './worker.ts'

test('an empty host becomes a worker, in dependency order', async () => {
  const worker = simulatedWorker()
  const scenario = newScenario(worker)
  const foreign = readForeignState(worker.machine)
  const rounds = await runUntilHealthy(scenario)
  expect(findFaults(worker.machine)).toEqual([])
  expect(rounds).toBeLessThan(20)
  expect(listStarts(scenario)).toEqual([
    'containerd',
    'kubelet',
    'hyperkube-switch',
    'flanneld',
    'kube-proxy',
  ])
  // Only the creation of the switch breaks connections, and the switch is created only once.
  expect(worker.machine.breaks).toBe(1)
  expect(readForeignState(worker.machine)).toEqual(foreign)
})

test('a healthy worker is left alone', async () => {
  const worker = simulatedWorker()
  const scenario = newScenario(worker)
  await runUntilHealthy(scenario)
  const before = worker.changes.length
  for (let count = 0; count < 50; count++) await runRound(scenario)
  expect(worker.changes.length).toBe(before)
})

test.each(allFaults)('the fault $name of $role is repaired', async (fault) => {
  const worker = simulatedWorker()
  const scenario = newScenario(worker)
  await runUntilHealthy(scenario)
  const foreign = readForeignState(worker.machine)
  const before = worker.changes.length
  injectFault(worker.machine, fault)
  advance(worker.machine, 3000)
  const rounds = await runUntilHealthy(scenario)
  expect(findFaults(worker.machine)).toEqual([])
  expect(rounds).toBeLessThan(60)
  expect(worker.changes.length - before).toBeLessThan(25)
  expect(readForeignState(worker.machine)).toEqual(foreign)
})

test('the program of a killed runner is ended even if its file was moved since', async () => {
  const worker = simulatedWorker()
  const scenario = newScenario(worker)
  await runUntilHealthy(scenario)
  for (const name of ['damaged-program', 'reboot', 'killed-runner'] as const)
    injectFault(worker.machine, { name, role: 'kube-proxy' })
  await runUntilHealthy(scenario)
  expect(findFaults(worker.machine)).toEqual([])
})

test('an aborted round ends before its next step', async () => {
  const { deps, changes } = simulatedWorker()
  const reason = new Error('the agent stops')
  const controller = new AbortController()
  const save = async (): Promise<void> => controller.abort(reason)
  const ended = reconcileOnce(
    { ...deps, signal: controller.signal },
    simulatedWorkerSpec,
    emptyReconcileState,
    save,
  )
  await expect(ended).rejects.toBe(reason)
  expect(changes).toHaveLength(1)
})
