import { expect, test } from 'vitest'
import { HyperkubeError } from '../../../kit/errors.ts'
import { inflict } from '../../../../lab/windows/simulator/faults.ts'
import { fileAt, type Machine, metadataAddress } from '../../../../lab/windows/simulator/machine.ts'
import { processOf } from '../../../../lab/windows/simulator/programs.ts'
import { advance } from '../../../../lab/windows/simulator/time.ts'
import { simulatedWorker, workerWish } from '../../../../lab/windows/simulator/simulated-worker.ts'
import {
  type Course,
  faultsOf,
  foreignIn,
  newCourse,
  pass,
  startedBy,
  untilWell,
} from '../../../../lab/windows/simulator/scenario.ts'
import { usualPace } from './backoff.ts'
import { round } from './reconcile-once.ts'
import { type NodeRole, type Role, roles } from './worker-spec.ts'

/**
 * What hyperkube.ps1 of 2018 did wrong, number by number, and that this does not. Number 9, two names for one node, is about
 * plans: src/plan/windows/old-bugs.test.ts.
 */

async function aWorker(): Promise<Course> {
  const course = newCourse(simulatedWorker())
  await untilWell(course)
  course.worker.changes.length = 0
  return course
}

/** Ends services for good: the manager does not start them again. */
function down(machine: Machine, ...some: readonly NodeRole[]): void {
  for (const role of some) {
    inflict(machine, { name: 'killed-process', role })
    Object.assign(machine.services.get(role) ?? {}, { restartAt: undefined })
  }
}

test('bug 1: a process that is alive counts as well, and how often it was tried is read two ways', async () => {
  const course = newCourse(simulatedWorker())
  const { worker } = course
  const unwell = { ...worker.edges, isReady: async (role: Role) => role !== 'kubelet' }
  for (let count = 0; count < 30; count++) {
    const end = await round(unwell, workerWish, course.memory, async () => undefined)
    course.memory = end.memory
    advance(worker.machine, 5000)
  }
  // The kubelet runs, says that it is not well, and nothing that needs it is started.
  expect(worker.machine.services.get('kubelet')?.state).toBe('Running')
  expect(startedBy(course)).toEqual(['containerd', 'kubelet'])
  expect(usualPace.pauses).toEqual([5000, 10_000, 20_000, 40_000, 80_000, 120_000])
})

test.each(roles)('bug 2: what happens when %s fails for the last time is said nowhere', async (role) => {
  const course = await aWorker()
  const { machine } = course.worker
  // It ends whenever it is started: slower and slower it is tried again, and never given up.
  const times: number[] = []
  for (let count = 0; count < 240; count++) {
    if (machine.services.get(role)?.state !== 'Stopped') down(machine, role)
    const before = course.worker.changes.length
    const end = await pass(course)
    const tried = end?.steps.some(({ step }) => step.do === 'start' && step.role === role) === true
    if (tried && course.worker.changes.length > before) times.push(machine.time)
  }
  expect(times.length).toBeGreaterThan(8)
  expect(times.length).toBeLessThan(20)
  expect((times.at(-1) ?? 0) - (times.at(-2) ?? 0)).toBeGreaterThanOrEqual(115_000)
})

test('bug 3: whether something is restarted or begun is the same but for a line in a log', async () => {
  const course = await aWorker()
  const before = processOf(course.worker.machine, 'flanneld')
  down(course.worker.machine, 'kubelet')
  await untilWell(course)
  expect(course.worker.changes).toEqual([{ operation: 'services.start', input: { name: 'kubelet' } }])
  expect(processOf(course.worker.machine, 'flanneld')).toBe(before)
})

test('bug 4: a kubelet that ended alone was never started again', async () => {
  const course = await aWorker()
  down(course.worker.machine, 'kubelet')
  expect(faultsOf(course.worker.machine)).toContain('kubelet runs')
  await untilWell(course)
  expect(faultsOf(course.worker.machine)).toEqual([])
})

const subsets = Array.from({ length: 16 }, (_, bits) =>
  roles.filter((_role, place) => (bits >> place) % 2 === 1),
)

test.each(subsets.map((some) => ({ some })))(
  'bug 5: only when exactly three of them were down was a host begun anew ($some)',
  async ({ some }) => {
    const course = await aWorker()
    down(course.worker.machine, ...some)
    await untilWell(course)
    expect(faultsOf(course.worker.machine)).toEqual([])
    expect(startedBy(course)).toEqual(expect.arrayContaining([...some]))
  },
)

test('bug 6: kube-proxy was started before flanneld, whose network it needs', async () => {
  const course = await aWorker()
  const { machine } = course.worker
  inflict(machine, { name: 'deleted-network', role: 'flanneld' })
  down(machine, 'flanneld', 'kube-proxy')
  await untilWell(course)
  expect(startedBy(course)).toEqual(['flanneld', 'kube-proxy'])
  const [flanneld, kubeProxy] = [processOf(machine, 'flanneld'), processOf(machine, 'kube-proxy')]
  expect((kubeProxy?.startedAt ?? 0) - (flanneld?.startedAt ?? 0)).toBeGreaterThanOrEqual(3000)
})

test('bug 7: a network of the wrong type stayed, because flanneld was left alive over it', async () => {
  const course = await aWorker()
  inflict(course.worker.machine, { name: 'wrong-network-type', role: 'flanneld' })
  await untilWell(course)
  expect(faultsOf(course.worker.machine)).toEqual([])
  const names = course.worker.changes.map(({ operation }) => operation)
  expect(names.slice(0, 3)).toEqual(['services.stop', 'networks.remove', 'services.start'])
})

test('bug 8: where no adapter fitted, the last one was taken without a word', async () => {
  const course = await aWorker()
  const { machine } = course.worker
  inflict(machine, { name: 'lost-route', role: 'kubelet' })
  for (const adapter of machine.adapters)
    if (adapter.name !== 'Backup network') adapter.downUntil = machine.time + 60_000
  await pass(course)
  expect(course.worker.changes).toEqual([])
  advance(machine, 60_000)
  await untilWell(course)
  expect(machine.routes.filter(({ destination }) => destination === metadataAddress)).toEqual([
    expect.objectContaining({ interfaceIndex: machine.adapters.find(({ virtual }) => virtual)?.index }),
  ])
})

test('bug 10: routes were mended at the start for one cloud, and for another only after flanneld', async () => {
  const course = newCourse(simulatedWorker())
  const { machine } = course.worker
  inflict(machine, { name: 'lost-route', role: 'kubelet' })
  await pass(course)
  expect(machine.routes.some(({ destination }) => destination === metadataAddress)).toBe(true)
  expect(machine.networks.map(({ name }) => name)).toEqual(['nat'])
  await untilWell(course)
  inflict(machine, { name: 'lost-route', role: 'kubelet' })
  await pass(course)
  expect(faultsOf(machine)).toEqual([])
})

test('bug 11: processes were ended by the beginning of their names', async () => {
  const course = await aWorker()
  const { machine } = course.worker
  const foreign = processOf(machine, 'kubelet-exporter')
  inflict(machine, { name: 'deaf-service', role: 'kubelet' })
  inflict(machine, { name: 'stopped-service', role: 'kubelet' })
  const own = processOf(machine, 'kubelet')
  await untilWell(course)
  const ended = course.worker.changes.filter(({ operation }) => operation === 'processes.end')
  expect(ended).toMatchObject([{ input: { id: own?.id, program: workerWish.services.kubelet.program.path } }])
  expect(processOf(machine, 'kubelet-exporter')).toBe(foreign)
})

test('bug 12: when the agent stopped, it took all of the node and all containers with it', async () => {
  const course = await aWorker()
  const { machine } = course.worker
  const before = roles.map((role) => processOf(machine, role))
  // No agent for an hour, and then another one that knows what the former knew.
  advance(machine, 3_600_000)
  const next: Course = { ...course, steps: 0 }
  await untilWell(next)
  expect(course.worker.changes).toEqual([])
  expect(roles.map((role) => processOf(machine, role))).toEqual(before)
})

test('bug 13: programs were deleted before there were new ones', async () => {
  const course = await aWorker()
  const { machine, edges } = course.worker
  const { path } = workerWish.services.kubelet.program
  const running = processOf(machine, 'kubelet')
  const wanted = { path, sha256: 'f'.repeat(64) }
  const newer = {
    ...workerWish,
    services: { ...workerWish.services, kubelet: { ...workerWish.services.kubelet, program: wanted } },
  }
  const offline = {
    ...edges,
    fetch: async () => Promise.reject(new HyperkubeError('COMMAND_FAILED', 'the mirror is away')),
  }
  for (let count = 0; count < 100; count++) {
    const end = await round(offline, newer, course.memory, async () => undefined)
    course.memory = end.memory
    advance(machine, 5000)
  }
  expect(fileAt(machine, path)?.content.toString()).toBe('the program kubelet')
  expect(processOf(machine, 'kubelet')).toBe(running)
  // A host that restarts meanwhile still has a node.
  inflict(machine, { name: 'reboot', role: 'kubelet' })
  for (let count = 0; count < 40; count++) {
    const end = await round(offline, newer, course.memory, async () => undefined)
    course.memory = end.memory
    advance(machine, 5000)
  }
  expect(faultsOf(machine)).toEqual([])
  expect(foreignIn(machine)).toEqual(foreignIn(simulatedWorker().machine))
})
