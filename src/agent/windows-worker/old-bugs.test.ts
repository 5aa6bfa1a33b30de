/**
 * The tests of this file prove that the numbered bugs of the script hyperkube.ps1 (2018) do not exist in
 * hyperkube. Bug 9, two names for one node, is tested in src/plan/windows/old-bugs.test.ts.
 */

import { expect, test } from 'vitest'
import { HyperkubeError } from '../../kit/errors.ts'
import { injectFault } from '../../../lab/windows/simulator/faults.ts'
import { findFile, type Machine, metadataAddress } from '../../../lab/windows/simulator/machine.ts'
import { findProcess } from '../../../lab/windows/simulator/programs.ts'
import { advance } from '../../../lab/windows/simulator/time.ts'
import { simulatedWorker, simulatedWorkerSpec } from '../../../lab/windows/simulator/simulated-worker.ts'
import {
  type Scenario,
  findFaults,
  readForeignState,
  newScenario,
  runRound,
  listStarts,
  runUntilHealthy,
} from '../../../lab/windows/simulator/scenario.ts'
import { defaultBackoff } from './backoff.ts'
import { reconcileOnce } from './reconcile-once.ts'
import { type NodeRole, type WorkerRole, nodeRoles } from './worker.ts'

async function createHealthyWorker(): Promise<Scenario> {
  const scenario = newScenario(simulatedWorker())
  await runUntilHealthy(scenario)
  scenario.worker.changes.length = 0
  return scenario
}

/** Stops services such that the service manager does not restart them. */
function stopForGood(machine: Machine, ...stoppedRoles: readonly NodeRole[]): void {
  for (const role of stoppedRoles) {
    injectFault(machine, { name: 'killed-process', role })
    Object.assign(machine.services.get(role) ?? {}, { restartAt: undefined })
  }
}

test('bug 1: services that need a running but unhealthy service are not started', async () => {
  const scenario = newScenario(simulatedWorker())
  const { worker } = scenario
  const unhealthyDeps = { ...worker.deps, isReady: async (role: WorkerRole) => role !== 'kubelet' }
  for (let count = 0; count < 30; count++) {
    const end = await reconcileOnce(unhealthyDeps, simulatedWorkerSpec, scenario.state, async () => undefined)
    scenario.state = end.state
    advance(worker.machine, 5000)
  }
  // The kubelet runs but is not healthy, so services that depend on it are not started.
  expect(worker.machine.services.get('kubelet')?.state).toBe('Running')
  expect(listStarts(scenario)).toEqual(['containerd', 'kubelet'])
  expect(defaultBackoff.delays).toEqual([5000, 10_000, 20_000, 40_000, 80_000, 120_000])
})

test.each(nodeRoles)(
  'bug 2: %s, which ends after every start, is started again at growing intervals',
  async (role) => {
    const scenario = await createHealthyWorker()
    const { machine } = scenario.worker
    // The service ends after every start. hyperkube starts it again at growing intervals and never stops
    // trying.
    const times: number[] = []
    for (let count = 0; count < 240; count++) {
      if (machine.services.get(role)?.state !== 'Stopped') stopForGood(machine, role)
      const before = scenario.worker.changes.length
      const end = await runRound(scenario)
      const tried = end?.steps.some(({ step }) => step.do === 'start' && step.role === role) === true
      if (tried && scenario.worker.changes.length > before) times.push(machine.time)
    }
    expect(times.length).toBeGreaterThan(8)
    expect(times.length).toBeLessThan(20)
    expect((times.at(-1) ?? 0) - (times.at(-2) ?? 0)).toBeGreaterThanOrEqual(115_000)
  },
)

test('bug 3: a stopped service is started, and no other service is restarted', async () => {
  const scenario = await createHealthyWorker()
  const before = findProcess(scenario.worker.machine, 'flanneld')
  stopForGood(scenario.worker.machine, 'kubelet')
  await runUntilHealthy(scenario)
  expect(scenario.worker.changes).toEqual([{ operation: 'services.start', input: { name: 'kubelet' } }])
  expect(findProcess(scenario.worker.machine, 'flanneld')).toBe(before)
})

test('bug 4: a kubelet that ends alone is started again', async () => {
  const scenario = await createHealthyWorker()
  stopForGood(scenario.worker.machine, 'kubelet')
  expect(findFaults(scenario.worker.machine)).toContain('kubelet runs')
  await runUntilHealthy(scenario)
  expect(findFaults(scenario.worker.machine)).toEqual([])
})

const subsets = Array.from({ length: 16 }, (_, bits) =>
  nodeRoles.filter((_role, index) => (bits >> index) % 2 === 1),
)

test.each(subsets.map((stoppedRoles) => ({ some: stoppedRoles })))(
  'bug 5: any set of stopped services is started again ($some)',
  async ({ some: stoppedRoles }) => {
    const scenario = await createHealthyWorker()
    stopForGood(scenario.worker.machine, ...stoppedRoles)
    await runUntilHealthy(scenario)
    expect(findFaults(scenario.worker.machine)).toEqual([])
    expect(listStarts(scenario)).toEqual(expect.arrayContaining([...stoppedRoles]))
  },
)

test('bug 6: kube-proxy is started after flanneld, whose network it needs', async () => {
  const scenario = await createHealthyWorker()
  const { machine } = scenario.worker
  injectFault(machine, { name: 'deleted-network', role: 'flanneld' })
  stopForGood(machine, 'flanneld', 'kube-proxy')
  await runUntilHealthy(scenario)
  expect(listStarts(scenario)).toEqual(['flanneld', 'kube-proxy'])
  const [flanneld, kubeProxy] = [findProcess(machine, 'flanneld'), findProcess(machine, 'kube-proxy')]
  expect((kubeProxy?.startedAt ?? 0) - (flanneld?.startedAt ?? 0)).toBeGreaterThanOrEqual(3000)
})

test('bug 7: flanneld is stopped before a network of the wrong type is removed', async () => {
  const scenario = await createHealthyWorker()
  injectFault(scenario.worker.machine, { name: 'wrong-network-type', role: 'flanneld' })
  await runUntilHealthy(scenario)
  expect(findFaults(scenario.worker.machine)).toEqual([])
  const names = scenario.worker.changes.map(({ operation }) => operation)
  expect(names.slice(0, 3)).toEqual(['services.stop', 'networks.remove', 'services.start'])
})

test('bug 8: a route is not added to another adapter while the right one is down', async () => {
  const scenario = await createHealthyWorker()
  const { machine } = scenario.worker
  injectFault(machine, { name: 'lost-route', role: 'kubelet' })
  for (const adapter of machine.adapters)
    if (adapter.name !== 'Backup network') adapter.downUntil = machine.time + 60_000
  await runRound(scenario)
  expect(scenario.worker.changes).toEqual([])
  advance(machine, 60_000)
  await runUntilHealthy(scenario)
  expect(machine.routes.filter(({ destination }) => destination === metadataAddress)).toEqual([
    expect.objectContaining({ interfaceIndex: machine.adapters.find(({ virtual }) => virtual)?.index }),
  ])
})

test('bug 10: a lost metadata route is repaired before and after flanneld has started', async () => {
  const scenario = newScenario(simulatedWorker())
  const { machine } = scenario.worker
  injectFault(machine, { name: 'lost-route', role: 'kubelet' })
  await runRound(scenario)
  expect(machine.routes.some(({ destination }) => destination === metadataAddress)).toBe(true)
  expect(machine.networks.map(({ name }) => name)).toEqual(['nat'])
  await runUntilHealthy(scenario)
  injectFault(machine, { name: 'lost-route', role: 'kubelet' })
  await runRound(scenario)
  expect(findFaults(machine)).toEqual([])
})

test('bug 11: only the process of the service is ended, not one with a similar name', async () => {
  const scenario = await createHealthyWorker()
  const { machine } = scenario.worker
  const foreign = findProcess(machine, 'kubelet-exporter')
  injectFault(machine, { name: 'deaf-service', role: 'kubelet' })
  injectFault(machine, { name: 'stopped-service', role: 'kubelet' })
  const own = findProcess(machine, 'kubelet')
  await runUntilHealthy(scenario)
  const ended = scenario.worker.changes.filter(({ operation }) => operation === 'processes.end')
  expect(ended).toMatchObject([
    { input: { id: own?.id, program: simulatedWorkerSpec.services.kubelet.program.path } },
  ])
  expect(findProcess(machine, 'kubelet-exporter')).toBe(foreign)
})

test('bug 12: services keep running while the agent is stopped', async () => {
  const scenario = await createHealthyWorker()
  const { machine } = scenario.worker
  const before = nodeRoles.map((role) => findProcess(machine, role))
  // The agent is down for an hour. The next agent starts with the state that the previous agent saved.
  advance(machine, 3_600_000)
  const next: Scenario = { ...scenario, steps: 0 }
  await runUntilHealthy(next)
  expect(scenario.worker.changes).toEqual([])
  expect(nodeRoles.map((role) => findProcess(machine, role))).toEqual(before)
})

test('bug 13: a program stays in place and usable until the new one is downloaded', async () => {
  const scenario = await createHealthyWorker()
  const { machine, deps } = scenario.worker
  const { path } = simulatedWorkerSpec.services.kubelet.program
  const running = findProcess(machine, 'kubelet')
  const newProgram = { path, sha256: 'f'.repeat(64) }
  const newer = {
    ...simulatedWorkerSpec,
    services: {
      ...simulatedWorkerSpec.services,
      kubelet: { ...simulatedWorkerSpec.services.kubelet, program: newProgram },
    },
  }
  const offline = {
    ...deps,
    fetch: async () => Promise.reject(new HyperkubeError('COMMAND_FAILED', 'the mirror is unreachable')),
  }
  for (let count = 0; count < 100; count++) {
    const end = await reconcileOnce(offline, newer, scenario.state, async () => undefined)
    scenario.state = end.state
    advance(machine, 5000)
  }
  expect(findFile(machine, path)?.content.toString()).toBe('the program kubelet')
  expect(findProcess(machine, 'kubelet')).toBe(running)
  // Reboots the host while the new program cannot be fetched. The host still works as a node.
  injectFault(machine, { name: 'reboot', role: 'kubelet' })
  for (let count = 0; count < 40; count++) {
    const end = await reconcileOnce(offline, newer, scenario.state, async () => undefined)
    scenario.state = end.state
    advance(machine, 5000)
  }
  expect(findFaults(machine)).toEqual([])
  expect(readForeignState(machine)).toEqual(readForeignState(simulatedWorker().machine))
})
