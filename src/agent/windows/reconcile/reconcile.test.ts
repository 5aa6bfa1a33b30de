import { expect, test } from 'vitest'
import { allFaults, inflict } from '../../../../lab/windows/simulator/faults.ts'
import { advance } from '../../../../lab/windows/simulator/time.ts'
import { simulatedWorker, workerWish } from '../../../../lab/windows/simulator/simulated-worker.ts'
import {
  faultsOf,
  foreignIn,
  newCourse,
  pass,
  startedBy,
  untilWell,
} from '../../../../lab/windows/simulator/scenario.ts'
import { round } from './reconcile-once.ts'
import { noMemory } from './worker-observation.ts'

test('a host with nothing of ours becomes a worker, in the order in which things need each other', async () => {
  const worker = simulatedWorker()
  const course = newCourse(worker)
  const foreign = foreignIn(worker.machine)
  const rounds = await untilWell(course)
  expect(faultsOf(worker.machine)).toEqual([])
  expect(rounds).toBeLessThan(20)
  expect(startedBy(course)).toEqual(['containerd', 'kubelet', 'hyperkube-switch', 'flanneld', 'kube-proxy'])
  // The switch is made once, and nothing else breaks connections.
  expect(worker.machine.breaks).toBe(1)
  expect(foreignIn(worker.machine)).toEqual(foreign)
})

test('one that works is left alone', async () => {
  const worker = simulatedWorker()
  const course = newCourse(worker)
  await untilWell(course)
  const before = worker.changes.length
  for (let count = 0; count < 50; count++) await pass(course)
  expect(worker.changes.length).toBe(before)
})

test.each(allFaults)('$name of $role is mended', async (fault) => {
  const worker = simulatedWorker()
  const course = newCourse(worker)
  await untilWell(course)
  const foreign = foreignIn(worker.machine)
  const before = worker.changes.length
  inflict(worker.machine, fault)
  advance(worker.machine, 3000)
  const rounds = await untilWell(course)
  expect(faultsOf(worker.machine)).toEqual([])
  expect(rounds).toBeLessThan(60)
  expect(worker.changes.length - before).toBeLessThan(25)
  expect(foreignIn(worker.machine)).toEqual(foreign)
})

test('what a killed runner has left is ended also where its program was moved aside since', async () => {
  const worker = simulatedWorker()
  const course = newCourse(worker)
  await untilWell(course)
  for (const name of ['damaged-program', 'reboot', 'killed-runner'] as const)
    inflict(worker.machine, { name, role: 'kube-proxy' })
  await untilWell(course)
  expect(faultsOf(worker.machine)).toEqual([])
})

test('a round ends when it is told to, before it does anything more', async () => {
  const { edges, changes } = simulatedWorker()
  const reason = new Error('the agent stops')
  const controller = new AbortController()
  const keep = async (): Promise<void> => controller.abort(reason)
  const ended = round({ ...edges, signal: controller.signal }, workerWish, noMemory, keep)
  await expect(ended).rejects.toBe(reason)
  expect(changes).toHaveLength(1)
})
