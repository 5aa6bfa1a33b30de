import { z } from 'zod'
import { isInSubnet } from '../../../src/agent/windows-worker/reconcile-network.ts'
import { reconcileOnce, type ReconcileResult } from '../../../src/agent/windows-worker/reconcile-once.ts'
import {
  emptyReconcileState,
  nodeRoles,
  type ReconcileState,
} from '../../../src/agent/windows-worker/worker.ts'
import { HyperkubeError } from '../../../src/kit/errors.ts'
import { type Machine, metadataAddress } from './machine.ts'
import { findProcess, findSourceAddress } from './programs.ts'
import { type SimulatedWorker, simulatedWorkerSpec } from './simulated-worker.ts'
import { advance } from './time.ts'
import { isUp } from './virtual-switch.ts'

/**
 * A simulated agent for tests. It reconciles every five seconds of simulated time and may be interrupted at
 * any write.
 */
export interface Scenario {
  readonly worker: SimulatedWorker
  state: ReconcileState
  steps: number
}

export function newScenario(worker: SimulatedWorker): Scenario {
  return { worker, state: emptyReconcileState, steps: 0 }
}

/**
 * Runs one round of reconciling and advances the time to the next round. Returns undefined if the round
 * failed because of a PowerShell fault.
 */
export async function runRound(scenario: Scenario): Promise<ReconcileResult | undefined> {
  const { worker } = scenario
  try {
    const end = await reconcileOnce(worker.deps, simulatedWorkerSpec, scenario.state, async (state) => {
      scenario.state = state
      scenario.steps++
    })
    scenario.state = end.state
    for (const { error } of end.steps) if (error !== undefined) rethrowUnexpected(error)
    return end
  } catch (error) {
    rethrowUnexpected(error)
    return undefined
  } finally {
    advance(worker.machine, 5000)
  }
}

/** A HyperkubeError may come from the simulated host. Any other error is a bug and is thrown again. */
function rethrowUnexpected(error: unknown): void {
  if (!(error instanceof HyperkubeError)) throw new Error('unexpected error', { cause: error })
}

/** Runs rounds until the worker is healthy and returns their number. */
export async function runUntilHealthy(scenario: Scenario, maxRounds = 400): Promise<number> {
  for (let rounds = 1; rounds <= maxRounds; rounds++) {
    const end = await runRound(scenario)
    if (
      end?.decision.kind === 'healthy' &&
      end.steps.length === 0 &&
      findFaults(scenario.worker.machine).length === 0
    )
      return rounds
  }
  return Infinity
}

const namedInput = z.object({ name: z.string() })

/** Lists the names of started services and created networks, in order. */
export function listStarts({ worker }: Pick<Scenario, 'worker'>): string[] {
  return worker.changes.flatMap(({ operation, input }) =>
    ['services.start', 'networks.create'].includes(operation) ? [namedInput.parse(input).name] : [],
  )
}

/**
 * Lists everything that prevents a simulated host from being a working worker. The check uses only the
 * simulator's state and no product code.
 */
export function findFaults(machine: Machine): string[] {
  const network = machine.networks.find(({ name }) => name === simulatedWorkerSpec.overlay.network.name)
  const adapter = machine.adapters.find(({ addresses }) =>
    addresses.some(({ IPAddress }) => IPAddress === simulatedWorkerSpec.address),
  )
  const address = findSourceAddress(machine)
  const owners = [...(machine.taken.get(simulatedWorkerSpec.overlay.network.name)?.values() ?? [])]
  const checks: Record<string, boolean> = {
    up: isUp(machine),
    network: network?.type.toLowerCase() === 'overlay' && network.subnet === machine.cluster.subnet,
    route: machine.routes.some(
      ({ destination, interfaceIndex }) =>
        destination === metadataAddress && interfaceIndex === adapter?.index,
    ),
    address: address !== undefined && isInSubnet(address, machine.cluster.subnet),
    'one address': owners.filter((owner) => owner === 'kube-proxy').length === 1,
    policies: machine.policies.some(({ sourceAddress: from }) => from === address),
    'kube-proxy knows the network': findProcess(machine, 'kube-proxy')?.network === network?.id,
    rules: simulatedWorkerSpec.firewall.every(({ name, ports }) => {
      const rule = machine.rules.get(name)
      return rule?.enabled === true && rule.ports === ports
    }),
    ...Object.fromEntries(
      nodeRoles.flatMap((role) => {
        const { service, program } = simulatedWorkerSpec.services[role]
        const installed = machine.services.get(role)
        const process = findProcess(machine, role)
        return [
          [`${role} runs`, installed?.state === 'Running'],
          [`${role} matches its spec`, installed?.commandLine === service.commandLine],
          [`${role} runs the program`, process?.sha256 === program.sha256],
          [`${role} runs from its path`, process?.program === program.path],
        ]
      }),
    ),
  }
  return Object.entries(checks).flatMap(([name, isGood]) => (isGood ? [] : [name]))
}

/** Returns the state that belongs to other software and must not change. */
export function readForeignState(machine: Machine): unknown {
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
