import { createLocalFactSource } from '../../agent/facts/local-source.ts'
import { performStep } from '../../agent/heal/actions/perform-step.ts'
import { escalationPolicies } from '../../agent/heal/decision/escalation-policy.ts'
import { findDataRisks } from '../../agent/heal/data-risks.ts'
import { detectDrift } from '../../agent/heal/drift/detect-drift.ts'
import type { HealOperations } from '../../agent/heal/heal-operations.ts'
import { createHostHealer } from '../../agent/heal/host-healer.ts'
import { openHealState } from '../../agent/heal/heal-state-store.ts'
import { createProbeDeps } from '../../agent/heal/probes/host-probe-deps.ts'
import { createProber } from '../../agent/heal/probes/prober.ts'
import { createLinuxHost } from '../../agent/host/linux-host.ts'
import { createLinuxOperations } from '../../agent/host-operations/linux-operations.ts'
import type { PlatformAgent } from './platform-agent.ts'

export function createLinuxAgent(version: string): PlatformAgent {
  const host = createLinuxHost(version)
  const probes = createProber(createProbeDeps(host))
  return {
    host,
    work: createLinuxOperations(host, createLocalFactSource()),
    runProbe: probes.run,
    async createHealer(options) {
      const deps = { ...options, host }
      const operations: HealOperations = {
        runProbe: options.runProbe,
        detectDrift: async (plan) => detectDrift(host, plan),
        findDataRisks: async (plan) => findDataRisks(host, plan),
        perform: async (plan, step, stop) => performStep({ ...deps, plan }, step, stop),
        report: options.report,
      }
      const state = await openHealState(host)
      return createHostHealer({
        ...deps,
        operations,
        stateStore: state,
        policy: escalationPolicies[options.healPolicy],
        random: Math.random,
      })
    },
    async [Symbol.asyncDispose]() {
      probes[Symbol.dispose]()
    },
  }
}
