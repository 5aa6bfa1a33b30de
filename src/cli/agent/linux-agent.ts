import { thisMachine } from '../../agent/facts/local-source.ts'
import { performStep } from '../../agent/heal/actions/perform-step.ts'
import { ladders } from '../../agent/heal/decision/escalation-policy.ts'
import { dangersOf } from '../../agent/heal/data-risks.ts'
import { lookAtDrift } from '../../agent/heal/drift/detect-drift.ts'
import type { Hands } from '../../agent/heal/heal-operations.ts'
import { hostHealer } from '../../agent/heal/host-healer.ts'
import { openMemory } from '../../agent/heal/heal-state-store.ts'
import { hostEdges } from '../../agent/heal/probes/host-probe-deps.ts'
import { prober } from '../../agent/heal/probes/prober.ts'
import { linuxHost } from '../../agent/host/linux-host.ts'
import { linuxWork } from '../../agent/host-operations/linux-operations.ts'
import type { WiredAgent } from './platform-agent.ts'

export function linuxAgent(version: string): WiredAgent {
  const host = linuxHost(version)
  const probes = prober(hostEdges(host))
  return {
    host,
    work: linuxWork(host, thisMachine()),
    ask: probes.ask,
    async healer(given) {
      const scene = { ...given, host }
      const hands: Hands = {
        ask: given.ask,
        lookAtDrift: async (plan) => lookAtDrift(host, plan),
        dangersOf: async (plan) => dangersOf(host, plan),
        perform: async (plan, step, stop) => performStep({ ...scene, plan }, step, stop),
        tell: given.tell,
      }
      const memory = await openMemory(host)
      return hostHealer({ ...scene, hands, memory, ladder: ladders[given.ladder], random: Math.random })
    },
    async [Symbol.asyncDispose]() {
      probes[Symbol.dispose]()
    },
  }
}
