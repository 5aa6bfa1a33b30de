import { createLocalFactSource } from '../facts/linux/local-source.ts'
import { readWindowsSystemInfo } from '../facts/windows/source.ts'
import { escalationPolicies, type EscalationPolicy } from '../heal/decision/escalation-policy.ts'
import { detectDrift } from '../heal/detect-drift.ts'
import { openHealState } from '../heal/heal-state-store.ts'
import { createHealer, type HostHealer } from '../heal/healer.ts'
import { findDataRisks } from '../heal/linux/data-risks.ts'
import { createLinuxReconciler, type LinuxHealOperations } from '../heal/linux/linux-reconciler.ts'
import { performStep } from '../heal/linux/perform-step.ts'
import { createProbeDeps } from '../heal/probes/probe-deps.ts'
import type { RunProbe } from '../heal/probes/probe-runner.ts'
import { createProber, type Prober } from '../heal/probes/prober.ts'
import type { HealReporter } from '../heal/report/heal-reporter.ts'
import { createWindowsReconciler } from '../heal/windows/windows-reconciler.ts'
import type { Host } from '../host/host.ts'
import { createLinuxHost } from '../host/linux/linux-host.ts'
import { thisWindows } from '../host/windows/this-windows.ts'
import type { OperatorLockStore } from '../operator-lock/operator-lock-store.ts'
import type { HostOperations } from '../runs/host-operations.ts'
import type { Runs } from '../runs/runs.ts'
import { stepBackoffs } from '../windows-worker/backoff.ts'
import { createLinuxOperations, createWindowsOperations } from './host-operations.ts'
import { createWindowsHost } from './windows-host.ts'

/** Inputs of a healer, the same on every OS. */
export interface PlatformHealerOptions {
  readonly work: HostOperations
  readonly runs: Runs
  readonly claims: OperatorLockStore
  readonly runProbe: RunProbe
  readonly report: HealReporter['report']
  readonly healPolicy: EscalationPolicy['name']
  readonly log: (text: string) => void
  readonly signal: AbortSignal
}

/** The parts of an agent that depend on the OS. */
export interface PlatformAgent extends AsyncDisposable {
  readonly host: Host
  readonly work: HostOperations
  readonly runProbe: RunProbe
  createHealer(options: PlatformHealerOptions): Promise<HostHealer>
}

export function createLinuxAgent(version: string): PlatformAgent {
  const host = createLinuxHost(version)
  const probes = createProber(createProbeDeps(host))
  return {
    host,
    work: withoutProbes(probes, createLinuxOperations(host, createLocalFactSource())),
    runProbe: probes.run,
    async createHealer(options) {
      const deps = { ...options, host }
      const operations: LinuxHealOperations = {
        detectDrift: async (plan) => detectDrift(host, plan),
        findDataRisks: async (plan) => findDataRisks(host, plan),
        perform: async (plan, step, stop) => performStep({ ...deps, plan }, step, stop),
      }
      const policy = escalationPolicies[options.healPolicy]
      return createHealer({
        ...deps,
        reconciler: createLinuxReconciler({ host, operations, policy }),
        stateStore: await openHealState(host),
        random: Math.random,
      })
    },
    async [Symbol.asyncDispose]() {
      probes[Symbol.dispose]()
    },
  }
}

/** Suspends all probes while the host is reset. */
function withoutProbes(probes: Pick<Prober, 'suspend'>, work: HostOperations): HostOperations {
  return {
    ...work,
    reset: async (...args) => probes.suspend(async () => work.reset(...args)),
    returnHost: async (...args) => probes.suspend(async () => work.returnHost(...args)),
  }
}

export async function createWindowsAgent(version: string, base: string): Promise<PlatformAgent> {
  const windows = await thisWindows()
  const systemRoot = process.env['SystemRoot'] ?? String.raw`C:\Windows`
  const { host, probes } = createWindowsHost({ version, base, operations: windows.host, systemRoot })
  return {
    host,
    work: withoutProbes(probes, createWindowsOperations(host, readWindowsSystemInfo())),
    runProbe: probes.run,
    async createHealer(options) {
      const deps = { ...options, host }
      return createHealer({
        ...deps,
        reconciler: createWindowsReconciler({ ...deps, backoff: stepBackoffs[options.healPolicy] }),
        stateStore: await openHealState(host),
        random: Math.random,
      })
    },
    async [Symbol.asyncDispose]() {
      probes[Symbol.dispose]()
      await windows[Symbol.asyncDispose]()
    },
  }
}
