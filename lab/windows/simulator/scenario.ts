import { z } from 'zod'
import { processOf, sourceAddress } from './programs.ts'
import { metadataAddress, type Machine } from './machine.ts'
import { isUp } from './virtual-switch.ts'
import { advance } from './time.ts'
import { type SimulatedWorker, workerWish } from './simulated-worker.ts'
import { HyperkubeError } from '../../../src/kit/errors.ts'
import { inSubnet } from '../../../src/agent/windows/reconcile/in-subnet.ts'
import { round, type RoundEnd } from '../../../src/agent/windows/reconcile/reconcile-once.ts'
import { noMemory, type WorkerMemory } from '../../../src/agent/windows/reconcile/worker-observation.ts'
import { roles } from '../../../src/agent/windows/reconcile/worker-spec.ts'

/** For tests: an agent that looks every five seconds of a simulated host's time, and may be killed at any of its writes. */
export interface Course {
  readonly worker: SimulatedWorker
  memory: WorkerMemory
  steps: number
}

export function newCourse(worker: SimulatedWorker): Course {
  return { worker, memory: noMemory, steps: 0 }
}

/** One round and the time until the next; nothing is told of one that failed, because PowerShell did. */
export async function pass(course: Course): Promise<RoundEnd | undefined> {
  const { worker } = course
  try {
    const end = await round(worker.edges, workerWish, course.memory, async (memory) => {
      course.memory = memory
      course.steps++
    })
    course.memory = end.memory
    for (const { error } of end.steps) if (error !== undefined) expectForeseen(error)
    return end
  } catch (error) {
    expectForeseen(error)
    return undefined
  } finally {
    advance(worker.machine, 5000)
  }
}

/** What a host may do to us; all else is a mistake of ours. */
function expectForeseen(error: unknown): void {
  if (!(error instanceof HyperkubeError)) throw new Error('nobody foresaw this', { cause: error })
}

/** Rounds until all is well; how many there were. */
export async function untilWell(course: Course, most = 400): Promise<number> {
  for (let rounds = 1; rounds <= most; rounds++) {
    const end = await pass(course)
    if (
      end?.decision.kind === 'well' &&
      end.steps.length === 0 &&
      faultsOf(course.worker.machine).length === 0
    )
      return rounds
  }
  return Infinity
}

const named = z.object({ name: z.string() })

/** Services that were started and networks that were made, one after the other. */
export function startedBy({ worker }: Pick<Course, 'worker'>): string[] {
  return worker.changes.flatMap(({ operation, input }) =>
    ['services.start', 'networks.create'].includes(operation) ? [named.parse(input).name] : [],
  )
}

/** All that keeps a machine from being a worker that works, seen from outside: none of our own code is asked. */
export function faultsOf(machine: Machine): string[] {
  const network = machine.networks.find(({ name }) => name === workerWish.overlay.network.name)
  const adapter = machine.adapters.find(({ addresses }) =>
    addresses.some(({ IPAddress }) => IPAddress === workerWish.address),
  )
  const address = sourceAddress(machine)
  const owners = [...(machine.taken.get(workerWish.overlay.network.name)?.values() ?? [])]
  const checks: Record<string, boolean> = {
    up: isUp(machine),
    network: network?.type.toLowerCase() === 'overlay' && network.subnet === machine.cluster.subnet,
    route: machine.routes.some(
      ({ destination, interfaceIndex }) =>
        destination === metadataAddress && interfaceIndex === adapter?.index,
    ),
    address: address !== undefined && inSubnet(address, machine.cluster.subnet),
    'one address': owners.filter((owner) => owner === 'kube-proxy').length === 1,
    policies: machine.policies.some(({ sourceAddress: from }) => from === address),
    'kube-proxy knows the network': processOf(machine, 'kube-proxy')?.network === network?.id,
    rules: workerWish.firewall.every(({ name, ports }) => {
      const rule = machine.rules.get(name)
      return rule?.enabled === true && rule.ports === ports
    }),
    ...Object.fromEntries(
      roles.flatMap((role) => {
        const { service, program } = workerWish.services[role]
        const there = machine.services.get(role)
        const process = processOf(machine, role)
        return [
          [`${role} runs`, there?.state === 'Running'],
          [`${role} is as wished`, there?.commandLine === service.commandLine],
          [`${role} runs the program`, process?.sha256 === program.sha256],
          [`${role} runs from its place`, process?.program === program.path],
        ]
      }),
    ),
  }
  return Object.entries(checks).flatMap(([name, good]) => (good ? [] : [name]))
}

/** What is somebody else's, and what of it a host does not change by itself. */
export function foreignIn(machine: Machine): unknown {
  const { services, networks, endpoints, rules, environment, files, routes } = machine
  return {
    services: [...services.values()]
      .filter(({ name }) => name === 'kubelet-exporter')
      .map(({ name, commandLine, description }) => ({ name, commandLine, description })),
    networks: networks.filter(({ name }) => name === 'nat'),
    endpoints: endpoints.filter(({ name }) => name === 'db'),
    rules: [...rules.values()].filter(({ group }) => group === 'corp'),
    environment: [...environment],
    files: files
      .all()
      .filter(({ path }) => !path.startsWith(String.raw`C:\hyperkube`))
      .map(({ path, content, access }) => ({ path, content, access })),
    routes: routes.filter(({ interfaceIndex }) => interfaceIndex === 9),
  }
}
