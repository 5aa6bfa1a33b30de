import { thisMachine } from '../../agent/facts/this-machine.ts'
import { performStep } from '../../agent/heal/act/perform.ts'
import { ladders } from '../../agent/heal/core/ladders.ts'
import { dangersOf } from '../../agent/heal/dangers.ts'
import { lookAtDrift } from '../../agent/heal/drift/look.ts'
import type { Hands } from '../../agent/heal/hands.ts'
import { hostHealer } from '../../agent/heal/host-healer.ts'
import { openMemory } from '../../agent/heal/memory.ts'
import { hostEdges } from '../../agent/heal/probes/host-edges.ts'
import { prober } from '../../agent/heal/probes/prober.ts'
import { linuxHost } from '../../agent/host/linux-host.ts'
import { linuxWork } from '../../agent/serve/linux-work.ts'
import type { WiredAgent } from './wired-agent.ts'

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
