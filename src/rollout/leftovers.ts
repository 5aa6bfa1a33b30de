import type { Stage } from '../contract/stage.ts'
import { isTouched, namesOf, takesPart } from './host.ts'
import type { Scene } from './cluster-state.ts'
import { type Step, step } from './step.ts'

/** Hosts that only clear away what they once had in a stage: nobody relies on it, so they need no turn. */
export function leftoverSteps({ answering }: Scene, ...stages: readonly Stage[]): Step[] {
  return stages.flatMap((stage) => {
    const hosts = namesOf(answering.filter((host) => isTouched(host, stage) && !takesPart(host, stage)))
    return hosts.length === 0 ? [] : [{ ...step({ hosts, stage }), id: `${stage}/leftovers` }]
  })
}
