import { type Finding, hasErrors } from '../contract/finding.ts'
import { apiSteps, controllerSteps } from './control-plane-steps.ts'
import { controlPlaneFindings } from './control-plane-findings.ts'
import { etcdFindings } from './etcd-findings.ts'
import { etcdSteps } from './etcd-steps.ts'
import type { RolloutInput } from './input.ts'
import { leaveFindings } from './removal-findings.ts'
import { leaveSteps, lostSteps } from './removal-steps.ts'
import { leftoverSteps } from './leftovers.ts'
import { merged } from './merge.ts'
import { nodeSteps } from './node-steps.ts'
import { isTouched, namesOf } from './host.ts'
import { type Scene, sceneOf } from './cluster-state.ts'
import { type Step, step } from './step.ts'
import { workerFindings } from './worker-findings.ts'

export interface Skipped {
  readonly host: string
  readonly reason: string
}

export interface Rollout {
  /** One after the other. None when something is so wrong that nothing should be done. */
  readonly steps: readonly Step[]
  readonly skipped: readonly Skipped[]
  readonly findings: readonly Finding[]
}

/**
 * The order across hosts. Only hosts with something to do have a part in it; the same input gives the same steps,
 * whatever the order of hosts in it.
 */
export function rollout(input: RolloutInput): Rollout {
  const scene = sceneOf(input)
  const findings = [
    ...etcdFindings(scene),
    ...controlPlaneFindings(scene),
    ...workerFindings(scene),
    ...leaveFindings(scene),
  ]
  if (hasErrors(findings)) {
    // Nothing is done, so nobody is left behind by it either.
    return { steps: [], skipped: [], findings: findings.filter(({ severity }) => severity === 'error') }
  }
  const skipped = scene.hosts
    .filter(({ answers }) => !answers)
    .map(({ name }) => ({ host: name, reason: 'does not answer' }))
  return { steps: stepsOf(scene), skipped, findings }
}

/** All API servers before any kubelet: a kubelet must not be newer than the server it talks to. */
function stepsOf(scene: Scene): Step[] {
  return merged([
    ...lostSteps(scene),
    ...preparation(scene),
    ...etcdSteps(scene),
    ...leftoverSteps(scene, 'etcd'),
    ...apiSteps(scene),
    ...leftoverSteps(scene, 'api'),
    ...controllerSteps(scene),
    ...leftoverSteps(scene, 'controllers'),
    ...nodeSteps(scene),
    ...leftoverSteps(scene, 'node', 'network'),
    ...leaveSteps(scene),
  ])
}

/** What is prepared restarts nothing of the cluster, so all hosts do it at once, however long their downloads take. */
function preparation({ answering }: Scene): Step[] {
  const hosts = namesOf(answering.filter((host) => isTouched(host, 'prepare')))
  return hosts.length === 0 ? [] : [step({ hosts, stage: 'prepare' })]
}
